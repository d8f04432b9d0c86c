//! All measurements as .csv.

use ::csv::{Error, Writer};

use super::answer::{Exchanged, Measured, Outcome, Run, Times};

const COLUMNS: [&str; 25] = [
    "items",
    "dims",
    "k",
    "parts",
    "task",
    "engine",
    "adapter",
    "best_seconds",
    "mean_seconds",
    "deviation_seconds",
    "first_seconds",
    "predicted_seconds",
    "bytes_per_second",
    "operations_per_second",
    "share_of_peak",
    "difference",
    "right",
    "refused",
    "submissions",
    "dispatches",
    "waits",
    "downloaded_bytes",
    "uploaded_first_bytes",
    "uploaded_again_bytes",
    "device_seconds",
];

/// The contents of the file.
pub(super) fn render(run: &Run) -> Result<Vec<u8>, Error> {
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for Measured { size, task, engine, outcome } in &run.measured {
        let engine = &run.engines[*engine];
        let mut record = [size.items, size.dims, size.k, size.parts].map(|size| size.to_string()).to_vec();
        record.extend([task.name(), engine.name.to_owned()]);
        record.push(engine.adapter.clone().unwrap_or_default());
        match outcome {
            Outcome::Done(times) => record.extend(cells(times)),
            Outcome::Refused { refused } => {
                record.extend(vec![String::new(); 10]);
                record.push(refused.clone());
                record.extend(vec![String::new(); 7]);
            }
        }
        writer.write_record(record)?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

fn cells(times: &Times) -> Vec<String> {
    let optional = |x: Option<f64>| x.map(|x| x.to_string()).unwrap_or_default();
    let mut cells = [times.best_seconds, times.mean_seconds, times.deviation_seconds, times.first_seconds]
        .map(|x| x.to_string())
        .to_vec();
    let rates = [times.predicted_seconds, times.bytes_per_second, times.operations_per_second];
    cells.extend(rates.into_iter().chain([times.share_of_peak]).map(optional));
    cells.extend([format!("{:e}", times.difference), times.right.to_string(), String::new()]);
    cells.extend(times.traffic.as_ref().map_or_else(|| vec![String::new(); 6], traffic));
    cells.push(optional(times.device_seconds));
    cells
}

/// The traffic of the second run, and the bytes that the first one uploads.
fn traffic(of: &Exchanged) -> Vec<String> {
    let Exchanged {
        submissions,
        dispatches,
        waits,
        downloaded_bytes,
        uploaded_first_bytes,
        uploaded_again_bytes,
    } = of;
    [submissions, dispatches, waits, downloaded_bytes, uploaded_first_bytes, uploaded_again_bytes]
        .map(ToString::to_string)
        .to_vec()
}
