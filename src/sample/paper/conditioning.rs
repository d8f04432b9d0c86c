//! The choice of a pick, and conditioning of nodes and rows on it.

use faer::{MatMut, MatRef, c64};

use crate::linalg::{
    column, column_mut,
    kernels::{add_scaled, dot},
};

/// Computes P⁻¹ ← P⁻¹ − vvᵀ/(qᵀv) with v = P⁻¹q; returns qᵀv.
pub(super) fn condition(mut inverse: MatMut<'_, c64>, direction: &[f64]) -> c64 {
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

/// Computes B ← B − (Bq)qᵀ for a unit vector q and a row-major B; returns the new ‖b_i‖².
pub(super) fn project_rows(rows: &mut [f64], direction: &[f64]) -> Vec<f64> {
    rows.chunks_exact_mut(direction.len())
        .map(|row| {
            let along = dot(row, direction);
            add_scaled(row, -along, direction);
            dot(row, row)
        })
        .collect()
}

/// Returns the position at which the running sum of the weights passes `uniform` times their total; `None` if no
/// weight is positive.
pub(super) fn choose(weights: &[f64], uniform: f64) -> Option<usize> {
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

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[test]
    fn projected_rows_have_no_part_along_the_direction() {
        for dims in [1, 2, 15, 64] {
            let direction: Vec<f64> = (0..dims).map(|j| f64::sin(j as f64 + 1.0)).collect();
            let length = dot(&direction, &direction).sqrt();
            let direction: Vec<f64> = direction.iter().map(|x| x / length).collect();
            let before: Vec<f64> =
                (0..5 * dims).map(|i| if i < dims { 0.0 } else { f64::cos(i as f64) }).collect();
            let mut after = before.clone();
            let norms = project_rows(&mut after, &direction);
            for ((before, after), norm) in before.chunks(dims).zip(after.chunks(dims)).zip(norms) {
                let along: f64 = before.iter().zip(&direction).map(|(x, q)| x * q).sum();
                for ((x, q), found) in before.iter().zip(&direction).zip(after) {
                    assert_abs_diff_eq!(x - along * q, found, epsilon = 1e-14);
                }
                assert_abs_diff_eq!(after.iter().map(|x| x * x).sum::<f64>(), norm, epsilon = 1e-13);
            }
        }
    }
}
