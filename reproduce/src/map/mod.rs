//! The most diverse sets: greedy, local search, the optimum and bounds.

pub(super) mod debates;
mod solved;
pub(super) mod synthetic;

use pdpp_plot::{Axis, Chart, Mark, Point, Series};

use self::solved::{Effort, Solved, Spectrum, mean_and_deviation, solve, solve_size};

/// The smallest gap drawn, in powers of ten. Smaller ones are drawn at this value.
const LEAST_GAP: f64 = 1e-4;

/// Returns a line of a plot.
fn series(name: &str, colour: usize, mark: Mark, points: Vec<Point>) -> Series {
    Series { name: Some(name.to_owned()), colour, mark, points }
}

/// Returns a chart of the largest possible distance of the optimum from local search, in powers of ten.
///
/// It shows the proven distance and, if it applies, the distance that theorem 4.1 allows.
fn bounds_chart(title: String, subtitle: &str, x: &str, proven: Vec<Point>, allowed: Vec<Point>) -> Chart {
    let drawn = |point: Point| Point { y: point.y.max(LEAST_GAP), ..point };
    let proven = proven.into_iter().map(drawn).collect();
    let mut all = vec![series("at most, proven here", 3, Mark::Discs, proven)];
    if !allowed.is_empty() {
        all.insert(0, series("theorem 4.1 allows", 2, Mark::Dashes, allowed));
    }
    Chart {
        title,
        subtitle: format!("powers of ten above local search, on a logarithmic axis{subtitle}"),
        x: Axis::linear(x),
        y: Axis::logarithmic("powers of ten"),
        series: all,
    }
}
