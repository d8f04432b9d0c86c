//! `--plot`: a subset among all items.

mod axis;
mod bars;
mod chart;
mod figure;
mod images;
mod label;
mod palette;
mod pen;
mod projection;
mod scatter;
#[cfg(feature = "gpu")]
mod times;
mod triangle;

use std::{
    ffi::OsStr,
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use partition_dpp::{Algorithm, Exactness, Subset};
use plotters::prelude::{BitMapBackend, DrawingBackend, IntoDrawingArea, SVGBackend};
use plotters::style::{FontStyle, register_font};

#[cfg(feature = "gpu")]
use crate::bench::Run;
use crate::{failure::Failure, input::Input, law::Law, whole_file};
pub(crate) use axis::Axis;
pub(crate) use bars::{BarChart, Bars};
pub(crate) use chart::{Chart, Mark, Point, Series};
use figure::{Area, Drawing, Figure};
pub(crate) use triangle::Triangle;

/// Where to write a plot, and in which format.
#[derive(Clone, Debug)]
pub(crate) struct PlotFile {
    path: PathBuf,
    format: PlotFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlotFormat {
    Png,
    Svg,
}

impl FromStr for PlotFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let extension = path.extension().map(OsStr::to_ascii_lowercase);
        let format = match extension.as_ref().and_then(|extension| extension.to_str()) {
            Some("png") => PlotFormat::Png,
            Some("svg") => PlotFormat::Svg,
            _ => return Err("plots are .png or .svg files".into()),
        };
        Ok(Self { path, format })
    }
}

impl PlotFile {
    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses, before anything is computed, a file that could not be written in the end.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        whole_file::check(&self.path, "the plot")
    }
}

/// What can be drawn in both formats.
pub(crate) trait Picture {
    /// Width and height.
    fn size(&self) -> (u32, u32);
    /// Draws everything.
    fn draw<B: DrawingBackend>(&self, area: &Area<B>, format: PlotFormat) -> Drawing<B>;
}

/// What the subset of a plot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The first of some samples from the law.
    FirstSample,
    /// The first of some samples that come near the law.
    FirstApproximateSample,
    /// The most diverse set that was found.
    BestFound,
}

impl From<Algorithm> for Shown {
    fn from(algorithm: Algorithm) -> Self {
        match algorithm.exactness() {
            Exactness::Exact => Shown::FirstSample,
            _ => Shown::FirstApproximateSample,
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Shown::FirstSample => "the first sample",
            Shown::FirstApproximateSample => "the first sample, approximate",
            Shown::BestFound => "the best set found",
        })
    }
}

/// Draws a subset and writes the picture.
pub(crate) fn draw(
    file: &PlotFile,
    input: &Input,
    law: &Law<'_>,
    subset: &Subset,
    shown: Shown,
) -> Result<(), Failure> {
    save(file, &Figure::new(input, law, subset, shown))
}

/// Draws what a run of benchmarks took and writes the picture.
#[cfg(feature = "gpu")]
pub(crate) fn draw_times(file: &PlotFile, run: &Run) -> Result<(), Failure> {
    save(file, &times::chart(run))
}

fn save(file: &PlotFile, picture: &impl Picture) -> Result<(), Failure> {
    let cannot = |reason: String| Failure::file(&file.path, format!("the plot cannot be written: {reason}"));
    let bytes = match file.format {
        PlotFormat::Png => png(picture),
        PlotFormat::Svg => svg_text(picture).map(String::into_bytes),
    };
    whole_file::write(&file.path, "the plot", &bytes.map_err(cannot)?)
}

/// Lettering comes with the program, under the name that viewers of .svg files know.
fn load_font() -> Result<(), String> {
    register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular())
        .map_err(|_| "the font is damaged".into())
}

/// A grey image as .png: brightness from 0 to 1, row by row; width and height.
pub(crate) fn grey_png(pixels: &[f64], (width, height): (usize, usize)) -> Result<Vec<u8>, String> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=255")]
    let levels: Vec<u8> = pixels.iter().map(|x| (255.0 * x).clamp(0.0, 255.0).round() as u8).collect();
    let side = |pixels: usize| u32::try_from(pixels).map_err(|error| error.to_string());
    encode(&levels, (side(width)?, side(height)?), png::ColorType::Grayscale)
}

fn encode(pixels: &[u8], (width, height): (u32, u32), colour: png::ColorType) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    writer.write_image_data(pixels).map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// The picture as the text of an .svg file.
pub(crate) fn svg_text(picture: &impl Picture) -> Result<String, String> {
    load_font()?;
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, picture.size()).into_drawing_area();
    picture.draw(&area, PlotFormat::Svg).map_err(|error| error.to_string())?;
    drop(area);
    Ok(text)
}

fn png(figure: &impl Picture) -> Result<Vec<u8>, String> {
    load_font()?;
    let (width, height) = figure.size();
    let mut pixels = vec![0; 3 * width as usize * height as usize];
    let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
    figure.draw(&area, PlotFormat::Png).map_err(|error| error.to_string())?;
    drop(area);
    encode(&pixels, (width, height), png::ColorType::Rgb)
}
