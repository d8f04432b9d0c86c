//! Rows of a set and their dual basis, from the data.

use faer::{Mat, MatRef, Par, linalg::triangular_solve::solve_upper_triangular_in_place};

use super::Problem;
use crate::linalg::{column, column_mut, kernels::dot, power_of_two_near};

/// Rows that agree to twelve digits are one row, as everywhere in this library.
const DEPENDENT: f64 = 1e-12;
/// Scaled rows of the included and the chosen items as columns, and −ln of the squared scales; `None` where
/// there are too many to be independent.
pub(super) fn read_rows(problem: &Problem<'_>, slots: &[Vec<usize>]) -> Option<(Mat<f64>, f64)> {
    let features = problem.rows.features();
    let included = problem.candidates.ground.included();
    let count = included.len() + slots.iter().map(Vec::len).sum::<usize>();
    if count > features.dims() {
        return None;
    }
    let of_included = included.iter().map(|&item| {
        let magnitude = features.max_abs_of(&[item]);
        (item as usize, power_of_two_near(magnitude).recip())
    });
    let of_group = |(group, slots): (usize, &Vec<usize>)| {
        let members = problem.rows.groups()[group];
        slots.iter().map(move |&position| (members.items.at(position), members.scale)).collect::<Vec<_>>()
    };
    let chosen = slots.iter().enumerate().flat_map(of_group);
    let mut rows = Mat::zeros(features.dims(), count);
    let mut log_det = 0.0;
    for (at, (item, scale)) in of_included.chain(chosen).enumerate() {
        features.read_row(item, scale, column_mut(rows.as_mut(), at));
        log_det -= 2.0 * scale.ln();
    }
    Some((rows, log_det))
}

/// W = Q R⁻ᵀ from B = Q R, what is orthogonal to Q, and ln det BᵀB; `None` for dependent columns.
pub(in crate::map) fn dual_basis(rows: MatRef<'_, f64>) -> Option<(Mat<f64>, Mat<f64>, f64)> {
    let (dims, count) = (rows.nrows(), rows.ncols());
    let factors = rows.qr();
    let triangle = factors.thin_R();
    let mut log_volume = 0.0;
    for j in 0..count {
        let (left, whole) = (triangle[(j, j)].abs(), column(rows, j));
        if left.is_nan() || left <= DEPENDENT * dot(whole, whole).sqrt() {
            return None;
        }
        log_volume += 2.0 * left.ln();
    }
    let basis = factors.compute_Q();
    let mut duals = basis.subcols(0, count).transpose().to_owned();
    solve_upper_triangular_in_place(triangle, duals.as_mut(), Par::Seq);
    let complement = basis.subcols(count, dims - count).to_owned();
    Some((duals.transpose().to_owned(), complement, log_volume))
}
