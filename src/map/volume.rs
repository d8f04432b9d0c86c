//! Lower and upper bounds of the log-determinant of a set.

use faer::{Mat, Par, linalg::triangular_solve::solve_upper_triangular_in_place};

use super::rounding::{of_dot, of_orthogonalisation, of_sum};
use crate::{
    Features,
    linalg::{
        column, column_mut,
        kernels::{dot, scale},
        power_of_two_near,
    },
};

/// An interval that contains ln det A Aᵀ for some rows A.
///
/// ```text
/// A = Rᵀ(Qᵀ + R⁻ᵀE):   ln det A Aᵀ ≤ 2 Σ ln R_ii + 2 Σ ln(1 + q_i),   q_i = Σ_j |R⁻¹|_ji ‖e_j‖
/// ```
///
/// for the computed factors, where E is their residual (Hadamard's inequality). The lower bound has 1 − √k q_i
/// instead (diagonal dominance). R_ii is first raised to at least ‖e_i‖, so that even numerically dependent rows have
/// a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LogVolume {
    /// −∞ if rounding leaves open whether the rows are independent.
    pub(crate) at_least: f64,
    /// −∞ only for rows that are certainly dependent.
    pub(crate) at_most: f64,
}

impl LogVolume {
    const ZERO: Self = Self { at_least: f64::NEG_INFINITY, at_most: f64::NEG_INFINITY };

    /// The interval for the rows of some items.
    ///
    /// # Cost
    /// O(nk² + k³).
    pub(crate) fn of(features: &Features, items: &[usize]) -> Self {
        let (dims, count) = (features.dims(), items.len());
        if count == 0 {
            return Self { at_least: 0.0, at_most: 0.0 };
        }
        if count > dims {
            return Self::ZERO;
        }
        let mut rows = Mat::zeros(dims, count);
        let (mut scales, mut magnitudes): (f64, f64) = (0.0, 0.0);
        let mut lengths = Vec::with_capacity(count);
        for (at, &item) in items.iter().enumerate() {
            let row = column_mut(rows.as_mut(), at);
            features.read_stored(item, 1.0, row);
            let largest = row.iter().fold(0.0, |max, x| f64::max(max, x.abs()));
            if largest == 0.0 {
                return Self::ZERO;
            }
            // Scaling by a power of two is exact.
            let power = power_of_two_near(largest);
            scale(row, power.recip());
            scales += 2.0 * (power.ln() + features.log_weight(item));
            magnitudes += 2.0 * (power.ln().abs() + features.log_weight(item).abs());
            lengths.push(dot(row, row).sqrt());
        }
        let logarithms: f64 = lengths.iter().map(|length| 2.0 * length.ln()).sum();
        let hadamard = logarithms + 2.0 * count as f64 * of_dot(dims);
        let triangle = rows.qr().thin_R().to_owned();
        let (at_least, at_most) = between(triangle, &lengths, dims);
        let at_most = at_most.min(hadamard);
        let rounding = of_sum(count + 8) * (magnitudes + 4.0 * count as f64 + at_most.abs());
        Self { at_least: scales + at_least - rounding, at_most: scales + at_most + rounding }
    }
}

/// The bounds from R, for rows of these lengths.
fn between(mut triangle: Mat<f64>, lengths: &[f64], dims: usize) -> (f64, f64) {
    let count = lengths.len();
    let mut errors: Vec<f64> =
        lengths.iter().map(|length| length * of_orthogonalisation(dims, count)).collect();
    let mut log_det = 0.0;
    let mut independent = true;
    for i in 0..count {
        let own = triangle[(i, i)].abs();
        if own < errors[i] {
            independent = false;
            triangle[(i, i)] = errors[i];
            errors[i] *= 2.0;
        }
        log_det += 2.0 * own.max(triangle[(i, i)].abs()).ln();
    }
    let mut inverse = Mat::<f64>::identity(count, count);
    solve_upper_triangular_in_place(triangle.as_ref(), inverse.as_mut(), Par::Seq);
    let (mut at_least, mut at_most) = (log_det, log_det);
    for i in 0..count {
        let weighted =
            column(inverse.as_ref(), i).iter().zip(&errors).map(|(entry, error)| entry.abs() * error);
        let share: f64 = 1.01 * weighted.sum::<f64>();
        at_most += 2.0 * share.ln_1p();
        // NaN if the argument is below −1.
        at_least += 2.0 * (-share * (count as f64).sqrt()).ln_1p();
    }
    (if independent && at_least.is_finite() { at_least } else { f64::NEG_INFINITY }, at_most)
}
