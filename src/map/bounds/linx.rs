//! The linx relaxation.

use faer::{
    Accum, Mat, Par, Side,
    linalg::matmul::triangular::{self, BlockStructure},
};

use super::{
    choice::Choices,
    dense::DenseKernel,
    descent::Family,
    gamma::lower_product,
    interior_point::is_over,
    relaxation::{Linearised, Majorant, Relaxation},
};
use crate::{
    Error, Result,
    linalg::inverse_of_lower,
    map::rounding::{of_sum, of_value},
    model::Counts,
};

/// Linx of any positive semidefinite kernel, with two scales for every item.
///
/// ```text
/// f(x) = Σ (w_i − ½ ln γ_i + ½ ln ν_i) x_i + ½ ln det F
/// F = M diag(x) Mᵀ + I − diag(x),   M = diag(ν)^{−½} K diag(γ)^{½}
/// ```
///
/// At x = 1_S the determinant is Π_S γ_i/ν_i det(K_S)². The bound is convex in ln γ and ln ν, since
/// ln det Σ_i e^{a_i} A_i is convex in a for positive semidefinite A_i.
///
/// # Cost
/// O(m³).
///
/// # Numerics
/// A bound follows from any positive definite N (ln det F ≤ tr N F − m − ln det N), for any scales. The best scales
/// for N, which divide γ_i by (Mᵀ N M)_ii and ν_i by N_ii, leave
///
/// ```text
/// 2 ln det K_S  ≤  Σ_{i∈S} (ln (Mᵀ N M)_ii − ln γ_i + ln ν_i) + Σ_{i∉S} ln N_ii − ln det N
/// ```
///
/// N = Gᵀ G nearly inverts F, where G is the computed inverse of its Cholesky factor. ln det N = 2 Σ ln G_ii is
/// accurate however badly conditioned F is. (Mᵀ N M)_ii = |G M e_i|² is raised by the errors of K, entry by entry.
///
/// # Source
/// Anstreicher, *Efficient solution of maximum-entropy sampling problems* (2020); γ_i and ν_i: Chen, Fampa and Lee,
/// *Generalized scaling for the constrained maximum-entropy sampling problem* (2024), and arXiv 2604.10363. The
/// closed form of the best scales for every N is this library's.
#[derive(Clone, Debug)]
pub(super) struct Linx<'a> {
    kernel: &'a DenseKernel,
    /// √γ_i and 1/√ν_i.
    roots: [Vec<f64>; 2],
    /// The matrix M.
    matrix: Mat<f64>,
    /// w_i − ½ ln γ_i + ½ ln ν_i, and the sum of the magnitudes of its terms.
    linear: Vec<f64>,
    terms: Vec<f64>,
}

/// The result of an evaluation.
#[derive(Clone, Debug)]
pub(super) struct LinxPoint {
    value: Linearised,
    /// An upper bound of −ln det N for N = F⁻¹.
    log_det: f64,
    /// The column norms ‖G e_i‖.
    columns: Vec<f64>,
    /// The inverse F⁻¹.
    pub(super) inverse: Mat<f64>,
    /// The product F⁻¹ M.
    half: Mat<f64>,
    /// The product Mᵀ F⁻¹ M.
    pub(super) whole: Mat<f64>,
}

impl AsRef<Linearised> for LinxPoint {
    fn as_ref(&self) -> &Linearised {
        &self.value
    }
}

impl<'a> Linx<'a> {
    /// Creates the relaxation with these scales: ln γ_i of all items, then ln ν_i.
    pub(super) fn new(kernel: &'a DenseKernel, scales: &[f64]) -> Self {
        /// The magnitude beyond which roots would not be normal numbers.
        const MOST: f64 = 600.0;
        let size = kernel.matrix.nrows();
        let scales: Vec<f64> = scales.iter().map(|scale| scale.clamp(-MOST, MOST)).collect();
        let (inner, outer) = scales.split_at(size);
        let roots = [
            inner.iter().map(|scale| (0.5 * scale).exp()).collect::<Vec<_>>(),
            outer.iter().map(|scale| (-0.5 * scale).exp()).collect::<Vec<_>>(),
        ];
        let matrix = Mat::from_fn(size, size, |i, j| roots[1][i] * kernel.matrix[(i, j)] * roots[0][j]);
        let linear = (0..size).map(|i| kernel.weights[i] - 0.5 * inner[i] + 0.5 * outer[i]).collect();
        let terms = (0..size).map(|i| kernel.weights[i].abs() + inner[i].abs() + outer[i].abs()).collect();
        Self { kernel, roots, matrix, linear, terms }
    }
}

