//! The adapters of this machine.

use std::io::Write;

use comfy_table::Cell;
use partition_dpp::engine::gpu::AdapterSummary;
use serde::Serialize;

use super::{
    print, print_json,
    table::{new_table, right},
};
use crate::failure::Failure;

/// A contract that scripts rely on.
#[derive(Debug, Serialize)]
pub(crate) struct Device {
    name: String,
    interface: String,
    driver: String,
    software: bool,
    f64: bool,
    largest_binding: u64,
    workgroup_memory: u64,
    auto: bool,
}

impl Device {
    /// An adapter, and whether `--engine auto` takes it for large problems.
    pub(crate) fn new(adapter: AdapterSummary, auto: bool) -> Self {
        Self {
            name: adapter.name,
            interface: adapter.interface,
            driver: adapter.driver,
            software: adapter.is_software,
            f64: adapter.has_double_precision,
            largest_binding: adapter.largest_binding,
            workgroup_memory: adapter.workgroup_memory,
            auto,
        }
    }
}

/// Writes the list in the format asked for.
pub(crate) fn write(devices: &[Device], json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if json {
        return print_json(out, &devices);
    }
    let mut table = new_table(["adapter", "interface", "kind", "f64", "largest array", "shared memory"]);
    for device in devices {
        table.add_row([
            Cell::new(&device.name),
            Cell::new(&device.interface),
            Cell::new(if device.software { "software" } else { "graphics processor" }),
            Cell::new(if device.f64 { "yes" } else { "no" }),
            right(format!("{} MiB", device.largest_binding >> 20)),
            right(format!("{} KiB", device.workgroup_memory >> 10)),
        ]);
    }
    let adapters = if devices.is_empty() { "no graphics adapter\n".to_owned() } else { format!("{table}\n") };
    let drivers: Vec<String> =
        devices.iter().map(|device| format!("driver    {}: {}\n", device.name, device.driver)).collect();
    let auto = match devices.iter().find(|device| device.auto) {
        Some(device) => format!("{} for four million values or more, else the CPU", device.name),
        None => "the CPU: there is no graphics processor with f64".to_owned(),
    };
    print(out, &format!("{adapters}{}auto      {auto}\n", drivers.concat()))
}
