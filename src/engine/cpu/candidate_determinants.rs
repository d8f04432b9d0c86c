//! `candidate_determinants`: one determinant per candidate and node, summed over the nodes.

use faer::{Mat, c64};

use super::grid_determinants::{assemble, determinant};
use crate::{
    engine::{CandidateGrid, CandidateSums, PhaseGrid},
    linalg::{
        column, column_mut,
        kernels::{add_scaled, dot},
    },
    parallel::map_ordered,
};

pub(super) fn candidate_determinants(candidates: &CandidateGrid<'_>) -> CandidateSums {
    let size = candidates.grid.shares[0].nrows();
    let rows: Vec<&[f64]> = candidates.rows.chunks_exact(size).collect();
    let found = map_ordered(rows.len(), |i| sum_over_nodes(candidates, rows[i]));
    let determinants = found.iter().map(|(_, count)| count).sum();
    CandidateSums { sums: found.into_iter().map(|(sum, _)| sum).collect(), determinants }
}

fn sum_over_nodes(candidates: &CandidateGrid<'_>, row: &[f64]) -> (f64, u64) {
    let PhaseGrid { shares, .. } = candidates.grid;
    let norm = dot(row, row).sqrt();
    if norm == 0.0 {
        return (0.0, 0);
    }
    let direction: Vec<f64> = row.iter().map(|x| x / norm).collect();
    let shares: Vec<Mat<f64>> = shares.iter().map(|share| project(share, &direction)).collect();
    let mut taken = 0;
    let sum = candidates
        .coefficients
        .iter()
        .enumerate()
        .map(|(node, coefficient): (usize, &c64)| {
            taken += 1;
            let matrix = assemble(&shares, candidates.grid.node(node));
            (coefficient * determinant(matrix).value()).re
        })
        .sum();
    (sum, taken)
}

/// Π N Π with Π = I − qqᵀ.
pub(crate) fn project(share: &Mat<f64>, direction: &[f64]) -> Mat<f64> {
    let image: Vec<f64> = (0..share.ncols()).map(|j| dot(column(share.as_ref(), j), direction)).collect();
    let along = dot(&image, direction);
    let mut out = share.clone();
    for j in 0..out.ncols() {
        let out = column_mut(out.as_mut(), j);
        add_scaled(out, -direction[j], &image);
        add_scaled(out, along * direction[j] - image[j], direction);
    }
    out
}
