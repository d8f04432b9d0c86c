//! A subset among all items: title, items, legend, images.

mod images;
mod label;
mod projection;
mod scatter;

use partition_dpp::{Features, Partition, Subset, data::LabelCopies};
use plotters::{
    prelude::{Circle, DrawingBackend, WHITE},
    style::Color,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use self::{projection::Projection, scatter::MOST_LABELS};
use crate::{
    palette::colour,
    pen::{MARGIN, Pen, width_of},
    picture::{Area, Drawing, Format, Picture},
};

const HEIGHT: u32 = 1200;
const WIDTH: u32 = 1600;
/// The width added for images.
const IMAGES_WIDTH: u32 = 1100;
const NAME_SIZE: i32 = 26;
/// The most parts named in the legend.
const MOST_NAMED: usize = 12;
/// The most items drawn in the background. More would only make a larger file.
const MOST_DOTS: usize = 20_000;
/// The most characters shown of a part's name.
const MOST_TEXT: usize = 18;

/// The ground set of a subset.
#[derive(Clone, Copy, Debug)]
pub struct GroundSet<'a> {
    /// One row per item, or per copy of an item.
    pub features: &'a Features,
    /// The parts of the rows.
    pub partition: Option<&'a Partition>,
    /// The item of each row, if an item may have several copies.
    pub copies: Option<&'a LabelCopies>,
    /// The shape of the items' images.
    pub images: Option<ImageShape>,
}

/// The shape of grey images whose pixels, row by row, are the features.
#[derive(Clone, Copy, Debug)]
pub struct ImageShape {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// The value of black; 0 is white.
    pub black: f64,
}

/// An item in the plane.
#[derive(Clone, Copy, Debug)]
struct Dot {
    item: usize,
    part: Option<usize>,
    at: (f64, f64),
}

/// A subset among all items, in the plane of their two principal components.
#[derive(Debug)]
pub struct SubsetPlot<'a> {
    ground: GroundSet<'a>,
    title: String,
    subtitle: String,
    background: Vec<Dot>,
    /// Ordered by part, then by index.
    chosen: Vec<Dot>,
    axis_titles: [String; 2],
}

impl<'a> SubsetPlot<'a> {
    /// Projects the items; `shown_as` describes the subset in the subtitle.
    #[must_use]
    pub fn new(ground: GroundSet<'a>, subset: &Subset, title: String, shown_as: &str) -> Self {
        let features = ground.features;
        let shown = background_items(features);
        let projection = Projection::fit(features, &shown);
        let dot = |item: usize| Dot {
            item,
            part: ground.partition.map(|partition| partition.part_of(item)),
            at: projection.place(&features.row(item)),
        };
        let mut chosen: Vec<Dot> = subset.iter().map(dot).collect();
        chosen.sort_by_key(|dot| (dot.part, dot.item));
        let share = |at: usize| 100.0 * projection.shares[at];
        let axis = |at: usize| format!("principal component {} ({:.0} % of the variance)", at + 1, share(at));
        let background: Vec<Dot> = shown.iter().copied().map(dot).collect();
        Self {
            ground,
            title,
            subtitle: subtitle(shown_as, subset.len(), background.len(), features.items()),
            background,
            chosen,
            axis_titles: [axis(0), axis(1)],
        }
    }

    fn item_of(&self, row: usize) -> usize {
        self.ground.copies.map_or(row, |copies| copies.item_of(row))
    }

    fn legend(&self) -> Vec<String> {
        let names = self.ground.partition.map_or(&[][..], |partition| partition.names());
        if names.len() > MOST_NAMED { Vec::new() } else { names.iter().map(|name| shorten(name)).collect() }
    }

    fn draw_legend<B: DrawingBackend>(area: &Area<B>, pen: Pen, names: &[String]) -> Drawing<B> {
        const STEP: i32 = 44;
        for (part, name) in names.iter().enumerate() {
            let y = 40 + STEP * i32::try_from(part).unwrap_or(i32::MAX / STEP);
            area.draw(&Circle::new((24, y), 11, colour(part).filled()))?;
            pen.write(area, name, (48, y - NAME_SIZE / 2), NAME_SIZE)?;
        }
        Ok(())
    }
}

impl Picture for SubsetPlot<'_> {
    fn size(&self) -> (u32, u32) {
        (if self.ground.images.is_some() { WIDTH + IMAGES_WIDTH } else { WIDTH }, HEIGHT)
    }

    fn draw<B: DrawingBackend>(&self, area: &Area<B>, format: Format) -> Drawing<B> {
        let pen = Pen::of(format);
        area.fill(&WHITE)?;
        let body = pen.write_head(area, &self.title, &self.subtitle)?;
        let main = match self.ground.images {
            None => body,
            Some(shape) => {
                let (main, side) = body.split_horizontally(WIDTH.cast_signed());
                images::draw(&side, pen, self, shape)?;
                main
            }
        };
        let names = self.legend();
        let width =
            names.iter().map(|name| width_of(&main, name, NAME_SIZE)).max().map_or(0, |width| width + 90);
        let (items, legend) = main.split_horizontally(WIDTH.cast_signed() - width.max(MARGIN));
        scatter::draw(&items, pen, self)?;
        Self::draw_legend(&legend, pen, &names)?;
        area.present()
    }
}

/// Returns all items, or a pseudorandom choice of them.
///
/// With a stride, the choice could miss all labels but one if labels alternate.
fn background_items(features: &Features) -> Vec<usize> {
    let items = features.items();
    if items <= MOST_DOTS {
        return (0..items).collect();
    }
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    (0..items).filter(|_| rng.random_bool(MOST_DOTS as f64 / items as f64)).collect()
}

fn subtitle(shown_as: &str, chosen: usize, shown: usize, items: usize) -> String {
    let named = if chosen <= MOST_LABELS { " and named by index" } else { "" };
    let some = if shown < items { format!("; {shown} of all items are shown") } else { String::new() };
    format!("{shown_as}: {chosen} chosen items, outlined{named}{some}")
}

fn shorten(name: &str) -> String {
    if name.chars().count() <= MOST_TEXT {
        return name.to_owned();
    }
    name.chars().take(MOST_TEXT).chain(['…']).collect()
}
