//! Seconds against the number of items: the CPU and a GPU, task by task.

use pdpp_plot::{Axis, Chart, Mark, Point, Series};

use super::answer::{Measured, Run};

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
    let mut tasks: Vec<&'static str> = Vec::new();
    for measured in &shown {
        if !tasks.contains(&measured.task) {
            tasks.push(measured.task);
        }
    }
    let device = run.device.as_ref().map_or("no device".to_owned(), |(info, _)| info.to_string());
    let (n, k, p) = first.map_or((0, 0, 0), |size| (size.dims, size.k, size.parts));
    Chart {
        title: format!("Seconds against items, n = {n}, k = {k}, p = {p}"),
        subtitle: format!("thin with rings: cpu, {} threads; thick with discs: {device}", run.threads),
        x: Axis::logarithmic("items, m"),
        y: Axis::logarithmic("seconds"),
        series: tasks.iter().enumerate().flat_map(|(colour, task)| series(&shown, task, colour)).collect(),
    }
}

/// Seconds of a task on the CPU, and on the GPU where its answers agree.
fn series(shown: &[&Measured], task: &str, colour: usize) -> [Series; 2] {
    let own = || shown.iter().filter(|measured| measured.task == task);
    #[expect(clippy::cast_precision_loss, reason = "positions in a plot")]
    let items = |measured: &Measured| measured.size.items as f64;
    let cpu = own().map(|measured| Point::new(items(measured), measured.cpu.as_secs_f64())).collect();
    let device = own().filter_map(|measured| {
        let device = measured.device.as_ref().filter(|device| device.is_right())?;
        Some(Point::new(items(measured), device.again.as_secs_f64()))
    });
    [
        Series { name: Some(task.to_owned()), colour, mark: Mark::Rings, points: cpu },
        Series { name: None, colour, mark: Mark::Discs, points: device.collect() },
    ]
}
