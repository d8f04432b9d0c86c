//! Gram–Schmidt with reorthogonalisation: growing a basis row by row.

use super::{
    kernels::{add_scaled, dot, scale},
    power_of_two_near,
};

/// Residuals below this fraction of a row's norm count as zero.
///
/// Rounding leaves about 1e-15; rows that agree to twelve digits are one row for our purposes.
const INDEPENDENCE_TOLERANCE: f64 = 1e-12;

/// An orthonormal basis of the rows added so far.
#[derive(Clone, Debug)]
pub(crate) struct OrthonormalBasis {
    dims: usize,
    directions: Vec<f64>,
}

impl OrthonormalBasis {
    pub(crate) fn new(dims: usize) -> Self {
        Self { dims, directions: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.directions.len() / self.dims
    }

    /// Makes `row` a unit vector; `false` for the zero row. Scale-free: entries near the
    /// smallest number do not vanish when squared.
    pub(crate) fn normalise(row: &mut [f64]) -> bool {
        let largest = row.iter().fold(0.0, |max, x| f64::max(max, x.abs()));
        if largest == 0.0 {
            return false;
        }
        // A power of two, so that equal rows of different scale stay equal.
        scale(row, power_of_two_near(largest).recip());
        scale(row, dot(row, row).sqrt().recip());
        true
    }

    /// Adds the direction that a unit row has beyond the basis; `false` if it has none.
    pub(crate) fn extend(&mut self, unit_row: &[f64]) -> bool {
        let mut residual = unit_row.to_vec();
        // Twice is enough (Kahan and Parlett).
        for _ in 0..2 {
            for direction in self.directions.chunks_exact(self.dims) {
                let along = dot(direction, &residual);
                add_scaled(&mut residual, -along, direction);
            }
        }
        let norm = dot(&residual, &residual).sqrt();
        if norm <= INDEPENDENCE_TOLERANCE {
            return false;
        }
        scale(&mut residual, norm.recip());
        self.directions.extend_from_slice(&residual);
        true
    }
}
