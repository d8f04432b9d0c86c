//! The relaxation of D-optimal designs.

use faer::{Mat, MatRef, Side};

use super::{
    gamma::lower_product,
    linx::lower_times,
    relaxation::{Linearised, Majorant, Relaxation},
};
use crate::{
    Result,
    linalg::{column, inverse_of_lower, kernels},
    map::rounding::{of_sum, of_value},
    model::Counts,
};

/// The log-determinant of an information matrix whose rows have weights x.
///
/// ```text
/// f(x) = ln det M(x),   M(x) = B Bᵀ + Σ x_i a_i a_iᵀ,   ∇f_i = a_iᵀ M⁻¹ a_i,   −∇²f_ij = (a_iᵀ M⁻¹ a_j)²
/// ```
///
/// B holds the included rows. At x = 1_S this is the log-determinant of the design.
///
/// # Cost
/// 2mn² + n³ for an evaluation, m²n for a curvature.
///
/// # Numerics
/// A bound follows from any positive definite N (ln det M ≤ tr N M − n − ln det N):
///
/// ```text
/// ln det M(1_S)  ≤  tr N B Bᵀ + Σ_{i∈S} a_iᵀ N a_i − n − ln det N
/// ```
///
/// N = Gᵀ G, where G is the computed inverse of the Cholesky factor of M. ln det N = 2 Σ ln G_jj is accurate however
/// badly conditioned M is. a_iᵀ N a_i = ‖G a_i‖² is raised by its rounding error, at most a fraction of
/// Σ_j ‖G e_j‖ |a_ij|.
///
/// # Source
/// Ponte, Fampa and Lee, *Branch-and-bound for D-optimality with fast local search and variable-bound tightening*
/// (2023), the "natural" bound.
#[derive(Clone, Debug)]
pub(super) struct Information {
    /// The rows a_i, a column per item.
    pub(super) rows: Mat<f64>,
    /// The included rows B.
    pub(super) base: Mat<f64>,
    /// A constant that is added to the function.
    pub(super) constant: f64,
}

/// The result of an evaluation.
#[derive(Clone, Debug)]
pub(super) struct InformationPoint {
    value: Linearised,
    /// The inverse factor G.
    pub(super) root: Mat<f64>,
    /// The images G a_i.
    images: Mat<f64>,
}

impl AsRef<Linearised> for InformationPoint {
    fn as_ref(&self) -> &Linearised {
        &self.value
    }
}

impl InformationPoint {
    /// The column norms ‖G e_j‖.
    pub(super) fn reach(&self) -> Vec<f64> {
        let length = |j: usize| self.root.col(j).norm_l2();
        (0..self.root.ncols()).map(length).collect()
    }

    /// −n − ln det N, raised by its rounding.
    fn constant(&self) -> f64 {
        let dims = self.root.nrows();
        let terms = (0..dims).map(|j| -2.0 * self.root[(j, j)].ln());
        let (sum, size) =
            terms.fold((0.0, 0.0), |(sum, size): (f64, f64), term| (sum + term, size + term.abs()));
        sum - dims as f64 + of_sum(dims + 4) * (size + dims as f64)
    }
}

/// An upper bound of ‖G a‖² from its computed value. The error of the root is a fraction of `reach`.
pub(super) fn raised(form: f64, reach: f64, dims: usize) -> f64 {
    let root = form.sqrt() + 2.0 * of_sum(dims) * reach;
    let form = root * root * (1.0 + of_sum(dims + 8));
    form + 2.0 * of_value(form)
}

/// G for the information matrix of some rows and the rows of `base`, a column per row.
pub(crate) fn information_root(rows: MatRef<'_, f64>, base: MatRef<'_, f64>) -> Mat<f64> {
    let mut information = Mat::zeros(rows.nrows(), rows.nrows());
    lower_product(&mut information, rows);
    lower_product(&mut information, base);
    Information::root(information)
}

impl Information {
    /// ‖G a_i‖² of some rows, raised by rounding.
    pub(super) fn forms(images: MatRef<'_, f64>, rows: MatRef<'_, f64>, reach: &[f64]) -> Vec<f64> {
        let form = |i: usize| {
            let (image, row) = (column(images, i), column(rows, i));
            let reached: f64 = row.iter().zip(reach).map(|(x, length)| x.abs() * length).sum();
            raised(kernels::dot(image, image), reached, reach.len())
        };
        (0..rows.ncols()).map(form).collect()
    }

    /// The part of the bound at a point that does not depend on the items of a set.
    pub(super) fn intercept(&self, point: &InformationPoint) -> f64 {
        let images = lower_times(&point.root, &self.base);
        let included = Self::forms(images.as_ref(), self.base.as_ref(), &point.reach());
        let trace: f64 = included.iter().sum();
        let constant = point.constant();
        let size = trace + constant.abs() + self.constant.abs();
        self.constant + constant + trace + of_sum(included.len() + 8) * size
    }

    /// The inverse of the information matrix's Cholesky factor. The matrix is raised until it has one.
    pub(super) fn root(mut information: Mat<f64>) -> Mat<f64> {
        let dims = information.nrows();
        let largest = (0..dims).map(|j| information[(j, j)]).fold(f64::MIN_POSITIVE, f64::max);
        let mut added = 0.0;
        if !information.is_all_finite() {
            // Nothing follows from a matrix that is not finite.
            return Mat::from_fn(dims, dims, |_, _| f64::NAN);
        }
        loop {
            if let Ok(factor) = information.llt(Side::Lower) {
                let root = inverse_of_lower(factor.L());
                if root.is_all_finite() {
                    return root;
                }
            }
            // A bound follows from any matrix.
            let more = if added > 0.0 { 99.0 * added } else { f64::EPSILON * dims as f64 * largest };
            (0..dims).for_each(|j| information[(j, j)] += more);
            added += more;
        }
    }
}

impl Relaxation for Information {
    type Point = InformationPoint;

    fn at(&self, x: &[f64]) -> Result<InformationPoint> {
        let (dims, items) = (self.rows.nrows(), self.rows.ncols());
        let roots: Vec<f64> = x.iter().map(|x| x.sqrt()).collect();
        let weighted = Mat::from_fn(dims, items, |j, i| self.rows[(j, i)] * roots[i]);
        let root = information_root(weighted.as_ref(), self.base.as_ref());
        let images = lower_times(&root, &self.rows);
        let gradient = (0..items).map(|i| images.col(i).squared_norm_l2()).collect();
        let value = self.constant + (0..dims).map(|j| -2.0 * root[(j, j)].ln()).sum::<f64>();
        Ok(InformationPoint { value: Linearised { value, gradient }, root, images })
    }

    fn curvature(&self, point: &InformationPoint) -> Mat<f64> {
        let mut curvature = point.images.transpose() * &point.images;
        for j in 0..curvature.ncols() {
            crate::linalg::column_mut(curvature.as_mut(), j).iter_mut().for_each(|entry| *entry *= *entry);
        }
        curvature
    }

    fn majorant(&self, point: &InformationPoint, _: &Counts) -> Majorant {
        let slopes = Self::forms(point.images.as_ref(), self.rows.as_ref(), &point.reach());
        Majorant { intercept: self.intercept(point), slopes }
    }
}
