//! Eigen-decomposition of graded positive definite matrices to high relative accuracy.

use faer::{Mat, MatRef};

use super::{Eigen, kernels::rotate};
use crate::Result;

/// An off-diagonal entry below this fraction of the geometric mean of its diagonal entries counts as zero.
const TOLERANCE: f64 = 1e-15;
const MAX_SWEEPS: usize = 60;

/// Eigen-decomposition of D B D, for a diagonal D of any range and a well-conditioned B.
///
/// Two-sided Jacobi computes every eigenvalue to relative accuracy ε·cond(B), for any range of D. A tridiagonal
/// solver loses all eigenvalues below ε times the largest. A sweep of a large matrix takes seconds, so `proceed` is
/// called before every column.
///
/// # Cost
/// About 6n³ per sweep, 3–8 sweeps.
///
/// # Source
/// Demmel and Veselić, *Jacobi's method is more accurate than QR* (1992), algorithm 3.1.
pub(crate) fn graded_eigen(matrix: MatRef<'_, f64>, proceed: impl Fn() -> Result<()>) -> Result<Eigen> {
    let size = matrix.nrows();
    let mut h = matrix.to_owned();
    let mut vectors = Mat::<f64>::identity(size, size);
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for q in 1..size {
            proceed()?;
            for p in 0..q {
                let (hpp, hqq, hpq) = (h[(p, p)], h[(q, q)], h[(p, q)]);
                if hpq.abs() <= TOLERANCE * hpp.sqrt() * hqq.sqrt() {
                    continue;
                }
                rotated = true;
                let zeta = (hqq - hpp) / (2.0 * hpq);
                let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                annihilate(&mut h, p, q, tangent);
                let cosine = tangent.hypot(1.0).recip();
                rotate_columns(&mut vectors, p, q, cosine, cosine * tangent);
            }
        }
        if !rotated {
            break;
        }
    }
    Ok(sorted(&h, &vectors))
}

/// H ← Jᵀ H J, where J is the rotation with the given tangent that zeroes H_pq.
fn annihilate(h: &mut Mat<f64>, p: usize, q: usize, tangent: f64) {
    let cosine = tangent.hypot(1.0).recip();
    let hpq = h[(p, q)];
    let diagonal = (h[(p, p)] - tangent * hpq, h[(q, q)] + tangent * hpq);
    rotate_columns(h, p, q, cosine, cosine * tangent);
    for i in 0..h.nrows() {
        (h[(p, i)], h[(q, i)]) = (h[(i, p)], h[(i, q)]);
    }
    (h[(p, p)], h[(q, q)]) = diagonal;
    (h[(p, q)], h[(q, p)]) = (0.0, 0.0);
}

fn rotate_columns(matrix: &mut Mat<f64>, p: usize, q: usize, cosine: f64, sine: f64) {
    let (left, right) = matrix.as_mut().split_at_col_mut(q);
    rotate(super::column_mut(left, p), super::column_mut(right, 0), cosine, sine);
}

fn sorted(h: &Mat<f64>, vectors: &Mat<f64>) -> Eigen {
    let size = h.nrows();
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&a, &b| h[(b, b)].total_cmp(&h[(a, a)]));
    Eigen {
        values: order.iter().map(|&j| h[(j, j)]).collect(),
        vectors: Mat::from_fn(size, size, |i, j| vectors[(i, order[j])]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, watch::Ended};
    use approx::assert_abs_diff_eq;

    #[test]
    fn relative_accuracy_over_forty_decades() {
        // D B D with B tridiagonal and D = 10^0 … 10^-20 in no particular order: the determinant is known.
        let size = 11;
        let b = Mat::from_fn(size, size, |i, j| match i.abs_diff(j) {
            0 => 1.0,
            1 => 0.3,
            _ => 0.0,
        });
        let d = |i: usize| 10.0_f64.powi(-2 * i32::try_from(i * 7 % size).unwrap());
        let h = Mat::from_fn(size, size, |i, j| d(i) * b[(i, j)] * d(j));
        let eigen = graded_eigen(h.as_ref(), || Ok(())).unwrap();
        let log_det: f64 = eigen.values.iter().map(|value| value.ln()).sum();
        let expected = b.determinant().ln() + 2.0 * (0..size).map(|i| d(i).ln()).sum::<f64>();
        assert_abs_diff_eq!(log_det, expected, epsilon = 1e-12);
        // Negative control: the general solver loses the small eigenvalues.
        let general = super::super::eigen(h.as_ref()).unwrap();
        assert!(general.values.iter().any(|&value| value < 1e-25), "the control must see the range");
        let general: f64 = general.values.iter().map(|value| value.abs().ln()).sum();
        assert!((general - expected).abs() > 1e-3, "{general} {expected}");
    }

    #[test]
    fn ends_when_it_is_told_to() {
        let h = Mat::from_fn(7, 7, |i, j| 1.0 / (1.0 + i as f64 + j as f64));
        let ended = || Err(Error::Ended(Ended::Interrupted));
        assert!(matches!(graded_eigen(h.as_ref(), ended), Err(Error::Ended(Ended::Interrupted))));
    }

    #[test]
    fn reconstructs() {
        let h = Mat::from_fn(7, 7, |i, j| 1.0 / (1.0 + i as f64 + j as f64) + if i == j { 1.0 } else { 0.0 });
        let Eigen { values, vectors } = graded_eigen(h.as_ref(), || Ok(())).unwrap();
        let scaled = Mat::from_fn(7, 7, |i, j| vectors[(i, j)] * values[j]);
        let back = &scaled * vectors.transpose();
        let residual = (&back - &h).norm_max();
        assert!(residual < 7.0 * 30.0 * f64::EPSILON, "{residual:e}");
    }
}
