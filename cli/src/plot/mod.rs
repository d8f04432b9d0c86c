//! `--plot`: plots in files.

mod subset;

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    str::FromStr,
};

use pdpp_plot::{Format, Picture, png, svg};

pub(crate) use self::subset::{Shown, draw};
use crate::{failure::Failure, whole_file};

/// The file of a plot, and its format.
#[derive(Clone, Debug)]
pub(crate) struct PlotFile {
    path: PathBuf,
    format: Format,
}

impl FromStr for PlotFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let extension = path.extension().map(OsStr::to_ascii_lowercase);
        let format = match extension.as_ref().and_then(|extension| extension.to_str()) {
            Some("png") => Format::Png,
            Some("svg") => Format::Svg,
            _ => return Err("plots are .png or .svg files".into()),
        };
        Ok(Self { path, format })
    }
}

impl PlotFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses a file that cannot be written, before the work begins.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        whole_file::check(&self.path, "the plot")
    }

    /// Draws and writes.
    pub(crate) fn save(&self, picture: &impl Picture) -> Result<(), Failure> {
        let bytes = match self.format {
            Format::Png => png(picture),
            Format::Svg => svg(picture).map(String::into_bytes),
        };
        let bytes = bytes
            .map_err(|reason| Failure::file(&self.path, format!("the plot cannot be written: {reason}")))?;
        whole_file::write(&self.path, "the plot", &bytes)
    }
}
