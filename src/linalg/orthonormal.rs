//! Gram–Schmidt with reorthogonalisation: growing a basis row by row.

use faer::{Mat, MatRef};

use super::{
    kernels::{add_scaled, dot, scale},
    power_of_two_near,
};

/// Residuals below this fraction of a row's norm count as zero.
///
/// Rounding leaves about 1e-15. Rows that agree to twelve digits count as equal.
pub(crate) const INDEPENDENCE_TOLERANCE: f64 = 1e-12;

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
        // A space without dimensions has an empty basis.
        self.directions.len().checked_div(self.dims).unwrap_or(0)
    }

    /// The basis as the columns of a matrix, dims×len.
    pub(crate) fn as_matrix(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.directions, self.dims, self.len())
    }

    /// The direction added last.
    pub(crate) fn last(&self) -> &[f64] {
        &self.directions[self.directions.len().saturating_sub(self.dims)..]
    }

    /// The direction with this number, in the order of addition.
    pub(crate) fn direction(&self, number: usize) -> &[f64] {
        &self.directions[number * self.dims..(number + 1) * self.dims]
    }

    /// Removes the direction added last.
    pub(crate) fn drop_last(&mut self) {
        self.directions.truncate(self.directions.len().saturating_sub(self.dims));
    }

    /// Makes `row` a unit vector and returns the logarithm of its norm; `None` for the zero row.
    ///
    /// Independent of scale: entries near the smallest number do not vanish when squared.
    pub(crate) fn normalise(row: &mut [f64]) -> Option<f64> {
        let largest = row.iter().fold(0.0, |max, x| f64::max(max, x.abs()));
        if largest == 0.0 {
            return None;
        }
        // A power of two, so that equal rows of different scale remain equal.
        let power = power_of_two_near(largest);
        scale(row, power.recip());
        let norm = dot(row, row).sqrt();
        scale(row, norm.recip());
        Some(norm.ln() + power.ln())
    }

    /// Removes the components of a unit row along the basis.
    ///
    /// Returns the norm of the residual; `None` if it is zero.
    pub(crate) fn remove_from(&self, unit_row: &mut [f64]) -> Option<f64> {
        self.remove_noting(unit_row, |_| {})
    }

    /// Like `remove_from`, and passes the row's coordinates in the basis to `note`.
    fn remove_noting(&self, unit_row: &mut [f64], mut note: impl FnMut(f64)) -> Option<f64> {
        // Twice is enough (Kahan and Parlett): the second pass removes only rounding.
        for first in [true, false] {
            for direction in self.directions.chunks_exact(self.dims) {
                let along = dot(direction, unit_row);
                add_scaled(unit_row, -along, direction);
                if first {
                    note(along);
                }
            }
        }
        let norm = dot(unit_row, unit_row).sqrt();
        (norm > INDEPENDENCE_TOLERANCE).then_some(norm)
    }

    /// Adds the direction of a unit row's residual, and returns the norm of the residual; `None` if it is zero.
    pub(crate) fn extend(&mut self, unit_row: &[f64]) -> Option<f64> {
        self.extend_noting(unit_row, |_| {})
    }

    /// Like `extend`, and passes the row's coordinates in the previous basis to `note`.
    pub(crate) fn extend_noting(&mut self, unit_row: &[f64], note: impl FnMut(f64)) -> Option<f64> {
        let mut residual = unit_row.to_vec();
        let norm = self.remove_noting(&mut residual, note)?;
        scale(&mut residual, norm.recip());
        self.directions.extend_from_slice(&residual);
        Some(norm)
    }
}

/// Replaces `x` by the unit vector of its component orthogonal to the directions.
///
/// Calls `along` with the number of each direction and the component of `x` along it. Returns the norm of the
/// residual.
pub(crate) fn orthonormalise(x: &mut [f64], directions: &[f64], mut along: impl FnMut(usize, f64)) -> f64 {
    // Twice is enough (Kahan and Parlett).
    for _ in 0..2 {
        for (number, direction) in directions.chunks_exact(x.len()).enumerate() {
            let product = dot(direction, x);
            add_scaled(x, -product, direction);
            along(number, product);
        }
    }
    let norm = dot(x, x).sqrt();
    scale(x, norm.recip());
    norm
}

/// An orthonormal basis of the orthogonal complement of d orthonormal columns, n×(n−d).
pub(crate) fn complement(columns: MatRef<'_, f64>) -> Mat<f64> {
    let (dims, count) = (columns.nrows(), columns.ncols());
    columns.qr().compute_Q().subcols(count, dims - count).to_owned()
}
