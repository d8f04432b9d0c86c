//! Lines and points over two axes, with a legend.

use plotters::{
    chart::{ChartBuilder, ChartContext},
    coord::CoordTranslate,
    element::DashedPathElement,
    prelude::{Circle, DrawingBackend, PathElement, WHITE},
    style::{Color, RGBColor},
};

use super::{
    axis::Axis,
    palette::{FRAME, colour},
    pen::{MARGIN, Pen, text, width_of},
    picture::{Area, Drawing, Format, Picture},
};

/// The style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line through discs.
    Discs,
    /// A thin line through rings.
    Rings,
    /// A dashed line.
    Dashes,
    /// A line.
    Line,
}

/// A point, with an optional interval.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The horizontal coordinate.
    pub x: f64,
    /// The vertical coordinate.
    pub y: f64,
    /// The smallest and the largest value, if there are several.
    pub spread: Option<(f64, f64)>,
}

impl Point {
    /// Creates a point with a single value.
    #[must_use]
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, spread: None }
    }
}

/// A series of points.
#[derive(Clone, Debug)]
pub struct Series {
    /// The entry in the legend.
    pub name: Option<String>,
    /// The index of the colour.
    pub colour: usize,
    /// The style.
    pub mark: Mark,
    /// The points, from left to right.
    pub points: Vec<Point>,
}

/// A chart of one or more series.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Title.
    pub title: String,
    /// Subtitle.
    pub subtitle: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series, in the order of the legend.
    pub series: Vec<Series>,
}

const SIZE: (u32, u32) = (1600, 1000);
const LEGEND_SIZE: i32 = 26;
const LEGEND_STEP: i32 = 46;

impl Picture for Chart {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, area: &Area<B>, format: Format) -> Drawing<B> {
        let pen = Pen::of(format);
        area.fill(&WHITE)?;
        let body = pen.write_head(area, &self.title, &self.subtitle)?;
        let names = self.series.iter().filter_map(|series| series.name.as_deref());
        let width = names.map(|name| width_of(&body, name, LEGEND_SIZE)).max().unwrap_or(0) + 110;
        let (main, legend) = body.split_horizontally(SIZE.0.cast_signed() - width);
        let all = || self.series.iter().flat_map(|series| &series.points);
        let (x, y) = (self.x.span(all().map(|point| point.x)), self.y.span(all().flat_map(heights)));
        let mut chart = ChartBuilder::on(&main)
            .margin(MARGIN)
            .x_label_area_size(80)
            .y_label_area_size(130)
            .build_cartesian_2d(self.x.ticked(x), self.y.ticked(y))?;
        chart
            .configure_mesh()
            .bold_line_style(FRAME)
            .light_line_style(WHITE)
            .x_desc(&*self.x.title)
            .y_desc(&*self.y.title)
            .axis_desc_style(text(28))
            .label_style(text(24))
            .x_label_formatter(&|tick| self.x.label(*tick))
            .y_label_formatter(&|tick| self.y.label(*tick))
            .draw()?;
        for series in &self.series {
            self.draw_series(&mut chart, series)?;
        }
        let named = self.series.iter().filter_map(|series| Some((series, series.name.as_ref()?)));
        for ((series, name), line) in named.zip(0..) {
            draw_sample(&legend, series, 60 + LEGEND_STEP * line)?;
            pen.write(&legend, name, (76, 60 + LEGEND_STEP * line - LEGEND_SIZE / 2), LEGEND_SIZE)?;
        }
        area.present()
    }
}

impl Chart {
    fn draw_series<B: DrawingBackend, C: CoordTranslate<From = (f64, f64)>>(
        &self,
        chart: &mut ChartContext<'_, B, C>,
        series: &Series,
    ) -> Drawing<B> {
        let colour = colour(series.colour);
        let at = |x: f64, y: f64| (self.x.place(x), self.y.place(y));
        let places: Vec<(f64, f64)> = series.points.iter().map(|point| at(point.x, point.y)).collect();
        for point in &series.points {
            if let Some((low, high)) = point.spread {
                let ends = [at(point.x, low), at(point.x, high)];
                chart.draw_series([PathElement::new(ends.to_vec(), colour.mix(0.5).stroke_width(3))])?;
            }
        }
        match series.mark {
            Mark::Discs | Mark::Line => {
                chart.draw_series([PathElement::new(places.clone(), colour.stroke_width(4))])?
            }
            Mark::Rings => chart.draw_series([PathElement::new(places.clone(), colour.stroke_width(2))])?,
            Mark::Dashes => {
                let dashes = DashedPathElement::new(places.clone(), 14, 9, colour.stroke_width(3));
                chart.draw_series([dashes])?
            }
        };
        match series.mark {
            Mark::Dashes | Mark::Line => return Ok(()),
            Mark::Discs => {
                chart.draw_series(places.into_iter().map(|at| Circle::new(at, 7, colour.filled())))?
            }
            Mark::Rings => chart.draw_series(places.into_iter().flat_map(|at| ring(at, colour)))?,
        };
        Ok(())
    }
}

fn heights(point: &Point) -> Vec<f64> {
    let (low, high) = point.spread.unwrap_or((point.y, point.y));
    vec![low, point.y, high]
}

/// Returns a disc with a white disc in it, since circles have no line width in bitmaps.
fn ring<C>(at: C, colour: RGBColor) -> [Circle<C, i32>; 2]
where
    C: Copy,
{
    [Circle::new(at, 8, colour.filled()), Circle::new(at, 5, WHITE.filled())]
}

/// Draws a sample of a series for the legend.
fn draw_sample<B: DrawingBackend>(legend: &Area<B>, series: &Series, y: i32) -> Drawing<B> {
    let colour: RGBColor = colour(series.colour);
    let (ends, middle) = (vec![(12, y), (60, y)], (36, y));
    match series.mark {
        Mark::Discs => {
            legend.draw(&PathElement::new(ends, colour.stroke_width(4)))?;
            legend.draw(&Circle::new(middle, 8, colour.filled()))
        }
        Mark::Rings => {
            legend.draw(&PathElement::new(ends, colour.stroke_width(2)))?;
            ring(middle, colour).iter().try_for_each(|disc| legend.draw(disc))
        }
        Mark::Dashes => legend.draw(&DashedPathElement::new(ends, 14, 9, colour.stroke_width(3))),
        Mark::Line => legend.draw(&PathElement::new(ends, colour.stroke_width(4))),
    }
}
