//! Seconds against the number of items: the processor and a device, task by task.

use plotters::{
    chart::ChartBuilder,
    prelude::{Circle, DrawingBackend, IntoLogRange, PathElement, WHITE},
    style::Color,
};

use super::{
    Picture, PlotFormat,
    figure::{Area, Drawing},
    palette::colour,
    pen::{Pen, text},
};
use crate::bench::{Measured, Run};

const SIZE: (u32, u32) = (1600, 1100);
const HEAD: i32 = 110;
const LEGEND: i32 = 360;
const MARGIN: i32 = 40;

/// The picture of a run: that of its first n, k and p.
#[derive(Debug)]
pub(super) struct Times<'a> {
    pen: Pen,
    title: String,
    subtitle: String,
    tasks: Vec<&'static str>,
    shown: Vec<&'a Measured>,
}

impl<'a> Times<'a> {
    pub(super) fn new(run: &'a Run, format: PlotFormat) -> Self {
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
        Self {
            pen: Pen::of(format),
            title: format!("Seconds against items, n = {n}, k = {k}, p = {p}"),
            subtitle: format!("thin with rings: cpu, {} threads; thick with discs: {device}", run.threads),
            tasks,
            shown,
        }
    }

    /// Items and seconds of a task on the processor, and on the device where its answers are right.
    fn series(&self, task: &str) -> [Vec<(f64, f64)>; 2] {
        let own = || self.shown.iter().filter(|measured| measured.task == task);
        #[expect(clippy::cast_precision_loss, reason = "places in a picture")]
        let items = |measured: &Measured| measured.size.items as f64;
        let cpu = own().map(|measured| (items(measured), measured.cpu.as_secs_f64())).collect();
        let device = own().filter_map(|measured| {
            let device = measured.device.as_ref().filter(|device| device.is_right())?;
            Some((items(measured), device.again.as_secs_f64()))
        });
        [cpu, device.collect()]
    }
}

/// A range that holds all of some values, with room at both ends.
fn around(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (low, high) =
        values.fold((f64::INFINITY, 0.0), |(low, high), x| (f64::min(low, x), f64::max(high, x)));
    if low > high { 1.0..10.0 } else { 0.7 * low.max(1e-9)..1.4 * high.max(1e-9) }
}

impl Picture for Times<'_> {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, area: &Area<B>) -> Drawing<B> {
        area.fill(&WHITE)?;
        let (head, body) = area.split_vertically(HEAD);
        self.pen.write(&head, &self.title, (MARGIN, 16), 38)?;
        self.pen.write(&head, &self.subtitle, (MARGIN, 68), 26)?;
        let (main, legend) = body.split_horizontally(SIZE.0.cast_signed() - LEGEND);
        let all: Vec<(f64, f64)> = self.tasks.iter().flat_map(|task| self.series(task).concat()).collect();
        let (x, y) = (around(all.iter().map(|at| at.0)), around(all.iter().map(|at| at.1)));
        let mut chart = ChartBuilder::on(&main)
            .margin(MARGIN)
            .x_label_area_size(80)
            .y_label_area_size(120)
            .build_cartesian_2d(x.log_scale(), y.log_scale())?;
        chart
            .configure_mesh()
            .x_desc("items, m")
            .y_desc("seconds")
            .axis_desc_style(text(28))
            .label_style(text(24))
            .x_label_formatter(&|m| format!("{m:.0e}"))
            .y_label_formatter(&|seconds| format!("{seconds:.0e}"))
            .draw()?;
        for (number, task) in self.tasks.iter().enumerate() {
            let colour = colour(number);
            let [cpu, device] = self.series(task);
            chart.draw_series([PathElement::new(cpu.clone(), colour.stroke_width(2))])?;
            chart.draw_series(cpu.into_iter().map(|at| Circle::new(at, 6, colour.stroke_width(2))))?;
            chart.draw_series([PathElement::new(device.clone(), colour.stroke_width(5))])?;
            chart.draw_series(device.into_iter().map(|at| Circle::new(at, 8, colour.filled())))?;
            let top = 60 + 44 * i32::try_from(number).unwrap_or(0);
            legend.draw(&Circle::new((24, top), 11, colour.filled()))?;
            self.pen.write(&legend, task, (48, top - 13), 26)?;
        }
        area.present()
    }
}
