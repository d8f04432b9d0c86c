//! The linx relaxation.

use faer::{
    Accum, Mat, Par, Side,
    linalg::matmul::triangular::{self, BlockStructure},
};

use super::{
    choice::Choices,
    dense::DenseKernel,
    descent::Descent,
    gamma::lower_product,
    interior_point::{Bounded, is_over, maximise},
    relaxation::{Linearised, Majorant, Relaxation},
};
use crate::{
    Error, Result,
    linalg::inverse_of_lower,
    map::rounding::{of_sum, of_value},
    model::Counts,
};

/// Linx of a kernel, any positive semidefinite one.
///
/// ```text
/// f(x) = Σ w_i x_i + ½ (ln det(γ K diag(x) K + I − diag(x)) − ln γ Σ x_i)
/// ```
///
/// At x = 1_S the determinant is γ^|S| det(K_S)², for any γ > 0.
///
/// # Cost
/// O(m³).
///
/// # Numerics
/// A bound follows from any positive definite N (ln det F ≤ tr N F − m − ln det N):
///
/// ```text
/// 2 ln det K_S + |S| ln γ  ≤  Σ_{i∈S} γ (K N K)_ii + Σ_{i∉S} N_ii − m − ln det N
/// ```
///
/// for any N, and with γ_i and ν_i of every item in place of γ and 1 as well: F = K diag(γ∘x) K + diag(ν∘(1 − x)) has the
/// determinant Π_S γ_i Π_{i∉S} ν_i det(K_S)² at x = 1_S. The best for N, γ_i = 1/(K N K)_ii and ν_i = 1/N_ii, leave
///
/// ```text
/// 2 ln det K_S  ≤  Σ_{i∈S} ln (K N K)_ii + Σ_{i∉S} ln N_ii − ln det N
/// ```
///
/// N = Gᵀ G nearly inverts F, where G is the computed inverse of its Cholesky factor: ln det N = 2 Σ ln G_ii is accurate
/// however badly conditioned F is, and (K N K)_ii = |G K e_i|² is raised by the errors of K, entry by entry.
///
/// # Source
/// Anstreicher, *Efficient solution of maximum-entropy sampling problems* (2020); γ_i and ν_i: Chen, Fampa and Lee,
/// *Generalized scaling for the constrained maximum-entropy sampling problem* (2024), and arXiv 2604.10363. That the best are
/// known for every N is this library's.
#[derive(Clone, Debug)]
pub(super) struct Linx<'a> {
    kernel: &'a DenseKernel,
    /// √γ.
    root: f64,
    /// √γ K.
    matrix: Mat<f64>,
    linear: Vec<f64>,
}

/// The result of an evaluation.
#[derive(Clone, Debug)]
pub(super) struct LinxPoint {
    value: Linearised,
    /// An upper bound of −ln det N for N = F⁻¹.
    log_det: f64,
    /// ‖G e_i‖.
    columns: Vec<f64>,
    /// F⁻¹ for F = γ K diag(x) K + I − diag(x).
    pub(super) inverse: Mat<f64>,
    /// √γ F⁻¹ K.
    half: Mat<f64>,
    /// γ K F⁻¹ K.
    pub(super) whole: Mat<f64>,
}

impl AsRef<Linearised> for LinxPoint {
    fn as_ref(&self) -> &Linearised {
        &self.value
    }
}

impl<'a> Linx<'a> {
    /// The relaxation with γ = e^ψ.
    pub(super) fn new(kernel: &'a DenseKernel, log_scale: f64) -> Self {
        let size = kernel.matrix.nrows();
        let root = (0.5 * log_scale).exp();
        let matrix = Mat::from_fn(size, size, |i, j| root * kernel.matrix[(i, j)]);
        let linear = kernel.weights.iter().map(|weight| weight - 0.5 * log_scale).collect();
        Self { kernel, root, matrix, linear }
    }

    /// The slope of the bound in ψ, at a maximum x.
    pub(super) fn slope(x: &[f64], point: &LinxPoint) -> f64 {
        (0..x.len()).map(|i| 0.5 * (1.0 - point.inverse[(i, i)]) * (1.0 - x[i])).sum()
    }
}

