//! The span of the items picked so far.

use faer::{Accum, Mat, MatMut, MatRef, Par, linalg::matmul::matmul};

use super::kernels::{dot, scale, subtract_product, transposed_product};

/// An orthonormal basis that grows by Gram–Schmidt.
///
/// ‖P v‖² is computed as ‖v‖² − ‖Qᵀ v‖², with an error of about ε‖v‖². Proposals are accepted with probability ‖P v‖²
/// / h for an h ≥ ‖v‖², so rows that suffer from cancellation are mostly rejected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Span {
    /// Q, column-major.
    directions: Vec<f64>,
    along: Vec<f64>,
    size: usize,
}

/// Below this fraction of ‖v‖² a residual is orthogonalised again.
const AGAIN: f64 = 0.1;

impl Span {
    pub(crate) fn clear(&mut self) {
        self.directions.clear();
        self.size = 0;
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Keeps only the first `size` directions.
    pub(crate) fn truncate(&mut self, size: usize, dims: usize) {
        self.directions.truncate(size * dims);
        self.size = size;
    }

    /// Q, column-major.
    pub(crate) fn directions(&self) -> &[f64] {
        &self.directions
    }

    /// ‖P v‖², the squared distance of a row from the span, clamped to 0 against rounding.
    #[inline]
    pub(crate) fn distance(&mut self, row: &[f64]) -> f64 {
        let square = dot(row, row);
        if self.size == 0 {
            return square;
        }
        self.along.resize(self.size, 0.0);
        (square - transposed_product(&self.directions, row, &mut self.along)).max(0.0)
    }

    /// Adds the direction P v / ‖P v‖ of a unit row, leaves it in the row, and returns ‖P v‖.
    ///
    /// Returns `None` if ‖P v‖ is at most `least`.
    pub(crate) fn add(&mut self, row: &mut [f64], least: f64) -> Option<f64> {
        let left = self.project(row);
        if left <= least {
            return None;
        }
        scale(row, left.recip());
        self.directions.extend_from_slice(row);
        self.size += 1;
        Some(left)
    }

    /// Replaces a row v by P v, and returns ‖P v‖.
    pub(crate) fn project(&mut self, row: &mut [f64]) -> f64 {
        if self.size > 0 {
            self.along.resize(self.size, 0.0);
            // Twice is enough (Kahan and Parlett).
            for _ in 0..2 {
                transposed_product(&self.directions, row, &mut self.along);
                subtract_product(row, &self.directions, &self.along);
            }
        }
        dot(row, row).sqrt()
    }

    /// Adds the direction of a row whose [`distance`](Self::distance) was computed last.
    pub(crate) fn extend(&mut self, row: &[f64], distance: f64) {
        let start = self.directions.len();
        self.directions.extend_from_slice(row);
        let (before, new) = self.directions.split_at_mut(start);
        if self.size > 0 {
            subtract_product(new, before, &self.along);
            if distance < AGAIN * dot(row, row) {
                transposed_product(before, new, &mut self.along);
                subtract_product(new, before, &self.along);
            }
        }
        scale(new, dot(new, new).sqrt().recip());
        self.size += 1;
    }

    /// Adds the directions of some rows, stored one after another, given Qᵀ v of each.
    pub(crate) fn extend_by(&mut self, rows: &[f64], dims: usize, along: &mut Mat<f64>) {
        let (size, more) = (self.size, along.ncols());
        let start = self.directions.len();
        self.directions.extend_from_slice(rows);
        self.size += more;
        let (before, new) = self.directions.split_at_mut(start);
        let before = MatRef::from_column_major_slice(before, dims, size);
        let project = |new: &mut [f64], along: &Mat<f64>| {
            let new = MatMut::from_column_major_slice_mut(new, dims, more);
            matmul(new, Accum::Add, before, along, -1.0, Par::Seq);
        };
        project(new, along);
        let left = orthogonalise(new, dims).into_iter().zip(rows.chunks_exact(dims));
        if left.into_iter().any(|(left, row)| left < AGAIN * dot(row, row)) {
            let again = MatRef::from_column_major_slice(&*new, dims, more);
            matmul(&mut *along, Accum::Replace, before.transpose(), again, 1.0, Par::Seq);
            project(new, along);
            orthogonalise(new, dims);
        }
    }
}

/// Makes columns orthonormal, in order, and returns ‖P v‖² of each, where P projects off the columns before it.
///
/// From a column without length on, all values are NaN.
fn orthogonalise(columns: &mut [f64], dims: usize) -> Vec<f64> {
    let count = columns.len() / dims.max(1);
    let mut along = vec![0.0; count];
    let orthogonalised = |size: usize| {
        let (before, rest) = columns.split_at_mut(size * dims);
        let (new, along) = (&mut rest[..dims], &mut along[..size]);
        let mut left = dot(new, new);
        for _ in 0..2 {
            let whole = left;
            if size > 0 {
                transposed_product(before, new, along);
                subtract_product(new, before, along);
                left = dot(new, new);
            }
            if left >= AGAIN * whole {
                break;
            }
        }
        scale(new, left.sqrt().recip());
        left
    };
    (0..count).map(orthogonalised).collect()
}

/// ln of the squared volume of some columns, which it orthogonalises.
///
/// The error grows with the condition of the columns. Inner products would square it.
pub(crate) fn log_volume(columns: &mut [f64], dims: usize) -> f64 {
    let log = orthogonalise(columns, dims).into_iter().map(f64::ln).sum::<f64>();
    if log.is_nan() { f64::NEG_INFINITY } else { log }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The squared volume of B^½ Q, for a rotation Q, is det B at any condition of B.
    #[test]
    fn volumes_of_any_condition() {
        for large in [1.0_f64, 1e8, 1e16] {
            let (sine, cosine) = 0.7_f64.sin_cos();
            let root = large.sqrt();
            let mut columns = vec![root * cosine, sine, -root * sine, cosine];
            let log = log_volume(&mut columns, 2);
            assert!((log - large.ln()).abs() < 1e-15 * root + 1e-14, "{large:e}: {log}");
        }
        assert!(log_volume(&mut [1.0, 0.0, 0.0, 0.0], 2).is_infinite());
    }
}
