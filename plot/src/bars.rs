//! Bars in groups.

use plotters::{
    chart::ChartBuilder,
    prelude::{DrawingBackend, PathElement, Rectangle, WHITE},
    style::Color,
};

use super::{
    axis::{Axis, Ticked},
    palette::{FRAME, INK, colour},
    pen::{MARGIN, Pen, text, width_of},
    picture::{Area, Drawing, Format, Picture},
};

/// The bars of one series, one per group.
#[derive(Clone, Debug)]
pub struct Bars {
    /// The entry in the legend.
    pub name: String,
    /// Heights, group by group.
    pub heights: Vec<f64>,
    /// Reference values, drawn as ticks across the bars; `None` if unknown.
    pub expected: Vec<Option<f64>>,
}

/// A bar chart.
#[derive(Clone, Debug)]
pub struct BarChart {
    /// Title.
    pub title: String,
    /// Subtitle.
    pub subtitle: String,
    /// The title of the axis of groups.
    pub x: String,
    /// The axis of heights.
    pub y: Axis,
    /// The names of the groups.
    pub groups: Vec<String>,
    /// The series of bars, in the order of the legend.
    pub bars: Vec<Bars>,
}

const SIZE: (u32, u32) = (1600, 900);
const LEGEND_SIZE: i32 = 26;
const LEGEND_STEP: i32 = 46;
/// The share of a group's width that its bars take.
const FILLED: f64 = 0.8;

impl Picture for BarChart {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, area: &Area<B>, format: Format) -> Drawing<B> {
        let pen = Pen::of(format);
        area.fill(&WHITE)?;
        let body = pen.write_head(area, &self.title, &self.subtitle)?;
        let names = self.bars.iter().map(|bars| width_of(&body, &bars.name, LEGEND_SIZE));
        let (main, legend) = body.split_horizontally(SIZE.0.cast_signed() - names.max().unwrap_or(0) - 90);
        let heights = self.bars.iter().flat_map(|bars| &bars.heights).copied();
        let expected = self.bars.iter().flat_map(|bars| &bars.expected).flatten().copied();
        let top = self.y.span(heights.chain(expected).chain([0.0])).end;
        let groups = self.groups.len();
        let x = Ticked { span: 0.0..groups as f64, ticks: (0..groups).map(middle).collect() };
        let mut chart = ChartBuilder::on(&main)
            .margin(MARGIN)
            .x_label_area_size(80)
            .y_label_area_size(130)
            .build_cartesian_2d(x, self.y.ticked(0.0..top))?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(FRAME)
            .light_line_style(WHITE)
            .x_desc(&*self.x)
            .y_desc(&*self.y.title)
            .axis_desc_style(text(28))
            .label_style(text(24))
            .x_label_formatter(&|place| self.group_at(*place))
            .y_label_formatter(&|tick| self.y.label(*tick))
            .draw()?;
        for (number, bars) in self.bars.iter().enumerate() {
            for (group, &height) in bars.heights.iter().enumerate() {
                let (left, right) = self.edges(group, number);
                let bar = [(left, 0.0), (right, height)];
                chart.draw_series([Rectangle::new(bar, colour(number).filled())])?;
                if height <= 0.0 {
                    // Mark a bar of height zero.
                    let (x, y) = chart.backend_coord(&(0.5 * (left + right), 0.0));
                    let corner = main.get_pixel_range();
                    pen.write(&main, "0", (x - corner.0.start - 7, y - corner.1.start - 34), 24)?;
                }
                if let Some(expected) = bars.expected.get(group).copied().flatten() {
                    let tick = vec![(left, expected), (right, expected)];
                    chart.draw_series([PathElement::new(tick, INK.stroke_width(4))])?;
                }
            }
            let y = 60 + LEGEND_STEP * i32::try_from(number).unwrap_or(0);
            legend.draw(&Rectangle::new([(14, y - 12), (44, y + 12)], colour(number).filled()))?;
            pen.write(&legend, &bars.name, (58, y - LEGEND_SIZE / 2), LEGEND_SIZE)?;
        }
        area.present()
    }
}

impl BarChart {
    fn edges(&self, group: usize, bar: usize) -> (f64, f64) {
        let width = FILLED / self.bars.len() as f64;
        let left = middle(group) - 0.5 * FILLED + width * bar as f64;
        (left + 0.03 * width, left + 0.97 * width)
    }

    fn group_at(&self, place: f64) -> String {
        let found = (0..self.groups.len()).find(|&group| (middle(group) - place).abs() < 0.25);
        found.map_or(String::new(), |group| self.groups[group].clone())
    }
}

fn middle(group: usize) -> f64 {
    group as f64 + 0.5
}
