//! A problem by its kernel, and by the inverse of its kernel.

use faer::Mat;

use super::{Problem, spectral_function::Sets};
use crate::{Result, linalg::eigen};

/// Eigenvalues below this fraction of the largest have no inverse worth having.
const INVERTIBLE: f64 = 1e-8;

/// constant + Σ_S w_i + ln det M_S, to be maximised over sets.
#[derive(Clone, Debug)]
pub(super) struct DenseKernel {
    /// M.
    pub(super) matrix: Mat<f64>,
    /// Of M, in spectral norm.
    pub(super) error: f64,
    pub(super) weights: Vec<f64>,
    pub(super) constant: f64,
    pub(super) sets: Sets,
}

impl DenseKernel {
    pub(super) fn of(problem: &Problem) -> Self {
        let matrix = problem.kernel();
        Self {
            error: problem.kernel_error(),
            matrix,
            weights: problem.weights.clone(),
            constant: problem.offset,
            sets: Sets::of(problem),
        }
    }

    /// The same by what is left out; `None` for a kernel that has no good inverse.
    ///
    /// ```text
    /// det K_S = det K · det (K⁻¹)_{S^c}
    /// ```
    pub(super) fn complement(&self) -> Result<Option<Self>> {
        let size = self.matrix.nrows();
        let spectrum = eigen(self.matrix.as_ref())?;
        let (largest, least) = (spectrum.values[0], spectrum.values[size - 1]);
        let error = self.error + size as f64 * f64::EPSILON * largest;
        if !(least > INVERTIBLE * largest && least > 1e3 * error) {
            return Ok(None);
        }
        let halves = Mat::from_fn(size, size, |i, p| spectrum.vectors[(i, p)] / spectrum.values[p].sqrt());
        let log_det: f64 = spectrum.values.iter().map(|value| value.ln()).sum();
        let rounding: f64 = spectrum.values.iter().map(|value| error / (value - error)).sum();
        Ok(Some(Self {
            matrix: &halves * halves.transpose(),
            error: 2.0 * error / (least * least),
            weights: self.weights.iter().map(|weight| -weight).collect(),
            constant: self.constant + self.weights.iter().sum::<f64>() + log_det + rounding,
            sets: match self.sets {
                Sets::OfSize(k) => Sets::OfSize(size - k),
                Sets::OfAnySize => Sets::OfAnySize,
            },
        }))
    }
}

impl DenseKernel {
    /// ψ as known, or else a guess: a share of what every item has beyond all others.
    pub(super) fn scaling_or_guess(&self, known: &[f64]) -> Result<Vec<f64>> {
        const SHARE: f64 = 0.6;
        if !known.is_empty() {
            return Ok(known.to_vec());
        }
        let size = self.matrix.nrows();
        let spectrum = eigen(self.matrix.as_ref())?;
        let floor = 1e-10 * spectrum.values[0] + self.error;
        let beyond = |i: usize| -> f64 {
            (0..size).map(|p| spectrum.vectors[(i, p)].powi(2) / spectrum.values[p].max(floor)).sum()
        };
        Ok((0..size).map(|i| (SHARE / beyond(i)).ln()).collect())
    }
}
