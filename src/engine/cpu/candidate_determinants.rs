//! `candidate_determinants`: one determinant per candidate and node, summed over the nodes.

use faer::{Mat, c64};

use super::grid_determinants::assemble;
use crate::{
    engine::{CandidateGrid, CandidateSums, PhaseGrid},
    linalg::{complex_determinant, kernels::dot, project},
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
            (coefficient * complex_determinant(&matrix).value()).re
        })
        .sum();
    (sum, taken)
}
