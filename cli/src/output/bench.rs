//! What the processor and a device took, as a table and as .csv.

use std::{collections::BTreeMap, io::Write, time::Duration};

use comfy_table::Cell;
use partition_dpp::engine::gpu::summaries;

use super::{
    print,
    table::{new_table, right},
};
use crate::{
    arguments::BenchArguments,
    bench::{Measured, Run},
    failure::Failure,
    plot, whole_file,
};

/// Writes the table, and the files asked for.
pub(crate) fn write(run: &Run, arguments: &BenchArguments, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(path) = &arguments.csv {
        let text = csv(run).map_err(|error| Failure::file(path, error.to_string()))?;
        whole_file::write(path, "the table", &text)?;
    }
    if let Some(file) = &arguments.plot {
        plot::draw_times(file, run)?;
    }
    print(out, &text(run))
}

fn text(run: &Run) -> String {
    let mut table =
        new_table(["m", "n", "k", "p", "task", "cpu, s", "device, s", "and transfer", "cpu/device", "rate"]);
    for measured in &run.measured {
        let size = measured.size;
        let mut row = vec![right(size.items), right(size.dims), right(size.k), right(size.parts)];
        row.extend([Cell::new(measured.task), right(seconds(measured.cpu))]);
        row.extend(device_cells(measured, run));
        table.add_row(row);
    }
    let device = match &run.device {
        Some((info, rate)) => {
            let software = summaries()
                .iter()
                .any(|known| known.is_software && Some(&known.name) == info.adapter.as_ref());
            let warning = if software { "; SOFTWARE: its times mean nothing" } else { "" };
            format!("device    {info}; copies {:.1} GB/s (read and written){warning}\n", rate / 1e9)
        }
        None => "device    none: no graphics adapter on this machine\n".to_owned(),
    };
    let crossovers: Vec<String> =
        crossovers(run).into_iter().map(|line| format!("pays      {line}\n")).collect();
    format!("{table}\n{device}cpu       f64, {} threads\n{}", run.threads, crossovers.concat())
}

fn device_cells(measured: &Measured, run: &Run) -> Vec<Cell> {
    let Some(device) = &measured.device else { return ["–"; 4].map(right).into() };
    if !device.is_right() {
        // A time for a wrong answer is no time.
        return vec![
            right(format!("wrong by {:.0e}", device.difference)),
            right("–"),
            right("–"),
            right("–"),
        ];
    }
    let again = device.again.as_secs_f64();
    let transfer = device.first.saturating_sub(device.again);
    let rate = match (&run.device, measured.bytes, measured.operations) {
        (Some((_, copies)), Some(bytes), _) => format!("{:.0} % of copying", 100.0 * bytes / again / copies),
        (_, _, Some(operations)) => format!("{:.1} GFLOP/s", operations / again / 1e9),
        _ => "–".to_owned(),
    };
    vec![
        right(seconds(device.again)),
        right(seconds(transfer)),
        right(format!("{:.2}", measured.cpu.as_secs_f64() / again)),
        right(rate),
    ]
}

fn seconds(time: Duration) -> String {
    format!("{:.4}", time.as_secs_f64())
}

/// From which m on the device is faster, task by task, for each n, k and p.
fn crossovers(run: &Run) -> Vec<String> {
    let mut first: BTreeMap<(usize, usize, usize, &str), Option<usize>> = BTreeMap::new();
    for measured in run.measured.iter().filter(|measured| measured.device.is_some()) {
        let faster =
            measured.device.as_ref().is_some_and(|device| device.is_right() && device.first <= measured.cpu);
        let size = measured.size;
        let known = first.entry((size.dims, size.k, size.parts, measured.task)).or_default();
        if faster && known.is_none_or(|known| size.items < known) {
            *known = Some(size.items);
        }
    }
    let mut lines = Vec::new();
    let mut never = Vec::new();
    for ((n, k, p, task), from) in first {
        match from {
            Some(m) => {
                lines.push(format!("from m = {m} on, transfer included: {task} (n = {n}, k = {k}, p = {p})"));
            }
            None => never.push(task),
        }
    }
    never.dedup();
    if !never.is_empty() {
        lines.push(format!("at none of these m: {}", never.join("; ")));
    }
    lines
}

fn csv(run: &Run) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
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
        "copy_bytes_per_second",
    ])?;
    let rate = run.device.as_ref().map_or(String::new(), |(_, rate)| rate.to_string());
    for Measured { size, task, cpu, device, .. } in &run.measured {
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
        record.push(rate.clone());
        writer.write_record(record)?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}
