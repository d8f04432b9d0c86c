//! `project_rows`: B ← B − (Bq)qᵀ, with the norms of the new rows.

use crate::linalg::kernels::{add_scaled, dot};

pub(super) fn project_rows(rows: &mut [f64], direction: &[f64]) -> Vec<f64> {
    rows.chunks_exact_mut(direction.len())
        .map(|row| {
            let along = dot(row, direction);
            add_scaled(row, -along, direction);
            dot(row, row)
        })
        .collect()
}
