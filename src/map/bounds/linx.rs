//! The linx relaxation.

use faer::{Mat, Side, linalg::solvers::DenseSolveCore};

use super::{
    choice::Choices,
    dense::DenseKernel,
    descent::Descent,
    gamma::lower_product,
    interior_point::{Bounded, is_over, maximise},
    relaxation::{Linearised, Relaxation},
};
use crate::{Error, Result};

/// Linx of a kernel, any positive semidefinite one.
///
/// ```text
/// f(x) = Σ w_i x_i + ½ (ln det(γ K diag(x) K + I − diag(x)) − ln γ Σ x_i)
/// ```
///
/// At x = 1_S the determinant is γ^|S| det(K_S)², for any γ > 0.
///
/// # Cost
/// A few m³.
///
/// # Source
/// Anstreicher, *Efficient solution of maximum-entropy sampling problems* (2020).
#[derive(Clone, Debug)]
pub(super) struct Linx {
    /// √γ K.
    matrix: Mat<f64>,
    linear: Vec<f64>,
    constant: f64,
    /// Error of γ K diag(x) K.
    error: f64,
}

/// What an evaluation leaves behind.
#[derive(Clone, Debug)]
pub(super) struct LinxPoint {
    value: Linearised,
    /// F⁻¹ for F = γ K diag(x) K + I − diag(x).
    inverse: Mat<f64>,
    /// √γ F⁻¹ K.
    half: Mat<f64>,
    /// γ K F⁻¹ K.
    whole: Mat<f64>,
}

impl AsRef<Linearised> for LinxPoint {
    fn as_ref(&self) -> &Linearised {
        &self.value
    }
}

impl Linx {
    /// With γ = e^ψ.
    pub(super) fn new(kernel: &DenseKernel, log_scale: f64) -> Self {
        let size = kernel.matrix.nrows();
        let root = (0.5 * log_scale).exp();
        let matrix = Mat::from_fn(size, size, |i, j| root * kernel.matrix[(i, j)]);
        let norm = matrix.norm_l2();
        let error = 2.0 * norm * root * kernel.error + size as f64 * f64::EPSILON * (norm * norm + 1.0);
        let linear = kernel.weights.iter().map(|weight| weight - 0.5 * log_scale).collect();
        Self { matrix, linear, constant: kernel.constant, error }
    }

    /// The slope of the bound in ψ, at a maximum x.
    pub(super) fn slope(x: &[f64], point: &LinxPoint) -> f64 {
        (0..x.len()).map(|i| 0.5 * (1.0 - point.inverse[(i, i)]) * (1.0 - x[i])).sum()
    }
}

impl Relaxation for Linx {
    type Point = LinxPoint;

    fn at(&self, x: &[f64]) -> Result<LinxPoint> {
        let size = x.len();
        let roots: Vec<f64> = x.iter().map(|x| x.sqrt()).collect();
        let weighted = Mat::from_fn(size, size, |i, j| self.matrix[(i, j)] * roots[j]);
        let mut information = Mat::from_fn(size, size, |i, j| if i == j { 1.0 - x[i] } else { 0.0 });
        lower_product(&mut information, weighted.as_ref());
        let factor = information.llt(Side::Lower).map_err(|_| Error::Eigen { size })?;
        let log_det: f64 = (0..size).map(|i| 2.0 * factor.L()[(i, i)].ln()).sum();
        let inverse = factor.inverse();
        let half = &inverse * &self.matrix;
        let whole = self.matrix.transpose() * &half;
        let linear: f64 = self.linear.iter().zip(x).map(|(w, x)| w * x).sum();
        let gradient = (0..size).map(|i| self.linear[i] + 0.5 * (whole[(i, i)] - inverse[(i, i)])).collect();
        let trace: f64 = (0..size).map(|i| inverse[(i, i)]).sum();
        let value = Linearised {
            value: self.constant + linear + 0.5 * log_det,
            gradient,
            error: 0.5 * trace * self.error,
        };
        Ok(LinxPoint { value, inverse, half, whole })
    }

    fn curvature(&self, point: &LinxPoint) -> Mat<f64> {
        let LinxPoint { inverse, half, whole, .. } = point;
        let square = |x: f64| x * x;
        Mat::from_fn(half.nrows(), half.nrows(), |i, j| {
            let mixed = square(half[(i, j)]) + square(half[(j, i)]);
            0.5 * (square(whole[(i, j)]) - mixed + square(inverse[(i, j)]))
        })
    }
}

/// The best bound over γ, and ln γ; starts from a γ for the centre where the one given is not a number. `None`
/// for kernels too badly conditioned.
pub(super) fn linx(
    kernel: &DenseKernel,
    choices: &Choices,
    log_scale: f64,
    start: Option<Vec<f64>>,
    descent: Descent,
    enough: &dyn Fn(f64, f64) -> bool,
) -> Option<(Bounded<LinxPoint>, f64)> {
    /// ln γ is looked for this far from where it was.
    const NEAR: f64 = 1.0;
    const FAR: f64 = 32.0;
    let mut log_scale = log_scale;
    if log_scale.is_nan() {
        let largest = (0..kernel.matrix.nrows()).map(|i| kernel.matrix[(i, i)]).fold(0.0, f64::max);
        let centre = choices.centre(kernel.matrix.nrows());
        log_scale = stationary(kernel, &centre, -2.0 * largest.ln(), FAR, enough)?;
    }
    let mut best = maximise(&Linx::new(kernel, log_scale), choices, start, enough).ok()?;
    for _ in 0..descent.steps {
        if best.upper_bound < descent.target || is_over(enough) {
            break;
        }
        let other = stationary(kernel, &best.x, log_scale, NEAR, enough)?;
        let mut bounded = maximise(&Linx::new(kernel, other), choices, Some(best.x.clone()), enough).ok()?;
        bounded.steps += best.steps;
        let gain = best.upper_bound - bounded.upper_bound;
        let least = descent.least_gain(best.upper_bound);
        if gain > 0.0 {
            (best, log_scale) = (bounded, other);
        } else {
            best.steps = bounded.steps;
        }
        if gain < least {
            break;
        }
    }
    Some((best, log_scale))
}

/// ln γ where f(x) has no slope, within `radius` of a guess, as far as there is time: the slope grows with γ.
fn stationary(
    kernel: &DenseKernel,
    x: &[f64],
    guess: f64,
    radius: f64,
    enough: &dyn Fn(f64, f64) -> bool,
) -> Option<f64> {
    const HALVINGS: usize = 10;
    let (mut low, mut high) = (guess - radius, guess + radius);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if is_over(enough) {
            break;
        }
        let point = Linx::new(kernel, middle).at(x).ok()?;
        if Linx::slope(x, &point) > 0.0 { high = middle } else { low = middle }
    }
    Some(0.5 * (low + high))
}
