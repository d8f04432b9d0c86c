//! `candidate_determinants`: one determinant per candidate and node. The host sums over the nodes in f64.

use faer::{Col, Mat};

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    grid_determinants::{
        Found, are_taken, elimination, matrices_per_binding, per_node, steps, upload_phases, upload_shares,
    },
    parameters::parameters,
    shaders::{Shader, Variant},
};
use crate::{
    Result,
    engine::{CandidateGrid, CandidateSums, Engine, PhaseGrid},
    linalg::{Determinant, kernels::dot},
    parallel::map_ordered,
};

/// The cost of an entry of Π N_l Π, in terms of an entry of N_l.
const PROJECTION: usize = 4;

pub(super) fn candidate_determinants(gpu: &Gpu, candidates: &CandidateGrid<'_>) -> Result<CandidateSums> {
    let context = gpu.context();
    let PhaseGrid { shares, .. } = candidates.grid;
    let (size, nodes) = (shares[0].nrows(), candidates.grid.nodes());
    if !are_taken(size, shares.len()) {
        return Engine::host().candidate_determinants(candidates);
    }
    let rows: Vec<&[f64]> = candidates.rows.chunks_exact(size).collect();
    let norms: Vec<f64> = rows.iter().map(|row| dot(row, row).sqrt()).collect();
    let wanted: Vec<usize> = (0..rows.len()).filter(|&i| norms[i] > 0.0).collect();
    let shader = Shader::CandidateDeterminants.of_order(size);
    let width = size_of(context.precision);
    let matrix = if shader.largest_matrix().is_none() { 2 * size * size * width } else { 0 };
    let most = matrices_per_binding(context, matrix.max(per_node(context, shares)))?;
    let most_candidates = matrices_per_binding(context, (size + shares.len() * (size + 1)) * width)?;
    gpu.with_room("candidate_determinants", || {
        let shares_on_device = upload_shares(context, shares)?;
        let mut sums = vec![0.0; rows.len()];
        // All nodes of some candidates, or some nodes of one candidate.
        let (together, nodes_together) = ((most / nodes).clamp(1, most_candidates), nodes.min(most));
        for chosen in wanted.chunks(together) {
            let projections =
                map_ordered(chosen.len(), |at| projection(rows[chosen[at]], norms[chosen[at]], shares));
            let projections = context.uploaded(&projections.concat())?;
            for first in (0..nodes).step_by(nodes_together) {
                let count = nodes_together.min(nodes - first);
                let batch = Batch { candidates: chosen.len(), first, count, shader, matrix };
                let determinants =
                    batch.determinants(context, &candidates.grid, &shares_on_device, &projections)?;
                for (number, determinant) in determinants.into_iter().enumerate() {
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

/// All pairs of some candidates and some nodes.
struct Batch {
    candidates: usize,
    /// The first node.
    first: usize,
    count: usize,
    shader: Variant,
    /// Bytes of a matrix that does not fit in registers, or 0.
    matrix: usize,
}

impl Batch {
    /// The determinants, node after node for every candidate; `None` if the matrix is nearly singular.
    fn determinants(
        &self,
        context: &Context,
        grid: &PhaseGrid<'_>,
        shares: &Lease,
        projections: &Lease,
    ) -> Result<Vec<Option<Determinant>>> {
        let Self { candidates, first, count, shader, matrix } = *self;
        let (size, total) = (grid.shares[0].nrows(), count * candidates);
        let phases = upload_phases(context, grid, first, count)?;
        let matrices = context.storage((total * matrix).max(16) as u64);
        let pivots = context.storage(4);
        let found = Found::new(context, total);
        let mut work = context.work("candidate_determinants");
        for steps in steps(context, shader, size) {
            context.dispatch(
                &mut work,
                shader,
                &parameters! {
                    candidates,
                    nodes: count,
                    n: size,
                    parts: grid.shares.len(),
                    first: steps.start,
                    last: steps.end,
                },
                &[
                    shares.as_entire_binding(),
                    phases.as_entire_binding(),
                    matrices.as_entire_binding(),
                    pivots.as_entire_binding(),
                    projections.as_entire_binding(),
                    found.mantissas.as_entire_binding(),
                    found.exponents.as_entire_binding(),
                ],
                elimination(context, shader, total, size, PROJECTION * grid.shares.len(), &steps),
            )?;
        }
        let (determinants, _) = found.read(context, work, total, &matrices, 0)?;
        Ok(determinants)
    }
}

/// Computes on the host a term whose matrix is too nearly singular for the device.
fn on_host(candidates: &CandidateGrid<'_>, row: &[f64], node: usize) -> Result<f64> {
    let grid = PhaseGrid { shares: candidates.grid.shares, phases: candidates.grid.node(node) };
    let one = CandidateGrid { grid, coefficients: &candidates.coefficients[node..=node], rows: row };
    Ok(Engine::host().candidate_determinants(&one)?.sums[0])
}
