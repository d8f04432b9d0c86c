//! Seconds against the number of items, task by task: the CPU and a GPU.

use pdpp_plot::{Axis, Chart, Mark, Point, Series};

use super::{
    answer::{Measured, Run},
    tasks::Task,
};

/// How engines are drawn, in their order.
const MARKS: [(Mark, &str); 3] =
    [(Mark::Rings, "thin with rings"), (Mark::Discs, "thick with discs"), (Mark::Dashes, "dashed")];

/// The plot of a run, for its first n, k and p.
pub(super) fn chart(run: &Run) -> Chart {
    let first = run.measured.first().map(|measured| measured.size);
    let same = |measured: &&Measured| {
        first.is_some_and(|first| {
            let size = measured.size;
            (size.dims, size.k, size.parts) == (first.dims, first.k, first.parts)
        })
    };
    let shown: Vec<&Measured> = run.measured.iter().filter(same).collect();
    let mut tasks: Vec<Task> = Vec::new();
    for measured in &shown {
        if !tasks.contains(&measured.task) {
            tasks.push(measured.task);
        }
    }
    let engines = run.engines.iter().zip(MARKS).map(|(engine, (_, words))| {
        let software = if engine.is_software { " (SOFTWARE: says nothing about GPUs)" } else { "" };
        match &engine.adapter {
            None => format!("{words}: cpu, {} threads", run.threads),
            Some(adapter) => format!("{words}: {}, {adapter}{software}", engine.name),
        }
    });
    let (n, k, p) = first.map_or((0, 0, 0), |size| (size.dims, size.k, size.parts));
    let of_task = |(colour, &task): (usize, &Task)| {
        let one = |engine: usize| series(&shown, task, engine, colour);
        (0..run.engines.len().min(MARKS.len())).map(one).collect::<Vec<_>>()
    };
    Chart {
        title: format!("Seconds against items, n = {n}, k = {k}, p = {p}"),
        subtitle: engines.collect::<Vec<_>>().join("; "),
        x: Axis::logarithmic("items, m"),
        y: Axis::logarithmic("seconds, best run"),
        series: tasks.iter().enumerate().flat_map(of_task).collect(),
    }
}

/// Seconds of a task on an engine where its answers agree; the CPU's has the name.
fn series(shown: &[&Measured], task: Task, engine: usize, colour: usize) -> Series {
    let own = shown.iter().filter(|measured| measured.task == task && measured.engine == engine);
    #[expect(clippy::cast_precision_loss, reason = "positions in a plot")]
    let point = |measured: &&Measured| {
        let times = measured.times().filter(|times| times.right)?;
        Some(Point::new(measured.size.items as f64, times.best_seconds))
    };
    let name = (engine == 0).then(|| task.to_string());
    Series { name, colour, mark: MARKS[engine].0, points: own.filter_map(point).collect() }
}
