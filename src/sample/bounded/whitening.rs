//! Coordinates in which determinants are bounded.

use faer::{Mat, Side};

use crate::{
    Error, Result,
    linalg::{eigen, scale_columns},
    polynomial::{sigmoid, spectrum::TiltedSpectrum},
};

/// The matrix B = I + s Σ y_l G_l, in the eigenvectors of the sum.
///
/// ```text
/// v_i = B^-½ a_i = Fᵀ a_i,   F = U diag(β_j)^-½,   β_j = 1 + s c λ_j
/// ```
///
/// With s = 0 the rows stay as they are; the larger s, the more nearly they are whitened.
#[derive(Clone, Debug)]
pub(super) struct Whitening {
    pub(super) strength: f64,
    /// β_j, descending.
    pub(super) beta: Vec<f64>,
    /// Ĝ_l, in the eigenvectors.
    pub(super) grams: Vec<Mat<f64>>,
    /// Eigenvalues of every Ĝ_l, descending.
    pub(super) spectra: Vec<Vec<f64>>,
}

impl Whitening {
    /// `scale` is c.
    pub(super) fn new(found: &TiltedSpectrum, shares: &[Mat<f64>], scale: f64, strength: f64) -> Result<Self> {
        let values = &found.spectrum.values;
        let beta: Vec<f64> = values.iter().map(|value| 1.0 + strength * scale * value).collect();
        let sizes: Vec<f64> = values.iter().zip(&beta).map(|(value, beta)| (value / beta).sqrt()).collect();
        let gram = |share: &Mat<f64>| {
            Mat::from_fn(sizes.len(), sizes.len(), |i, j| sizes[i] * share[(i, j)] * sizes[j])
        };
        let grams: Vec<Mat<f64>> = shares.iter().map(gram).collect();
        let spectra = grams.iter().map(eigenvalues).collect::<Result<_>>()?;
        Ok(Self { strength, beta, grams, spectra })
    }

    /// F, n×r.
    pub(super) fn factor(&self, found: &TiltedSpectrum) -> Mat<f64> {
        let values = &found.spectrum.values;
        let sizes: Vec<f64> =
            values.iter().zip(&self.beta).map(|(value, beta)| (value / beta).sqrt()).collect();
        scale_columns(found.spectrum.whitener().as_ref(), &sizes)
    }

    /// ln Π_{j≤t} β_j for t from 0 to r.
    pub(super) fn log_products(&self) -> Vec<f64> {
        let mut sum = 0.0;
        let next = |beta: &f64| {
            sum += beta.ln();
            sum
        };
        std::iter::once(0.0).chain(self.beta.iter().map(next)).collect()
    }

    /// Dimensions of the rows.
    pub(super) fn rank(&self) -> usize {
        self.beta.len()
    }
}

/// c at which Σ c λ_j / (1 + c λ_j) = k, or a little less where k is the number of values.
pub(super) fn scale_of_size(values: &[f64], k: usize) -> f64 {
    let wanted = (k as f64).min(values.len() as f64 - 0.5);
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let expected = |log: f64| logs.iter().map(|value| sigmoid(value + log)).sum::<f64>();
    let spread = logs.iter().fold(0.0_f64, |most, log| most.max(log.abs()));
    let (mut low, mut high) = (-spread - 60.0, spread + 60.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if expected(middle) < wanted { low = middle } else { high = middle }
    }
    (0.5 * (low + high)).exp()
}

/// Eigenvalues of a positive semidefinite matrix, descending; negative ones, which are rounding, count as zero.
pub(super) fn eigenvalues(matrix: &Mat<f64>) -> Result<Vec<f64>> {
    let size = matrix.nrows();
    let found = match matrix.self_adjoint_eigenvalues(Side::Lower) {
        Ok(ascending) => ascending.into_iter().rev().collect(),
        Err(_) => eigen(matrix.as_ref())?.values,
    };
    if found.iter().any(|value: &f64| !value.is_finite()) {
        return Err(Error::Eigen { size });
    }
    Ok(found.into_iter().map(|value| value.max(0.0)).collect())
}
