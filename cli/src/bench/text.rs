//! The times as a table.

use std::collections::BTreeMap;

use comfy_table::{Cell, ColumnConstraint};

use super::answer::{Measured, Outcome, Run, Timed, Times};
use crate::output::table::{new_table, right};

const HEADER: [&str; 15] = [
    "m",
    "n",
    "k",
    "p",
    "task",
    "engine",
    "best, ms",
    "mean ± sd",
    "device",
    "upload",
    "predicted",
    "×cpu",
    "rate",
    "waits",
    "kB down",
];

/// Columns that a CPU has nothing for.
const OF_DEVICES: [usize; 5] = [8, 9, 11, 13, 14];

/// A table, the engines, and the sizes from which on the GPU is faster.
pub(super) fn render(run: &Run) -> String {
    let mut table = new_table(HEADER);
    let mut before = None;
    for measured in &run.measured {
        let size = measured.size;
        let sizes = [size.items, size.dims, size.k, size.parts];
        let is_new = before.replace(size) != Some(size);
        let mut row = sizes.map(|size| if is_new { right(size) } else { Cell::new("") }).to_vec();
        let task = if measured.engine == 0 { measured.task.to_string() } else { String::new() };
        row.extend([Cell::new(task), Cell::new(run.engines[measured.engine].name)]);
        row.extend(cells(measured, run));
        table.add_row(row);
    }
    if run.engines.len() == 1 {
        for column in OF_DEVICES {
            if let Some(column) = table.column_mut(column) {
                column.set_constraint(ColumnConstraint::Hidden);
            }
        }
    }
    let refused = run.measured.iter().filter_map(|measured| match &measured.outcome {
        Outcome::Refused { refused } => {
            let (task, engine) = (measured.task, run.engines[measured.engine].name);
            let (m, n) = (measured.size.items, measured.size.dims);
            Some(format!("refused   {task} on {engine} (m = {m}, n = {n}): {refused}\n"))
        }
        Outcome::Done(_) => None,
    });
    let pays = crossovers(run).into_iter().map(|line| format!("pays      {line}\n"));
    format!("{table}\n{}{}{}", engines(run), refused.collect::<String>(), pays.collect::<String>())
}

/// A line for every engine.
fn engines(run: &Run) -> String {
    let line = |engine: &Timed| {
        let peaks = engine.peaks.map_or_else(String::new, |peaks| {
            let (reads, computes) = (peaks.read_bytes_per_second / 1e9, peaks.operations_per_second / 1e9);
            format!("; reads {reads:.1} GB/s, multiplies {computes:.0} GFLOP/s")
        });
        let what = match &engine.adapter {
            None => format!("{}, {} threads, f64", run.cpu, run.threads),
            Some(adapter) => format!("{adapter}, driver {}", engine.driver.as_deref().unwrap_or("unknown")),
        };
        let software = if engine.is_software { "; SOFTWARE: its times say nothing about GPUs" } else { "" };
        format!("{:9} {what}{peaks}{software}\n", engine.name)
    };
    let none = run.no_device.iter().map(|why| format!("no gpu    {why}\n"));
    run.engines.iter().map(line).chain(none).collect()
}

fn cells(measured: &Measured, run: &Run) -> Vec<Cell> {
    let Some(times) = measured.times() else {
        let mut cells = vec![right("refused")];
        cells.extend(["–"; 8].map(right));
        return cells;
    };
    if !times.right {
        // The time of a wrong answer is not shown.
        let mut cells = vec![right(format!("wrong by {:.0e}", times.difference))];
        cells.extend(["–"; 8].map(right));
        return cells;
    }
    let is_device = measured.engine > 0;
    let or_none = |text: Option<String>| right(text.unwrap_or_else(|| "–".to_owned()));
    let faster = run.on_cpu(measured).map(|cpu| cpu.best_seconds / times.best_seconds);
    let traffic = times.traffic.as_ref();
    vec![
        right(milliseconds(times.best_seconds)),
        right(format!("{} ± {}", milliseconds(times.mean_seconds), milliseconds(times.deviation_seconds))),
        or_none(times.device_seconds.map(milliseconds)),
        or_none(is_device.then(|| milliseconds(times.upload().as_secs_f64()))),
        or_none(times.predicted_seconds.map(milliseconds)),
        or_none(faster.filter(|_| is_device).map(|faster| format!("{faster:.2}"))),
        or_none(rate(times)),
        or_none(traffic.map(|traffic| traffic.waits.to_string())),
        or_none(traffic.map(|traffic| kilobytes(traffic.downloaded_bytes))),
    ]
}

