//! Plots of determinantal point processes, as .png and .svg.
//!
//! A crate of its own because both the command line `pdpp` and the reproduction of the paper (`pdpp-reproduce`) draw, and
//! neither should depend on the other for it. It takes data of `partition-dpp` and returns bytes; nothing here reads or
//! writes files.

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
