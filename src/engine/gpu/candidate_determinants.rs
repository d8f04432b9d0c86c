//! `candidate_determinants`: one determinant per candidate and node. The host sums over the nodes in f64.

use faer::{Col, Mat};

use super::{
    Gpu,
    buffers::size_of,
    grid_determinants::{DeviceGrid, are_taken, matrices_per_binding, per_node},
    parameters::parameters,
    shaders::Shader,
};
use crate::{
    Result,
    engine::{CandidateGrid, CandidateSums, Engine, PhaseGrid},
    linalg::kernels::dot,
    parallel::map_ordered,
};

pub(super) fn candidate_determinants(gpu: &Gpu, candidates: &CandidateGrid<'_>) -> Result<CandidateSums> {
    let context = gpu.context();
    let PhaseGrid { shares, .. } = candidates.grid;
    let (size, parts, nodes) = (shares[0].nrows(), shares.len(), candidates.grid.nodes());
    if !are_taken(size, parts) {
        return Engine::host().candidate_determinants(candidates);
    }
    let rows: Vec<&[f64]> = candidates.rows.chunks_exact(size).collect();
    let norms: Vec<f64> = rows.iter().map(|row| dot(row, row).sqrt()).collect();
    let wanted: Vec<usize> = (0..rows.len()).filter(|&i| norms[i] > 0.0).collect();
    let width = size_of(context.precision);
    let is_held = Shader::CandidateDeterminants.of_order(size).largest_matrix().is_some();
    // Bytes of a matrix that does not fit in registers.
    let matrix = if is_held { 0 } else { 2 * size * size * width };
    let most = matrices_per_binding(context, matrix.max(per_node(context, shares)))?;
    let most_candidates = matrices_per_binding(context, (size + parts * (size + 1)) * width)?;
    gpu.with_room("candidate_determinants", || {
        let on_device = DeviceGrid::upload(context, &candidates.grid)?;
        let mut sums = vec![0.0; rows.len()];
        // All nodes of some candidates, or some nodes of one candidate.
        let (together, nodes_together) = ((most / nodes).clamp(1, most_candidates), nodes.min(most));
        for chosen in wanted.chunks(together) {
            let projections =
                map_ordered(chosen.len(), |at| projection(rows[chosen[at]], norms[chosen[at]], shares));
            let projections = context.uploaded(&projections.concat())?;
            for first in (0..nodes).step_by(nodes_together) {
                let own = first..nodes.min(first + nodes_together);
                let (count, total) = (own.len(), chosen.len() * own.len());
                let matrices = context.storage((total * matrix).max(16) as u64);
                let mut work = context.work("candidate_determinants");
                // Only inverses need pivots.
                let pivots = work.hold(context.storage(4));
                let found = on_device.record(
                    &mut work,
                    Shader::CandidateDeterminants,
                    own,
                    chosen.len(),
                    &parameters! { candidates: chosen.len(), nodes: count, n: size, parts },
                    &[&matrices, &pivots, &projections],
                )?;
                for (number, determinant) in found.read(context, work)?.into_iter().enumerate() {
                    let (i, node) = (chosen[number / count], first + number % count);
                    sums[i] += match determinant {
                        Some(determinant) => (candidates.coefficients[node] * determinant.value()).re,
                        None => on_host(candidates, rows[i], node)?,
                    };
                }
            }
        }
        Ok(CandidateSums { sums, determinants: (wanted.len() * nodes) as u64 })
    })
}

/// A candidate's unit vector u, N_l u of every part, and uᵀN_l u of every part.
fn projection(row: &[f64], norm: f64, shares: &[Mat<f64>]) -> Vec<f64> {
    let unit = Col::from_fn(row.len(), |j| row[j] / norm);
    let images: Vec<Col<f64>> = shares.iter().map(|share| share * &unit).collect();
    let forms: Vec<f64> = images.iter().map(|image| unit.transpose() * image).collect();
    unit.iter().chain(images.iter().flat_map(Col::iter)).chain(&forms).copied().collect()
}

/// Computes on the host a term whose matrix is too nearly singular for the device.
fn on_host(candidates: &CandidateGrid<'_>, row: &[f64], node: usize) -> Result<f64> {
    let grid = PhaseGrid { shares: candidates.grid.shares, phases: candidates.grid.node(node) };
    let one = CandidateGrid { grid, coefficients: &candidates.coefficients[node..=node], rows: row };
    Ok(Engine::host().candidate_determinants(&one)?.sums[0])
}
