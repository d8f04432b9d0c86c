//! The images of the chosen items.

use plotters::{
    prelude::{DrawingBackend, Rectangle},
    style::{Color, RGBColor},
};

use super::{Dot, ImageShape, SubsetPlot};
use crate::{
    palette::colour,
    pen::{Pen, width_of},
    picture::{Area, Drawing},
};

/// The most images shown; more would be too small.
const MOST_IMAGES: usize = 42;
const MARGIN: i32 = 30;
const CAPTION: i32 = 42;
const FRAME: i32 = 5;

/// The layout of the images.
struct Grid {
    columns: usize,
    /// The side of an image.
    side: i32,
    /// The distance from one image to the next.
    step: (i32, i32),
}

/// Draws the chosen items' images, each with its class and index.
pub(super) fn draw<B: DrawingBackend>(
    area: &Area<B>,
    pen: Pen,
    plot: &SubsetPlot<'_>,
    shape: ImageShape,
) -> Drawing<B> {
    let shown = &plot.chosen[..plot.chosen.len().min(MOST_IMAGES)];
    let grid = Grid::new(shown.len(), area.dim_in_pixel());
    let captions: Vec<String> = shown.iter().map(|dot| caption(plot, dot)).collect();
    let size = (14..=26)
        .rev()
        .find(|&size| captions.iter().all(|caption| width_of(area, caption, size) <= grid.step.0 - 12));
    let size = size.unwrap_or(14);
    for (at, (dot, caption)) in shown.iter().zip(&captions).enumerate() {
        let corner = grid.corner(at);
        draw_image(area, plot, dot, shape, corner, grid.side)?;
        let left = corner.0 + (grid.side - width_of(area, caption, size)) / 2;
        pen.write(area, caption, (left, corner.1 + grid.side + FRAME + 4), size)?;
    }
    if shown.len() < plot.chosen.len() {
        let rest = format!("… and {} more", plot.chosen.len() - shown.len());
        let bottom = area.dim_in_pixel().1.cast_signed() - 40;
        pen.write(area, &rest, (MARGIN, bottom), 26)?;
    }
    Ok(())
}

fn caption(plot: &SubsetPlot<'_>, dot: &Dot) -> String {
    let item = plot.item_of(dot.item);
    match (plot.ground.partition, dot.part) {
        (Some(partition), Some(part)) => format!("class {} · item {item}", partition.names()[part]),
        _ => format!("item {item}"),
    }
}

impl Grid {
    /// Chooses the number of columns that makes the images largest.
    fn new(images: usize, (width, height): (u32, u32)) -> Self {
        let (width, height) = (width.cast_signed() - 2 * MARGIN, height.cast_signed() - 2 * MARGIN);
        let grid = |columns: usize| {
            let rows = images.div_ceil(columns).max(1);
            let step = (width / small(columns), (height / small(rows)).min(320 + CAPTION));
            let side = (step.0 - 40).min(step.1 - CAPTION - 24).min(280);
            Grid { columns, side, step: (step.0.min(side + 70), step.1.min(side + CAPTION + 40)) }
        };
        (1..=images.max(1)).map(grid).max_by_key(|grid| (grid.side, grid.columns)).unwrap_or_else(|| grid(1))
    }

    /// Returns the top left corner of an image.
    fn corner(&self, at: usize) -> (i32, i32) {
        let (column, row) = (small(at % self.columns), small(at / self.columns));
        (MARGIN + column * self.step.0 + (self.step.0 - self.side) / 2, MARGIN + row * self.step.1)
    }
}

fn small(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn draw_image<B: DrawingBackend>(
    area: &Area<B>,
    plot: &SubsetPlot<'_>,
    dot: &Dot,
    shape: ImageShape,
    (left, top): (i32, i32),
    side: i32,
) -> Drawing<B> {
    let frame = [(left - FRAME, top - FRAME), (left + side + FRAME - 1, top + side + FRAME - 1)];
    area.draw(&Rectangle::new(frame, colour(dot.part.unwrap_or(0)).filled()))?;
    let pixels = plot.ground.features.row(dot.item);
    // Edges are rounded separately, so that pixels meet without gaps.
    let edge = |at: usize, of: usize| small(at) * side / small(of);
    for (at, &value) in pixels.iter().enumerate().take(shape.width * shape.height) {
        let (column, row) = (at % shape.width, at / shape.width);
        let from = (left + edge(column, shape.width), top + edge(row, shape.height));
        let to = (left + edge(column + 1, shape.width), top + edge(row + 1, shape.height));
        area.draw(&Rectangle::new([from, to], grey(value / shape.black).filled()))?;
    }
    Ok(())
}

/// Returns white for 0 and black for 1.
fn grey(darkness: f64) -> RGBColor {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=255")]
    let level = (255.0 * (1.0 - darkness)).clamp(0.0, 255.0).round() as u8;
    RGBColor(level, level, level)
}
