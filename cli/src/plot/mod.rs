//! `--plot`: the first subset among all items.

mod figure;
mod images;
mod label;
mod palette;
mod pen;
mod projection;
mod scatter;
mod times;

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    str::FromStr,
};

use partition_dpp::Subset;
use plotters::prelude::{BitMapBackend, DrawingBackend, IntoDrawingArea, SVGBackend};
use plotters::style::{FontStyle, register_font};

use crate::{bench::Run, failure::Failure, input::Input, law::Law, whole_file};
use figure::{Area, Drawing, Figure};
use times::Times;

/// Where to write a plot, and in which format.
#[derive(Clone, Debug)]
pub(crate) struct PlotFile {
    path: PathBuf,
    format: PlotFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlotFormat {
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
    pub(crate) fn check_folder(&self) -> Result<(), Failure> {
        whole_file::check_folder(&self.path, "the plot")
    }
}

/// What can be drawn in both formats.
trait Picture {
    /// Width and height.
    fn size(&self) -> (u32, u32);
    /// Draws everything.
    fn draw<B: DrawingBackend>(&self, area: &Area<B>) -> Drawing<B>;
}

/// Draws a subset and writes the picture.
pub(crate) fn draw(file: &PlotFile, input: &Input, law: &Law<'_>, subset: &Subset) -> Result<(), Failure> {
    save(file, &Figure::new(input, law, subset, file.format))
}

/// Draws what a run of benchmarks took and writes the picture.
pub(crate) fn draw_times(file: &PlotFile, run: &Run) -> Result<(), Failure> {
    save(file, &Times::new(run, file.format))
}

fn save(file: &PlotFile, picture: &impl Picture) -> Result<(), Failure> {
    let cannot = |reason: String| Failure::file(&file.path, format!("the plot cannot be written: {reason}"));
    // Compiled in, under the name that viewers of .svg files know.
    if register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular()).is_err() {
        return Err(cannot("the font is damaged".into()));
    }
    let bytes = match file.format {
        PlotFormat::Png => png(picture),
        PlotFormat::Svg => svg(picture),
    };
    whole_file::write(&file.path, &bytes.map_err(cannot)?).map_err(|error| cannot(error.to_string()))
}

fn png(figure: &impl Picture) -> Result<Vec<u8>, String> {
    let (width, height) = figure.size();
    let mut pixels = vec![0; 3 * width as usize * height as usize];
    let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
    figure.draw(&area).map_err(|error| error.to_string())?;
    drop(area);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    writer.write_image_data(&pixels).map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn svg(figure: &impl Picture) -> Result<Vec<u8>, String> {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, figure.size()).into_drawing_area();
    figure.draw(&area).map_err(|error| error.to_string())?;
    drop(area);
    Ok(text.into_bytes())
}
