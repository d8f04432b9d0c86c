//! Whitening along a few heavy directions.

use faer::MatRef;

use super::span::{Span, log_volume};
use crate::linalg::kernels::{dot, subtract_product, transposed_product};

/// B = I + U diag(β − 1) Uᵀ for some orthonormal directions U, and v = B^-½ a, in 4nq operations for q directions.
#[derive(Clone, Debug)]
pub(super) struct Thinning {
    /// U, n×q, column-major.
    directions: Vec<f64>,
    /// β_j, descending.
    beta: Vec<f64>,
    dims: usize,
}

impl Thinning {
    /// Of the directions in the columns of `vectors` with β above 1, which come first.
    pub(super) fn new(vectors: MatRef<'_, f64>, beta: &[f64]) -> Self {
        let heavy = beta.iter().take_while(|&&beta| beta > 1.0).count();
        let directions = (0..heavy).flat_map(|j| (0..vectors.nrows()).map(move |i| vectors[(i, j)]));
        Self { directions: directions.collect(), beta: beta[..heavy].to_vec(), dims: vectors.nrows() }
    }

    /// v from a.
    #[inline]
    pub(super) fn apply(&self, row: &mut [f64], along: &mut Vec<f64>) {
        if self.beta.is_empty() {
            return;
        }
        along.resize(self.beta.len(), 0.0);
        transposed_product(&self.directions, row, along);
        for (along, beta) in along.iter_mut().zip(&self.beta) {
            *along *= 1.0 - beta.sqrt().recip();
        }
        subtract_product(row, &self.directions, along);
    }

    /// ln det(Qᵀ B Q) = ln det(I + (β−1)^½ Uᵀ Q Qᵀ U (β−1)^½).
    pub(super) fn log_det(&self, span: &Span) -> f64 {
        if self.beta.is_empty() || span.size() == 0 {
            return 0.0;
        }
        // W = (β−1)^½ Uᵀ Q: the volume of the columns of W over the identity, or of those of Wᵀ, whichever are fewer.
        let (q, size) = (self.beta.len(), span.size());
        let entry = |i: usize, j: usize| {
            let (u, direction) = (&self.directions[i * self.dims..], &span.directions()[j * self.dims..]);
            (self.beta[i] - 1.0).sqrt() * dot(&u[..self.dims], &direction[..self.dims])
        };
        let (count, other) = (q.min(size), q.max(size));
        let mut columns = vec![0.0; count * (other + count)];
        for (at, column) in columns.chunks_exact_mut(other + count).enumerate() {
            for (with, value) in column[..other].iter_mut().enumerate() {
                *value = if q <= size { entry(at, with) } else { entry(with, at) };
            }
            column[other + at] = 1.0;
        }
        log_volume(&mut columns, other + count)
    }
}

/// β_j = max(1, λ_j / λ_q) for eigenvalues in descending order, counted from zero: the q largest shrink to the next.
pub(super) fn clipped(values: &[f64], q: usize) -> Vec<f64> {
    let Some(&next) = values.get(q) else { return vec![1.0; values.len()] };
    values.iter().map(|value| if next > 0.0 { (value / next).max(1.0) } else { 1.0 }).collect()
}
