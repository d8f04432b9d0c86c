//! The times as a table.

use std::{collections::BTreeMap, time::Duration};

use comfy_table::Cell;
use partition_dpp::engine::gpu::summaries;

use super::answer::{Measured, Run};
use crate::output::table::{new_table, right};

/// A table, the engines, and the sizes from which on the GPU is faster.
pub(super) fn render(run: &Run) -> String {
    let mut table = new_table([
        "m",
        "n",
        "k",
        "p",
        "task",
        "cpu, s",
        "device, s",
        "and transfer",
        "cpu/device",
        "rate",
        "waits",
        "kB down",
    ]);
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
            let warning = if software { "; SOFTWARE: its times say nothing about GPUs" } else { "" };
            format!("device    {info}; reads {:.1} GB/s{warning}\n", rate / 1e9)
        }
        None => "device    none: no graphics adapter on this machine\n".to_owned(),
    };
    let crossovers: Vec<String> =
        crossovers(run).into_iter().map(|line| format!("pays      {line}\n")).collect();
    let refused: String = run
        .measured
        .iter()
        .filter_map(|Measured { size, task, refused, .. }| {
            let (m, n) = (size.items, size.dims);
            refused.as_ref().map(|why| format!("refused   {task} (m = {m}, n = {n}): {why}\n"))
        })
        .collect();
    format!("{table}\n{device}cpu       f64, {} threads\n{refused}{}", run.threads, crossovers.concat())
}

fn device_cells(measured: &Measured, run: &Run) -> Vec<Cell> {
    let Some(device) = &measured.device else {
        let why = if measured.refused.is_some() { "refused" } else { "–" };
        return [why, "–", "–", "–", "–", "–"].map(right).into();
    };
    if !device.is_right() {
        // The time of a wrong answer is not shown.
        let mut cells = vec![right(format!("wrong by {:.0e}", device.difference))];
        cells.extend(["–"; 5].map(right));
        return cells;
    }
    let again = device.again.as_secs_f64();
    let transfer = device.first.saturating_sub(device.again);
    let rate = match (&run.device, measured.bytes, measured.operations) {
        (Some((_, reads)), Some(bytes), _) => format!("{:.0} % of reading", 100.0 * bytes / again / reads),
        (_, _, Some(operations)) => format!("{:.1} GFLOP/s", operations / again / 1e9),
        _ => "–".to_owned(),
    };
    vec![
        right(seconds(device.again)),
        right(seconds(transfer)),
        right(format!("{:.2}", measured.cpu.as_secs_f64() / again)),
        right(rate),
        right(device.again_traffic.waits),
        right(format!("{:.1}", device.again_traffic.downloaded as f64 / 1e3)),
    ]
}

fn seconds(time: Duration) -> String {
    format!("{:.4}", time.as_secs_f64())
}

/// The smallest m at which the GPU is faster, by task, for each n, k and p.
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

#[cfg(test)]
mod tests {
    use partition_dpp::Engine;

    use super::{super::data::Size, *};

    #[test]
    fn what_a_device_refuses_is_said() {
        let size = Size { items: 10, dims: 5, k: 2, parts: 1 };
        let refused = Measured {
            size,
            task: "log Z, marginals",
            cpu: Duration::from_millis(3),
            device: None,
            refused: Some("too badly conditioned".to_owned()),
            bytes: None,
            operations: None,
        };
        let info = Engine::cpu().info();
        let run = Run { measured: vec![refused], device: Some((info, 1e9)), threads: 1 };
        let text = render(&run);
        assert!(text.contains("0.0030") && text.contains(" refused "), "{text}");
        assert!(
            text.contains("refused   log Z, marginals (m = 10, n = 5): too badly conditioned\n"),
            "{text}"
        );
    }
}