/// Linx of a kernel with any scales.
#[derive(Debug)]
pub(super) struct Scaled<'a>(pub(super) &'a DenseKernel);

impl<'a> Family for Scaled<'a> {
    type Member = Linx<'a>;

    fn member(&self, scales: &[f64]) -> Result<Linx<'a>> {
        Ok(Linx::new(self.0, scales))
    }

    fn slope(_: &Linx<'a>, x: &[f64], point: &LinxPoint) -> Vec<f64> {
        slopes(x, point)
    }

    /// The first step goes to about the best scales for N.
    fn metric(x: &[f64]) -> Vec<f64> {
        /// The least x or 1 − x that is used.
        const LEAST: f64 = 0.1;
        let inverse = |x: f64| 2.0 / x.max(LEAST);
        x.iter().map(|&x| inverse(x)).chain(x.iter().map(|&x| inverse(1.0 - x))).collect()
    }
}

/// The slopes of the bound in the scales at a maximum x.
fn slopes(x: &[f64], point: &LinxPoint) -> Vec<f64> {
    let of_chosen = (0..x.len()).map(|i| 0.5 * x[i] * (point.whole[(i, i)] - 1.0));
    let of_others = (0..x.len()).map(|i| 0.5 * (1.0 - x[i]) * (point.inverse[(i, i)] - 1.0));
    of_chosen.chain(of_others).collect()
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
        let [inner, outer] = &self.roots;
        let scaled = |values: &[f64]| values.iter().zip(outer).map(|(x, root)| x * root).collect::<Vec<_>>();
        let norm = point.columns.iter().zip(outer).map(|(g, root)| (g * root).powi(2)).sum::<f64>().sqrt();
        let (by_length, by_error) = (along(&scaled(lengths)), along(&scaled(errors)));
        // Room for everything that is rounded once.
        let relative = 1.0 + of_sum(2 * size + 16);
        // The term of an item left out.
        let kept = |i: usize| 0.5 * (1.0 + point.inverse[(i, i)].ln());
        let slope = |i: usize| {
            // The errors of K e_i, M and G M e_i.
            let unknown = errors[i] + (of_value(4.0) + product) * lengths[i];
            let off = by_length * unknown + by_error * (lengths[i] + unknown) + norm * error;
            let image = (point.whole[(i, i)].sqrt() + inner[i] * off) * relative;
            let (gained, lost) = (0.5 * (1.0 + 2.0 * image.ln()), kept(i));
            let linear = self.linear[i];
            gained - lost
                + linear
                + 2.0 * (of_value(gained) + of_value(lost) + of_value(self.terms[i]) + of_value(1.0))
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

/// The product L X for a lower triangular L.
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

/// Scales that are equal for all items and make the slope of f at the centre zero; `None` for kernels that are too
/// badly conditioned.
pub(super) fn equal_scales(
    kernel: &DenseKernel,
    choices: &Choices,
    enough: &dyn Fn(f64, f64) -> bool,
) -> Option<Vec<f64>> {
    /// The radius of the search for ln γ around a guess, and its steps.
    const FAR: f64 = 32.0;
    const HALVINGS: usize = 10;
    let size = kernel.matrix.nrows();
    let largest = (0..size).map(|i| kernel.matrix[(i, i)]).fold(0.0, f64::max);
    let (x, guess) = (choices.centre(size), -2.0 * largest.ln());
    let scales = |inner: f64| -> Vec<f64> { [vec![inner; size], vec![0.0; size]].concat() };
    let (mut low, mut high) = (guess - FAR, guess + FAR);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if is_over(enough) {
            break;
        }
        let point = Linx::new(kernel, &scales(middle)).at(&x).ok()?;
        // The bound is convex.
        let slope: f64 = slopes(&x, &point)[..size].iter().sum();
        if slope > 0.0 { high = middle } else { low = middle }
    }
    Some(scales(0.5 * (low + high)))
}
