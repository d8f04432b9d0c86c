//! The quantities recorded for every draw, for diagnostics.

use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::basis::Basis;
use crate::linalg::kernels::dot;

/// ln det, and two numbers per part.
#[derive(Debug)]
pub(super) struct Observables {
    /// The slots of each group.
    slots: Vec<Range<usize>>,
    /// One direction for all runs, with standard normal entries.
    direction: Vec<f64>,
}

impl Observables {
    pub(super) fn new(counts: &[usize], dims: usize) -> Self {
        let mut end = 0;
        let slots = counts.iter().map(|count| {
            end += count;
            end - count..end
        });
        let slots = slots.collect();
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let direction = (0..dims).map(|_| {
            // Box and Muller. These numbers affect automatic thinning, and therefore the draws of a seed.
            let (radius, angle): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
            (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
        });
        Self { slots, direction: direction.collect() }
    }

    /// The number of values recorded per draw.
    pub(super) fn len(&self) -> usize {
        1 + 2 * self.slots.len()
    }

    /// Appends ln det, then the log-volume and the direction of every part.
    pub(super) fn record(&self, basis: &Basis, out: &mut Vec<f64>) {
        out.push(basis.log_determinant());
        for slots in &self.slots {
            out.push(basis.log_volume_beyond_others(slots.clone()));
            out.push(
                slots.clone().map(|slot| self.cosine(basis.row(slot))).sum::<f64>() / slots.len() as f64,
            );
        }
    }

    /// (a·g)²/‖a‖²: 1 on average over all directions.
    fn cosine(&self, row: &[f64]) -> f64 {
        dot(row, &self.direction).powi(2) / dot(row, row)
    }
}
