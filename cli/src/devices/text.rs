//! The adapters of this machine as text.

use comfy_table::Cell;

use super::json::Device;
use crate::output::table::{new_table, right};

/// A table, and the engine that `--engine auto` takes.
pub(super) fn render(devices: &[Device]) -> String {
    let mut table = new_table(["adapter", "interface", "kind", "f64", "largest array", "shared memory"]);
    for device in devices {
        table.add_row([
            Cell::new(&device.name),
            Cell::new(&device.interface),
            Cell::new(if device.software { "software" } else { "GPU" }),
            Cell::new(if device.f64 { "yes" } else { "no" }),
            right(format!("{} MiB", device.largest_binding >> 20)),
            right(format!("{} KiB", device.workgroup_memory >> 10)),
        ]);
    }
    let adapters = if devices.is_empty() { "no graphics adapter\n".to_owned() } else { format!("{table}\n") };
    let drivers: Vec<String> =
        devices.iter().map(|device| format!("driver    {}: {}\n", device.name, device.driver)).collect();
    let auto = match devices.iter().find(|device| device.auto) {
        Some(device) => format!("{} if it is predicted to be faster, otherwise the CPU", device.name),
        None => "the CPU: there is no GPU with f64".to_owned(),
    };
    format!("{adapters}{}auto      {auto}\n", drivers.concat())
}
