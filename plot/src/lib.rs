//! Plots of determinantal point processes, as .png and .svg.
//!
//! The command line `pdpp` and the reproduction of the paper, `pdpp-reproduce`, share this crate. It takes data of
//! `partition-dpp` and returns bytes; it does not read or write files.

#![forbid(unsafe_code)]

mod axis;
mod bars;
mod chart;
mod palette;
mod pen;
mod picture;
mod subset;
mod triangle;

pub use axis::{Axis, Scale};
pub use bars::{BarChart, Bars};
pub use chart::{Chart, Mark, Point, Series};
pub use picture::{DrawingError, Format, Picture, grey_png, png, svg};
pub use subset::{GroundSet, ImageShape, SubsetPlot};
pub use triangle::Triangle;
