//! Text, at the same position in both formats.

use plotters::{
    prelude::{DrawingAreaErrorKind, DrawingBackend, Text},
    style::{IntoFont, TextStyle},
};

use super::{
    palette::INK,
    picture::{Area, Drawing, Format},
};

/// Writes text with capitals centred in a box as high as the font size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pen {
    /// The upward shift of plotters' text as a share of the size, which differs between bitmaps and vectors.
    drop: f64,
}

impl Pen {
    /// Creates a pen for a format.
    pub(crate) fn of(format: Format) -> Self {
        Self {
            drop: match format {
                Format::Png => 0.31,
                Format::Svg => 0.18,
            },
        }
    }

    /// Writes a line into the box with this top left corner.
    pub(crate) fn write<B: DrawingBackend>(
        self,
        area: &Area<B>,
        line: &str,
        (left, top): (i32, i32),
        size: i32,
    ) -> Drawing<B> {
        #[expect(clippy::cast_possible_truncation, reason = "a fraction of a font size")]
        let drop = (self.drop * f64::from(size)).round() as i32;
        area.draw(&Text::new(line, (left, top + drop), text(size)))
    }
}

/// The height of the title and subtitle, and their margin.
pub(crate) const HEAD: i32 = 110;
pub(crate) const MARGIN: i32 = 40;

impl Pen {
    /// Writes title and subtitle, and returns the area below them.
    pub(crate) fn write_head<B: DrawingBackend>(
        self,
        area: &Area<B>,
        title: &str,
        subtitle: &str,
    ) -> Result<Area<B>, DrawingAreaErrorKind<B::ErrorType>> {
        self.write(area, title, (MARGIN, 16), 38)?;
        self.write(area, subtitle, (MARGIN, 68), 26)?;
        Ok(area.split_vertically(HEAD).1)
    }
}

pub(crate) fn text(size: i32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

/// Returns the width in pixels, estimated if the font cannot measure it.
pub(crate) fn width_of<B: DrawingBackend>(area: &Area<B>, line: &str, size: i32) -> i32 {
    let guess = || i32::try_from(line.chars().count()).unwrap_or(i32::MAX / size).saturating_mul(size);
    area.estimate_text_size(line, &text(size)).map_or_else(|_| guess(), |(width, _)| width.cast_signed())
}
