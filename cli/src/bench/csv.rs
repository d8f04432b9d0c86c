//! All measurements as .csv.

use ::csv::{Error, Writer};

use partition_dpp::engine::gpu::Traffic;

use super::answer::{Measured, OnDevice, Run};

/// The contents of the file.
pub(super) fn render(run: &Run) -> Result<Vec<u8>, Error> {
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record([
        "items",
        "dims",
        "k",
        "parts",
        "task",
        "cpu_seconds",
        "device_first_seconds",
        "device_again_seconds",
        "difference",
        "right",
        "refused",
        "read_bytes_per_second",
        "submissions",
        "dispatches",
        "waits",
        "downloaded_bytes",
        "uploaded_first_bytes",
        "uploaded_again_bytes",
    ])?;
    let rate = run.device.as_ref().map_or(String::new(), |(_, rate)| rate.to_string());
    for Measured { size, task, cpu, device, refused, .. } in &run.measured {
        let sizes = [size.items, size.dims, size.k, size.parts].map(|size| size.to_string());
        let on_device = device.as_ref().map_or_else(Default::default, |device| {
            [
                device.first.as_secs_f64().to_string(),
                device.again.as_secs_f64().to_string(),
                format!("{:e}", device.difference),
                device.is_right().to_string(),
            ]
        });
        let mut record = sizes.to_vec();
        record.extend([(*task).to_owned(), cpu.as_secs_f64().to_string()]);
        record.extend(on_device);
        record.extend([refused.clone().unwrap_or_default(), rate.clone()]);
        record.extend(device.as_ref().map_or_else(Default::default, traffic));
        writer.write_record(record)?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

/// Of the call that is timed again, with the bytes that the first one uploads beside its own.
fn traffic(device: &OnDevice) -> [String; 6] {
    let Traffic { submissions, dispatches, waits, downloaded, uploaded, .. } = device.again_traffic;
    [submissions, dispatches, waits, downloaded, device.first_traffic.uploaded, uploaded]
        .map(|n| n.to_string())
}
