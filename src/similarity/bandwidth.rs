//! The bandwidth of a Gaussian kernel.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::rows::RowReader;
use crate::{Error, Features, Result, error::KernelProblem, linalg::kernels::dot};

/// Pairs of rows whose distances are computed; odd, so that one of them is the median.
const PAIRS: usize = 4095;

/// h, the length scale of a Gaussian kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Bandwidth {
    /// The median distance of 4095 pairs of different items, the same for the same features.
    ///
    /// [`Error::Kernel`] if it is zero, as where most rows are equal.
    #[default]
    Median,
    /// This number.
    ///
    /// [`Error::NotPositive`] unless it is positive and finite.
    Exactly(f64),
}

impl Bandwidth {
    /// h for these features.
    ///
    /// # Errors
    /// As the variants say.
    pub fn of(self, features: &Features<'_>) -> Result<f64> {
        match self {
            Bandwidth::Exactly(h) if h > 0.0 && h.is_finite() => Ok(h),
            Bandwidth::Exactly(value) => Err(Error::NotPositive { what: "the bandwidth", value }),
            Bandwidth::Median => median_distance(features),
        }
    }
}

fn median_distance(features: &Features<'_>) -> Result<f64> {
    let (items, dims) = (features.items(), features.dims());
    let rows = RowReader::centred(features);
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let (mut x, mut y) = (vec![0.0; dims], vec![0.0; dims]);
    let mut squares: Vec<f64> = Vec::new();
    let pairs = if items > 1 { PAIRS } else { 0 };
    for _ in 0..pairs {
        let first = rng.random_range(0..items);
        let second = (first + rng.random_range(1..items)) % items;
        rows.read(first, &mut x);
        rows.read(second, &mut y);
        x.iter_mut().zip(&y).for_each(|(x, y)| *x -= y);
        squares.push(dot(&x, &x));
    }
    squares.sort_unstable_by(f64::total_cmp);
    let median = squares.get(PAIRS / 2).copied().unwrap_or_default().sqrt() / rows.scale();
    if median > 0.0 && median.is_finite() {
        return Ok(median);
    }
    Err(KernelProblem::NoMedianDistance { pairs: squares.len(), median }.into())
}
