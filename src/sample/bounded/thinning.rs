//! Whitening along a few heavy directions.

use faer::{Mat, MatRef, Side};

use super::span::Span;
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
        let (q, size) = (self.beta.len(), span.size());
        let span = span.directions().chunks_exact(self.dims);
        let columns = self.directions.chunks_exact(self.dims).zip(&self.beta);
        let scaled: Vec<Vec<f64>> = columns
            .map(|(u, beta)| span.clone().map(|direction| (beta - 1.0).sqrt() * dot(u, direction)).collect())
            .collect();
        // The smaller of the two products.
        let product = if q <= size {
            Mat::from_fn(q, q, |i, j| dot(&scaled[i], &scaled[j]) + f64::from(u8::from(i == j)))
        } else {
            let sum = |i: usize, j: usize| scaled.iter().map(|row| row[i] * row[j]).sum::<f64>();
            Mat::from_fn(size, size, |i, j| sum(i, j) + f64::from(u8::from(i == j)))
        };
        let Ok(factor) = product.llt(Side::Lower) else { return f64::NEG_INFINITY };
        (0..product.nrows()).map(|j| 2.0 * factor.L()[(j, j)].ln()).sum()
    }
}

/// β_j = max(1, λ_j / λ_q) for eigenvalues in descending order, counted from zero: the q largest shrink to the next.
pub(super) fn clipped(values: &[f64], q: usize) -> Vec<f64> {
    let Some(&next) = values.get(q) else { return vec![1.0; values.len()] };
    values.iter().map(|value| if next > 0.0 { (value / next).max(1.0) } else { 1.0 }).collect()
}
