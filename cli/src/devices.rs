//! `pdpp devices`: what could compute here.

use partition_dpp::engine::gpu;

use crate::{
    arguments::DevicesArguments,
    failure::Failure,
    output::{self, devices::Device},
};

/// Runs the command.
pub(crate) fn run(arguments: &DevicesArguments) -> Result<(), Failure> {
    let adapters = gpu::summaries();
    // Only a graphics processor with f64 is taken unasked, and only for much data.
    let auto = adapters.iter().position(|adapter| !adapter.is_software && adapter.has_double_precision);
    let devices: Vec<Device> = adapters
        .into_iter()
        .enumerate()
        .map(|(at, adapter)| Device::new(adapter, auto == Some(at)))
        .collect();
    output::devices::write(&devices, arguments.json)
}