impl Relaxation for Linx<'_> {
    type Point = LinxPoint;

    fn at(&self, x: &[f64]) -> Result<LinxPoint> {
        let size = x.len();
        let roots: Vec<f64> = x.iter().map(|x| x.sqrt()).collect();
        let weighted = Mat::from_fn(size, size, |i, j| self.matrix[(i, j)] * roots[j]);
        let mut information = Mat::from_fn(size, size, |i, j| if i == j { 1.0 - x[i] } else { 0.0 });
        lower_product(&mut information, weighted.as_ref());
        let factor = information.llt(Side::Lower).map_err(|_| Error::Eigen { size })?;
        let root = inverse_of_lower(factor.L());
        let logarithms: Vec<f64> = (0..size).map(|i| -2.0 * root[(i, i)].ln()).collect();
        let size_of_sum: f64 = logarithms.iter().map(|logarithm| logarithm.abs()).sum();
        let log_det = logarithms.iter().sum::<f64>() + of_sum(size + 4) * size_of_sum;
        let images = lower_times(&root, &self.matrix);
        let mut inverse = Mat::zeros(size, size);
        lower_product(&mut inverse, root.transpose());
        let half = root.transpose() * &images;
        let mut whole = Mat::zeros(size, size);
        lower_product(&mut whole, images.transpose());
        for j in 0..size {
            for i in 0..j {
                (inverse[(i, j)], whole[(i, j)]) = (inverse[(j, i)], whole[(j, i)]);
            }
        }
        let linear: f64 = self.linear.iter().zip(x).map(|(w, x)| w * x).sum();
        let gradient = (0..size).map(|i| self.linear[i] + 0.5 * (whole[(i, i)] - inverse[(i, i)])).collect();
        let value = Linearised { value: self.kernel.constant + linear + 0.5 * log_det, gradient };
        let columns = (0..size).map(|i| inverse[(i, i)].sqrt()).collect();
        Ok(LinxPoint { value, log_det, columns, inverse, half, whole })
    }

    fn majorant(&self, point: &LinxPoint, _: &Counts) -> Majorant {
        let DenseKernel { lengths, errors, constant, error, .. } = self.kernel;
        let (size, product) = (lengths.len(), of_sum(lengths.len()));
        let along = |values: &[f64]| point.columns.iter().zip(values).map(|(g, x)| g * x).sum::<f64>();
        let norm = along(&point.columns).sqrt();
        let (by_length, by_error) = (along(lengths), along(errors));
        // Room for everything that is rounded once.
        let relative = 1.0 + of_sum(2 * size + 16);
        // Of an item left out.
        let kept = |i: usize| 0.5 * (1.0 + point.inverse[(i, i)].ln());
        let slope = |i: usize| {
            // The errors of K e_i, of √γ K, and of G K e_i.
            let unknown = errors[i] + (of_value(2.0) + product) * lengths[i];
            let off = by_length * unknown + by_error * (lengths[i] + unknown) + norm * error;
            let image = (point.whole[(i, i)].sqrt() + self.root * off) * relative;
            let (gained, lost) = (0.5 * (1.0 + 2.0 * image.ln()), kept(i));
            let linear = self.linear[i];
            gained - lost
                + linear
                + 2.0 * (of_value(gained) + of_value(lost) + of_value(linear) + of_value(1.0))
        };
        let all: f64 = (0..size).map(kept).sum();
        let magnitude: f64 = (0..size).map(|i| kept(i).abs() + 1.0).sum();
        let constants = [*constant, all, -0.5 * size as f64, 0.5 * point.log_det];
        let rounding = constants.iter().map(|x| of_value(2.0 * x)).sum::<f64>()
            + size as f64 * (relative * relative - 1.0)
            + of_sum(size + 4) * magnitude;
        let slopes = (0..size).map(slope).collect();
        Majorant { intercept: constants.iter().sum::<f64>() + rounding, slopes }
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

/// L X for a lower triangular L.
pub(super) fn lower_times(lower: &Mat<f64>, matrix: &Mat<f64>) -> Mat<f64> {
    let mut out = Mat::zeros(lower.nrows(), matrix.ncols());
    triangular::matmul(
        &mut out,
        BlockStructure::Rectangular,
        Accum::Replace,
        lower,
        BlockStructure::TriangularLower,
        matrix,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
    out
}

/// The best bound over γ, and ln γ. Starts from a γ for the centre if the given one is NaN. `None` for kernels that are
/// too badly conditioned.
pub(super) fn linx(
    kernel: &DenseKernel,
    choices: &Choices,
    log_scale: f64,
    start: Option<Vec<f64>>,
    descent: Descent,
    enough: &dyn Fn(f64, f64) -> bool,
) -> Option<(Bounded<LinxPoint>, f64)> {
    /// Radii of the search for ln γ: around a known value, and around a guess.
    const NEAR: f64 = 1.0;
    const FAR: f64 = 32.0;
    let mut log_scale = log_scale;
    if log_scale.is_nan() {
        let largest = (0..kernel.matrix.nrows()).map(|i| kernel.matrix[(i, i)]).fold(0.0, f64::max);
        let centre = choices.centre(kernel.matrix.nrows());
        log_scale = stationary(kernel, &centre, -2.0 * largest.ln(), FAR, enough)?;
    }
    let mut best = maximise(&Linx::new(kernel, log_scale), choices, start, enough).ok()?;
    let (mut best_scale, mut last) = (log_scale, (best.x.clone(), best.maximum));
    for _ in 0..descent.steps {
        if best.upper_bound < descent.target || is_over(enough) {
            break;
        }
        log_scale = stationary(kernel, &last.0, log_scale, NEAR, enough)?;
        let mut bounded = maximise(&Linx::new(kernel, log_scale), choices, Some(last.0), enough).ok()?;
        bounded.steps += best.steps;
        let gain = last.1 - bounded.maximum;
        last = (bounded.x.clone(), bounded.maximum);
        if bounded.upper_bound < best.upper_bound {
            (best, best_scale) = (bounded, log_scale);
        } else {
            best.steps = bounded.steps;
        }
        if gain < descent.least_gain(last.1) {
            break;
        }
    }
    Some((best, best_scale))
}

/// ln γ where the slope of f(x) is zero, within `radius` of a guess, by bisection as time allows: the slope grows with γ.
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
