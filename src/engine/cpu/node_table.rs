//! Picks on nodes in host memory: the same computation that node tables of devices do in device memory.

use faer::{MatMut, MatRef, c64};

use crate::linalg::{column, column_mut};

/// Computes P⁻¹ ← P⁻¹ − vvᵀ/(qᵀv) with v = P⁻¹q; returns qᵀv.
pub(crate) fn condition(mut inverse: MatMut<'_, c64>, direction: &[f64]) -> c64 {
    let image = product(inverse.as_ref(), direction);
    let along: c64 = image.iter().zip(direction).map(|(v, q)| v * q).sum();
    for j in 0..inverse.ncols() {
        let factor = image[j] / along;
        for (out, v) in column_mut(inverse.as_mut(), j).iter_mut().zip(&image) {
            *out -= v * factor;
        }
    }
    along
}

/// Computes X q for a real q.
fn product(matrix: MatRef<'_, c64>, vector: &[f64]) -> Vec<c64> {
    let mut out = vec![c64::new(0.0, 0.0); matrix.nrows()];
    for (j, &q) in vector.iter().enumerate() {
        for (out, x) in out.iter_mut().zip(column(matrix, j)) {
            *out += x * q;
        }
    }
    out
}

/// Returns the position at which the running sum of the weights passes `uniform` times their total; `None` if no
/// weight is positive.
pub(crate) fn choose(weights: &[f64], uniform: f64) -> Option<usize> {
    let total: f64 = weights.iter().filter(|&&weight| weight > 0.0).sum();
    let mut left = uniform * total;
    let mut last = None;
    for (position, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            last = Some(position);
            if left < weight {
                break;
            }
            left -= weight;
        }
    }
    last
}
