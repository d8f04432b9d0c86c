//! The most diverse sets: greedy, local search, the optimum and bounds.

pub(super) mod debates;
mod solved;
pub(super) mod synthetic;

use self::solved::{Effort, Solved, Spectrum, mean_and_deviation, solve, solve_size};
use crate::plot::{Mark, Point, Series};

/// Gaps below so many powers of ten are drawn there.
const LEAST_GAP: f64 = 1e-4;

/// A line of a picture.
fn series(name: &str, colour: usize, mark: Mark, points: Vec<Point>) -> Series {
    Series { name: Some(name.to_owned()), colour, mark, points }
}
