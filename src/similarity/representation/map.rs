//! The map of the rows of one part.

use faer::{Accum, Mat, MatMut, MatRef, Par, linalg::matmul::matmul};

use crate::{
    Features, Result,
    linalg::{
        self, Eigen, column,
        kernels::{self, dot},
    },
};

/// Rows of a matrix product: as many as leave it in the cache.
const BLOCK: usize = 256;

/// Rows this much shorter than the map could make them are mapped again, so that rounding does not turn them.
const SHORT: f64 = 1e-3;

/// a ↦ U W Vᵀ a, with V the eigenvectors of a Gram matrix and U = V, or the identity.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    vectors: Mat<f64>,
    into: Mat<f64>,
    /// The diagonal of W, descending.
    weights: Vec<f64>,
    /// V W Uᵀ.
    factor: Mat<f64>,
}

impl Map {
    /// c G^(ρ/2) for a Gram matrix of any scale; the identity for no rows, and rows of zeros.
    pub(crate) fn new(gram: MatRef<'_, f64>, rho: f64) -> Result<Self> {
        let Eigen { values, vectors } = linalg::eigen(gram)?;
        let largest = values.first().copied().unwrap_or_default();
        let weights = if largest > 0.0 { weights(&values, rho) } else { vec![1.0; values.len()] };
        Ok(Self::of(vectors, weights))
    }

    /// From the eigenvectors of a Gram matrix, and what the map multiplies each by.
    pub(crate) fn of(vectors: Mat<f64>, weights: Vec<f64>) -> Self {
        Self::into(vectors.clone(), vectors, weights)
    }

    fn into(vectors: Mat<f64>, into: Mat<f64>, weights: Vec<f64>) -> Self {
        let factor = linalg::scale_columns(vectors.as_ref(), &weights) * into.transpose();
        Self { vectors, into, weights, factor }
    }

    /// The same but for a rotation: in the coordinates of the eigenvectors.
    pub(crate) fn rotated(self) -> Self {
        let dims = self.weights.len();
        Self::into(self.vectors, Mat::identity(dims, dims), self.weights)
    }

    pub(crate) fn vectors(&self) -> MatRef<'_, f64> {
        self.vectors.as_ref()
    }

    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The most that a row becomes longer by.
    pub(super) fn most(&self) -> f64 {
        self.weights[0]
    }

    /// Writes some rows, mapped, to their places among those from one item on. A power of two brings rows near 1.
    pub(super) fn write(
        &self,
        (features, scale): (&Features, f64),
        items: &[u32],
        first: usize,
        out: &mut [f64],
    ) {
        let dims = features.dims();
        let [mut rows, mut images] = [(); 2].map(|()| vec![0.0; BLOCK.min(items.len()) * dims]);
        for items in items.chunks(BLOCK) {
            let (rows, images) = (&mut rows[..items.len() * dims], &mut images[..items.len() * dims]);
            for (&item, row) in items.iter().zip(rows.chunks_exact_mut(dims)) {
                features.read_stored(item as usize, scale, row);
            }
            let block = MatRef::from_column_major_slice(rows, dims, items.len());
            let mapped = MatMut::from_column_major_slice_mut(images, dims, items.len());
            matmul(mapped, Accum::Replace, self.factor.transpose(), block, 1.0, Par::Seq);
            for ((&item, row), image) in items.iter().zip(rows.chunks(dims)).zip(images.chunks_mut(dims)) {
                if dot(image, image) < (SHORT * self.most()).powi(2) * dot(row, row) {
                    self.apply(row, image);
                }
                let place = (item as usize - first) * dims;
                let scaled = image.iter().map(|value| value / scale);
                out[place..place + dims].iter_mut().zip(scaled).for_each(|(out, value)| *out = value);
            }
        }
    }

    /// One row, in the coordinates of eigenvectors, where what is small keeps its digits.
    fn apply(&self, row: &[f64], image: &mut [f64]) {
        image.fill(0.0);
        for (j, weight) in self.weights.iter().enumerate() {
            let along = dot(column(self.vectors.as_ref(), j), row);
            kernels::add_scaled(image, weight * along, column(self.into.as_ref(), j));
        }
    }
}

/// c (λ / λ_1)^(ρ/2) of eigenvalues λ, descending, such that Σ λ stays.
fn weights(values: &[f64], rho: f64) -> Vec<f64> {
    // What is less is rounding of the largest.
    let least = values.len() as f64 * f64::EPSILON;
    let powers: Vec<f64> =
        values.iter().map(|value| (value / values[0]).max(least).powf(rho / 2.0)).collect();
    let before: f64 = values.iter().map(|value| value.max(0.0)).sum();
    let after: f64 = values.iter().zip(&powers).map(|(value, power)| value.max(0.0) * power * power).sum();
    let factor = (before / after).sqrt();
    powers.into_iter().map(|power| factor * power).collect()
}
