//! `pdpp devices`: what could compute here.

use std::io::Write;

use partition_dpp::engine::gpu::{self, AdapterSummary};

use crate::{
    arguments::DevicesArguments,
    failure::Failure,
    output::{self, devices::Device},
};

/// Runs the command.
pub(crate) fn run(arguments: &DevicesArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let adapters = gpu::summaries();
    let auto = AdapterSummary::taken_unasked(&adapters);
    let devices: Vec<Device> = adapters
        .into_iter()
        .enumerate()
        .map(|(at, adapter)| Device::new(adapter, auto == Some(at)))
        .collect();
    output::devices::write(&devices, arguments.json, out)
}
