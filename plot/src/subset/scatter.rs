//! Items in the plane, with the chosen ones marked.

use std::ops::Range;

use plotters::{
    chart::ChartBuilder,
    prelude::{Circle, DrawingBackend, Rectangle, TRANSPARENT, WHITE},
    style::Color,
};

use super::{Dot, SubsetPlot, label};
use crate::{
    palette::{FRAME, INK, colour},
    pen::{Pen, text, width_of},
    picture::{Area, Drawing},
};

/// The most chosen items whose indices are shown.
pub(super) const MOST_LABELS: usize = 60;
/// The number of items above which dots shrink.
const MANY_DOTS: usize = 4000;
/// The number of chosen items above which markers and indices shrink.
const MANY_CHOSEN: usize = 24;

/// Sizes of the marker of a chosen item.
#[derive(Clone, Copy)]
struct Marks {
    radius: i32,
    text: i32,
}

impl Marks {
    fn of(plot: &SubsetPlot<'_>) -> Self {
        let many = plot.chosen.len() > MANY_CHOSEN;
        if many { Self { radius: 10, text: 19 } } else { Self { radius: 13, text: 24 } }
    }
}

/// Draws axes, items and chosen items.
pub(super) fn draw<B: DrawingBackend>(area: &Area<B>, pen: Pen, plot: &SubsetPlot<'_>) -> Drawing<B> {
    let dots = || plot.background.iter().chain(&plot.chosen).map(|dot| dot.at);
    let (across, up) = (padded(dots().map(|at| at.0)), padded(dots().map(|at| at.1)));
    let (name_x, name_y) = (tick_names(&across), tick_names(&up));
    let mut chart = ChartBuilder::on(area)
        .margin(20)
        .margin_right(10)
        .x_label_area_size(90)
        .y_label_area_size(130)
        .build_cartesian_2d(across, up)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(FRAME.mix(0.5))
        .axis_style(FRAME)
        .x_labels(7)
        .y_labels(7)
        .x_label_formatter(&name_x)
        .y_label_formatter(&name_y)
        .x_desc(plot.axis_titles[0].as_str())
        .y_desc(plot.axis_titles[1].as_str())
        .label_style(text(22))
        .axis_desc_style(text(26))
        .draw()?;
    let (radius, opacity) = if plot.background.len() > MANY_DOTS { (3, 0.25) } else { (5, 0.35) };
    let faint = |dot: &Dot| Circle::new(dot.at, radius, colour(dot.part.unwrap_or(0)).mix(opacity).filled());
    chart.draw_series(plot.background.iter().map(faint))?;
    let radius = Marks::of(plot).radius;
    // The outline is made of discs, since rings have no line width in bitmaps.
    let marker = |dot: &Dot| {
        let discs = [(radius, INK), (radius - 3, WHITE), (radius - 5, marker_colour(dot))];
        discs.map(|(radius, colour)| Circle::new(dot.at, radius, colour.filled()))
    };
    chart.draw_series(plot.chosen.iter().flat_map(marker))?;
    if plot.chosen.len() <= MOST_LABELS {
        let places: Vec<(i32, i32)> = plot.chosen.iter().map(|dot| chart.backend_coord(&dot.at)).collect();
        let inside = chart.plotting_area().get_pixel_range();
        draw_labels(area, pen, plot, &places, &inside)?;
    }
    Ok(())
}

/// Returns the colour of a marker. Without parts, it differs from the colour of the other items.
fn marker_colour(dot: &Dot) -> plotters::style::RGBColor {
    colour(dot.part.unwrap_or(2))
}

fn draw_labels<B: DrawingBackend>(
    area: &Area<B>,
    pen: Pen,
    plot: &SubsetPlot<'_>,
    markers: &[(i32, i32)],
    inside: &(Range<i32>, Range<i32>),
) -> Drawing<B> {
    let names: Vec<String> = plot.chosen.iter().map(|dot| plot.item_of(dot.item).to_string()).collect();
    let Marks { radius, text } = Marks::of(plot);
    let sizes: Vec<_> = names.iter().map(|name| (width_of(area, name, text), text)).collect();
    let corner = area.get_pixel_range();
    for (name, place) in names.iter().zip(label::place(markers, radius, &sizes, inside)) {
        let at = (place.left - corner.0.start, place.top - corner.1.start);
        let end = (at.0 + place.width, at.1 + place.height);
        area.draw(&Rectangle::new([(at.0 - 2, at.1), (end.0 + 2, end.1)], WHITE.mix(0.75).filled()))?;
        pen.write(area, name, at, text)?;
    }
    Ok(())
}

/// Returns short labels of ticks: `0` for zero up to rounding, and exponents for very large and small values.
fn tick_names(range: &Range<f64>) -> impl Fn(&f64) -> String + use<> {
    let length = range.end - range.start;
    move |&value| {
        let size = value.abs();
        if size < 1e-6 * length {
            return "0".into();
        }
        // Three digits are enough; parsing drops trailing zeros.
        let short = format!("{value:.3e}");
        if (1e-3..1e6).contains(&size) {
            short.parse().map_or(short, |value: f64| value.to_string())
        } else {
            short
        }
    }
}

/// Returns the range of some values, with room around it.
fn padded(values: impl Iterator<Item = f64>) -> Range<f64> {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.fold(start, |(low, high), value| (low.min(value), high.max(value)));
    let room = if high > low { 0.06 * (high - low) } else { 1.0 };
    low - room..high + room
}
