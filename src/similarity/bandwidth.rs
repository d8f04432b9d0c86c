//! The bandwidth of a Gaussian kernel.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    Error, Features, Result,
    error::KernelProblem,
    linalg::{kernels::dot, power_of_two_near},
};

/// The number of pairs of rows whose distances are computed; odd, so that one of them is the median.
const PAIRS: usize = 4095;

/// h, the length scale of a Gaussian kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Bandwidth {
    /// The median distance of 4095 pairs of different items, always the same for the same features.
    ///
    /// [`Error::Kernel`] if it is zero, for example if most rows are equal.
    #[default]
    Median,
    /// This number.
    ///
    /// [`Error::NotPositive`] unless it is positive and finite.
    Exactly(f64),
}

impl Bandwidth {
    /// Computes h for these features.
    ///
    /// # Errors
    /// The errors stated by the variants.
    pub fn of(self, features: &Features) -> Result<f64> {
        match self {
            Bandwidth::Exactly(h) if h > 0.0 && h.is_finite() => Ok(h),
            Bandwidth::Exactly(value) => Err(Error::NotPositive { what: "the bandwidth", value }),
            Bandwidth::Median => median_distance(features),
        }
    }
}

fn median_distance(features: &Features) -> Result<f64> {
    let (items, dims) = (features.items(), features.dims());
    let scale = power_of_two_near(features.max_abs()).recip();
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let (mut x, mut y) = (vec![0.0; dims], vec![0.0; dims]);
    let mut distances: Vec<f64> = Vec::new();
    let pairs = if items > 1 { PAIRS } else { 0 };
    for _ in 0..pairs {
        let first = rng.random_range(0..items);
        let second = (first + rng.random_range(1..items)) % items;
        features.read_row(first, scale, &mut x);
        features.read_row(second, scale, &mut y);
        x.iter_mut().zip(&y).for_each(|(x, y)| *x -= y);
        distances.push(length(&mut x));
    }
    distances.sort_unstable_by(f64::total_cmp);
    let median = distances.get(PAIRS / 2).copied().unwrap_or_default() / scale;
    if median > 0.0 && median.is_finite() {
        return Ok(median);
    }
    Err(KernelProblem::NoMedianDistance { pairs: distances.len(), median }.into())
}

/// Returns ‖x‖, even if x² underflows; scales x.
fn length(x: &mut [f64]) -> f64 {
    let unit = power_of_two_near(x.iter().fold(0.0, |most, x| f64::max(most, x.abs())));
    x.iter_mut().for_each(|x| *x /= unit);
    dot(x, x).sqrt() * unit
}
