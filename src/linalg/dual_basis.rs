//! Dual bases: W with WᵀB = I, in the span of the columns of B.

use faer::{
    Mat, MatRef, Par,
    linalg::{solvers::Qr, triangular_solve::solve_upper_triangular_in_place},
};

use super::{INDEPENDENCE_TOLERANCE, column, kernels::dot};

/// The factors of B = Q R, and ln det BᵀB; `None` if columns are dependent.
pub(crate) fn independent_qr(columns: MatRef<'_, f64>) -> Option<(Qr<f64>, f64)> {
    let factors = columns.qr();
    let triangle = factors.thin_R();
    let mut log_det = 0.0;
    for j in 0..columns.ncols() {
        let (left, whole) = (triangle[(j, j)].abs(), column(columns, j));
        if left.is_nan() || left <= INDEPENDENCE_TOLERANCE * dot(whole, whole).sqrt() {
            return None;
        }
        log_det += 2.0 * left.ln();
    }
    Some((factors, log_det))
}

/// Wᵀ = R⁻¹ Qᵀ from the factors of B, given the columns of Q that span the columns of B.
pub(crate) fn transposed_duals(factors: &Qr<f64>, q: MatRef<'_, f64>) -> Mat<f64> {
    let mut duals = q.transpose().to_owned();
    solve_upper_triangular_in_place(factors.thin_R(), duals.as_mut(), Par::Seq);
    duals
}

/// W, an orthonormal basis of its orthogonal complement, and ln det BᵀB; `None` if columns are dependent.
pub(crate) fn dual_basis(columns: MatRef<'_, f64>) -> Option<(Mat<f64>, Mat<f64>, f64)> {
    let (dims, count) = (columns.nrows(), columns.ncols());
    let (factors, log_det) = independent_qr(columns)?;
    let basis = factors.compute_Q();
    let duals = transposed_duals(&factors, basis.subcols(0, count)).transpose().to_owned();
    Some((duals, basis.subcols(count, dims - count).to_owned(), log_det))
}
