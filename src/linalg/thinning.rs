//! Whitening along a few heavy directions.

use faer::MatRef;

use super::{
    kernels::{dot, subtract_product, transposed_product},
    span::{Span, log_volume},
};

/// B = I + U diag(β − 1) Uᵀ for some orthonormal directions U.
///
/// v = B^-½ a takes 4nq operations for q directions.
#[derive(Clone, Debug)]
pub(crate) struct Thinning {
    /// U, n×q, column-major.
    directions: Vec<f64>,
    /// β_j, descending.
    beta: Vec<f64>,
    dims: usize,
}

impl Thinning {
    /// Takes the columns of `vectors` with β above 1, which come first.
    pub(crate) fn new(vectors: MatRef<'_, f64>, beta: &[f64]) -> Self {
        let heavy = beta.iter().take_while(|&&beta| beta > 1.0).count();
        let directions = (0..heavy).flat_map(|j| (0..vectors.nrows()).map(move |i| vectors[(i, j)]));
        Self { directions: directions.collect(), beta: beta[..heavy].to_vec(), dims: vectors.nrows() }
    }

    /// Takes orthonormal directions of this length, one after another, with their β, in any order.
    pub(crate) fn along(directions: &[f64], beta: &[f64], dims: usize) -> Self {
        let mut order: Vec<usize> = (0..beta.len()).filter(|&j| beta[j] > 1.0).collect();
        order.sort_by(|&a, &b| beta[b].total_cmp(&beta[a]));
        let directions = order.iter().flat_map(|&j| &directions[j * dims..(j + 1) * dims]).copied();
        Self { directions: directions.collect(), beta: order.iter().map(|&j| beta[j]).collect(), dims }
    }

    /// β_j, descending.
    pub(crate) fn beta(&self) -> &[f64] {
        &self.beta
    }

    /// Turns a into v.
    #[inline]
    pub(crate) fn apply(&self, row: &mut [f64], along: &mut Vec<f64>) {
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
    pub(crate) fn log_det(&self, span: &Span) -> f64 {
        if self.beta.is_empty() || span.size() == 0 {
            return 0.0;
        }
        // With W = (β−1)^½ Uᵀ Q: the volume of W over the identity, or of Wᵀ over it, whichever has fewer columns.
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
