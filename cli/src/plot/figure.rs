//! The whole picture: title, items, legend, images.

use partition_dpp::{Features, Subset};
use plotters::{
    coord::Shift,
    prelude::{Circle, DrawingArea, DrawingAreaErrorKind, DrawingBackend, WHITE},
    style::Color,
};

use super::{
    Picture, PlotFormat, images,
    palette::colour,
    pen::{MARGIN, Pen, width_of},
    projection::Projection,
    scatter::{self, MOST_LABELS},
};
use crate::{input::Input, law::Law};

/// An area in pixels.
pub(super) type Area<B> = DrawingArea<B, Shift>;
/// The outcome of drawing.
pub(super) type Drawing<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

const HEIGHT: u32 = 1200;
const WIDTH: u32 = 1600;
/// Added where the items are images.
const IMAGES_WIDTH: u32 = 1100;
const NAME_SIZE: i32 = 26;
/// Parts named in the legend.
const MOST_NAMED: usize = 12;
/// Items drawn in the background: more would be a blot, and a huge file.
const MOST_DOTS: usize = 20_000;
/// Characters of a part's name, or entries of a quota, shown in full.
const MOST_TEXT: usize = 18;

/// An item in the plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dot {
    pub(super) item: usize,
    pub(super) part: Option<usize>,
    pub(super) at: (f64, f64),
}

/// What is drawn.
#[derive(Debug)]
pub(super) struct Figure<'a> {
    pub(super) input: &'a Input,
    title: String,
    subtitle: String,
    pub(super) background: Vec<Dot>,
    /// By part, then by index.
    pub(super) chosen: Vec<Dot>,
    pub(super) axis_titles: [String; 2],
}

impl<'a> Figure<'a> {
    /// Projects the items and words the titles.
    pub(super) fn new(input: &'a Input, law: &Law<'_>, subset: &Subset) -> Self {
        let features = &input.features;
        let shown = background_items(features);
        let projection = Projection::fit(features, &shown);
        let dot = |item: usize| Dot {
            item,
            part: input.partition.as_ref().map(|partition| partition.part_of(item)),
            at: projection.place(&features.row(item)),
        };
        let mut chosen: Vec<Dot> = subset.iter().map(dot).collect();
        chosen.sort_by_key(|dot| (dot.part, dot.item));
        let share = |at: usize| 100.0 * projection.shares[at];
        let axis = |at: usize| format!("principal component {} ({:.0} % of the variance)", at + 1, share(at));
        let background: Vec<Dot> = shown.iter().copied().map(dot).collect();
        Self {
            input,
            title: title(law, features.items()),
            subtitle: subtitle(subset.len(), background.len(), features.items()),
            background,
            chosen,
            axis_titles: [axis(0), axis(1)],
        }
    }

    fn legend(&self) -> Vec<String> {
        let names = self.input.partition.as_ref().map_or(&[][..], |partition| partition.names());
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

impl Picture for Figure<'_> {
    fn size(&self) -> (u32, u32) {
        (if self.input.images.is_some() { WIDTH + IMAGES_WIDTH } else { WIDTH }, HEIGHT)
    }

    fn draw<B: DrawingBackend>(&self, area: &Area<B>, format: PlotFormat) -> Drawing<B> {
        let pen = Pen::of(format);
        area.fill(&WHITE)?;
        let body = pen.write_head(area, &self.title, &self.subtitle)?;
        let main = match self.input.images {
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

/// All items, or a fair choice of them. A stride would fall in step with labels that alternate.
fn background_items(features: &Features<'_>) -> Vec<usize> {
    let items = features.items();
    if items <= MOST_DOTS {
        return (0..items).collect();
    }
    let keep = MOST_DOTS as f64 / items as f64;
    (0..items).filter(|&item| (scramble(item as u64) >> 11) as f64 / (1_u64 << 53) as f64 <= keep).collect()
}

/// The finaliser of `SplitMix64`.
fn scramble(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn title(law: &Law<'_>, items: usize) -> String {
    let drawn = match law {
        Law::PartitionDpp { quota, .. } => format!("Partition-DPP, quota {}", list(quota.counts())),
        Law::RangeDpp { .. } => law.to_string(),
        Law::IndependentKDpps { quota, .. } => format!("independent k-DPPs, quota {}", list(quota.counts())),
        Law::KDpp { k } => format!("k-DPP, k = {k}"),
        Law::Dpp => "DPP of any size".into(),
    };
    format!("{drawn}, m = {items}")
}

fn list(counts: &[usize]) -> String {
    if counts.len() > MOST_TEXT {
        return format!("of {} items over {} parts", counts.iter().sum::<usize>(), counts.len());
    }
    counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn subtitle(chosen: usize, shown: usize, items: usize) -> String {
    let named = if chosen <= MOST_LABELS { " and named by index" } else { "" };
    let some = if shown < items { format!("; {shown} of all items are shown") } else { String::new() };
    format!("the first sample: {chosen} chosen items, outlined{named}{some}")
}

fn shorten(name: &str) -> String {
    if name.chars().count() <= MOST_TEXT {
        return name.to_owned();
    }
    name.chars().take(MOST_TEXT).chain(['…']).collect()
}
