//! `pdpp devices`.

mod arguments;
mod json;
mod text;

use std::io::Write;

use partition_dpp::engine::gpu::{self, AdapterSummary};

pub(crate) use self::arguments::DevicesArguments;
use self::json::Device;
use crate::{failure::Failure, output};

/// Runs the command.
pub(crate) fn run(arguments: &DevicesArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let adapters = gpu::summaries();
    let auto = AdapterSummary::taken_unasked(&adapters);
    let devices: Vec<Device> = adapters
        .into_iter()
        .enumerate()
        .map(|(at, adapter)| Device::new(adapter, auto == Some(at)))
        .collect();
    if arguments.json {
        return output::print_json(out, &devices);
    }
    output::print(out, &text::render(&devices))
}