/// Bytes or operations a second, and the share of what the engine reaches.
fn rate(times: &Times) -> Option<String> {
    let rate = match (times.bytes_per_second, times.operations_per_second) {
        (Some(bytes), _) => format!("{:.1} GB/s", bytes / 1e9),
        (None, Some(operations)) => format!("{:.1} GFLOP/s", operations / 1e9),
        (None, None) => return None,
    };
    Some(times.share_of_peak.map_or(rate.clone(), |share| format!("{rate} ({:.0} %)", 100.0 * share)))
}

/// With three digits.
fn milliseconds(seconds: f64) -> String {
    match 1e3 * seconds {
        x if x >= 99.95 => format!("{x:.0}"),
        x if x >= 9.995 => format!("{x:.1}"),
        x => format!("{x:.2}"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
fn kilobytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e3)
}

/// The smallest m at which a GPU is faster, by engine and task, for each n, k and p.
fn crossovers(run: &Run) -> Vec<String> {
    let mut first: BTreeMap<(usize, usize, usize, usize, String), Option<usize>> = BTreeMap::new();
    for measured in run.measured.iter().filter(|measured| measured.engine > 0) {
        let Some(times) = measured.times() else { continue };
        let cpu = run.on_cpu(measured).map_or(0.0, |cpu| cpu.best_seconds);
        let (size, engine) = (measured.size, measured.engine);
        let key = (engine, size.dims, size.k, size.parts, measured.task.to_string());
        let known = first.entry(key).or_default();
        if times.right && times.first_seconds <= cpu && known.is_none_or(|known| size.items < known) {
            *known = Some(size.items);
        }
    }
    let (mut lines, mut never) = (Vec::new(), BTreeMap::<usize, Vec<String>>::new());
    for ((engine, n, k, p, task), from) in first {
        let name = run.engines[engine].name;
        match from {
            Some(m) => lines
                .push(format!("{name} from m = {m} on, upload included: {task} (n = {n}, k = {k}, p = {p})")),
            None => never.entry(engine).or_default().push(task),
        }
    }
    for (engine, mut tasks) in never {
        tasks.dedup();
        lines.push(format!("{} at none of these m: {}", run.engines[engine].name, tasks.join("; ")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{
        super::{data::Size, tasks::Task},
        *,
    };

    #[test]
    fn what_a_device_refuses_is_said() {
        let size = Size { items: 10, dims: 5, k: 2, parts: 1 };
        let engine = |name| Timed {
            name,
            adapter: None,
            backend: None,
            driver: None,
            is_software: false,
            peaks: None,
        };
        let refused = Outcome::Refused { refused: "too badly conditioned".to_owned() };
        let run = Run {
            version: "0",
            commit: None,
            cpu: "A CPU".to_owned(),
            threads: 1,
            repeat: 1,
            engines: vec![engine("cpu"), engine("gpu f32")],
            no_device: None,
            measured: vec![Measured { size, task: Task::Inference, engine: 1, outcome: refused }],
        };
        let text = render(&run);
        let line = "refused   log Z, marginals on gpu f32 (m = 10, n = 5): too badly conditioned\n";
        assert!(text.contains(" refused ") && text.contains(line), "{text}");
    }
}
