//! A subproblem given by its kernel or by the inverse of its kernel.

use faer::Mat;

use super::{Subproblem, spectral_function::Sets};
use crate::{
    Result,
    linalg::eigen,
    map::rounding::{of_eigenvalues, of_eigenvectors, of_sum, of_value},
};

/// Kernels with eigenvalues below this fraction of the largest are not inverted.
const INVERTIBLE: f64 = 1e-8;

/// constant + Σ_S w_i + ln det M_S, to be maximised over sets.
#[derive(Clone, Debug)]
pub(super) struct DenseKernel {
    /// The matrix M.
    pub(super) matrix: Mat<f64>,
    /// The ℓ of the error bound of M_ij: ℓ_i e_j + e_i ℓ_j + e_i e_j plus an entry of a matrix of norm `error`.
    pub(super) lengths: Vec<f64>,
    /// The e of the error bound.
    pub(super) errors: Vec<f64>,
    /// The spectral norm of a further error matrix.
    pub(super) error: f64,
    pub(super) weights: Vec<f64>,
    pub(super) constant: f64,
    pub(super) sets: Sets,
}

impl DenseKernel {
    pub(super) fn of(problem: &Subproblem) -> Self {
        let lengths: Vec<f64> = (0..problem.len()).map(|item| problem.length(item)).collect();
        let product = of_sum(problem.dims);
        let error = |item: usize| problem.errors[item] + product * lengths[item];
        Self {
            matrix: problem.kernel(),
            errors: (0..problem.len()).map(error).collect(),
            lengths,
            error: 0.0,
            weights: problem.weights.clone(),
            constant: problem.offset,
            sets: Sets::of(problem),
        }
    }

    /// The error of F M F in spectral norm, for the diagonal matrix F of these factors.
    pub(super) fn error_scaled(&self, factors: &[f64]) -> f64 {
        let norm = |values: &[f64]| {
            values.iter().zip(factors).map(|(x, factor)| (x * factor).powi(2)).sum::<f64>().sqrt()
        };
        let length = norm(&self.lengths);
        // The factors are also rounded.
        let error = norm(&self.errors) + of_value(2.0 * length);
        let largest = factors.iter().copied().fold(0.0, f64::max);
        (2.0 * length + error) * error + largest * largest * self.error
    }

    /// The problem in terms of the items left out; `None` for a kernel without an accurate inverse.
    ///
    /// ```text
    /// det K_S = det K · det (K⁻¹)_{S^c},   K⁻¹ ⪯ U (Λ − ε I)⁻¹ Uᵀ where ‖K − U Λ Uᵀ‖ ≤ ε
    /// ```
    pub(super) fn complement(&self) -> Result<Option<Self>> {
        let size = self.matrix.nrows();
        let spectrum = eigen(self.matrix.as_ref())?;
        let (largest, least) = (spectrum.values[0], spectrum.values[size - 1]);
        let error = self.error_scaled(&vec![1.0; size]) + of_eigenvalues(size) * largest;
        if !(least > INVERTIBLE * largest && least > 1e3 * error) {
            return Ok(None);
        }
        let roots: Vec<f64> = spectrum.values.iter().map(|value| (value - error).sqrt()).collect();
        let halves = Mat::from_fn(size, size, |i, p| spectrum.vectors[(i, p)] / roots[p]);
        let matrix = &halves * halves.transpose();
        let lengths: Vec<f64> = (0..size).map(|i| matrix[(i, i)].sqrt()).collect();
        let product = of_sum(size);
        let logarithms = spectrum.values.iter().map(|value| (value + error).ln());
        let terms: Vec<f64> = logarithms.chain(self.weights.iter().copied()).collect();
        let rounding = of_sum(2 * size + 8) * terms.iter().map(|term| term.abs()).sum::<f64>();
        Ok(Some(Self {
            matrix,
            errors: lengths.iter().map(|length| product * length).collect(),
            lengths,
            error: of_eigenvectors(size) / (least - error),
            weights: self.weights.iter().map(|weight| -weight).collect(),
            constant: self.constant + of_value(self.constant) + terms.iter().sum::<f64>() + rounding,
            sets: match self.sets {
                Sets::OfSize(k) => Sets::OfSize(size - k),
                Sets::OfAnySize => Sets::OfAnySize,
            },
        }))
    }
}

impl DenseKernel {
    /// The known ψ, or a guess: a share of the squared residual of every item beyond all others.
    pub(super) fn scaling_or_guess(&self, known: &[f64]) -> Result<Vec<f64>> {
        const SHARE: f64 = 0.6;
        if !known.is_empty() {
            return Ok(known.to_vec());
        }
        let size = self.matrix.nrows();
        let spectrum = eigen(self.matrix.as_ref())?;
        let floor = 1e-10 * spectrum.values[0] + self.error_scaled(&vec![1.0; size]);
        let beyond = |i: usize| -> f64 {
            (0..size).map(|p| spectrum.vectors[(i, p)].powi(2) / spectrum.values[p].max(floor)).sum()
        };
        Ok((0..size).map(|i| (SHARE / beyond(i)).ln()).collect())
    }
}
