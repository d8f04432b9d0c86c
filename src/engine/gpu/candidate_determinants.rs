//! `candidate_determinants`: one determinant per candidate and node. The host sums over the nodes in f64.

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    grid_determinants::{
        Found, elimination, matrices_per_binding, per_node, steps, upload_phases, upload_shares,
    },
    parameters::parameters,
    shaders::{Shader, Variant},
};
use crate::{
    Result,
    engine::{CandidateGrid, CandidateSums, Engine, PhaseGrid},
    linalg::{Determinant, kernels::dot},
};

/// The cost of projecting a candidate out, in terms of the sum over the parts.
const PROJECTION: usize = 6;

pub(super) fn candidate_determinants(gpu: &Gpu, candidates: &CandidateGrid<'_>) -> Result<CandidateSums> {
    let context = gpu.context();
    let PhaseGrid { shares, .. } = candidates.grid;
    let (size, nodes) = (shares[0].nrows(), candidates.grid.nodes());
    let rows: Vec<&[f64]> = candidates.rows.chunks_exact(size).collect();
    let norms: Vec<f64> = rows.iter().map(|row| dot(row, row).sqrt()).collect();
    let wanted: Vec<usize> = (0..rows.len()).filter(|&i| norms[i] > 0.0).collect();
    let shader = Shader::CandidateDeterminants.of_order(context, size);
    // A vector, and a matrix if it does not fit in workgroup memory.
    let entries = if shader == Shader::CandidateDeterminants.into() { size * size + size } else { size };
    let matrix = 2 * entries * size_of(context.precision);
    let most = matrices_per_binding(context, matrix.max(per_node(context, shares)))?;
    gpu.with_room("candidate_determinants", || {
        let shares_on_device = upload_shares(context, shares)?;
        let mut sums = vec![0.0; rows.len()];
        // All nodes of some candidates, or some nodes of one candidate.
        let (together, nodes_together) = ((most / nodes).max(1), nodes.min(most));
        for chosen in wanted.chunks(together) {
            let units: Vec<f64> = chosen
                .iter()
                .flat_map(|&i| rows[i].iter().map(move |x| (i, x)))
                .map(|(i, x)| x / norms[i])
                .collect();
            let units = context.uploaded(&units)?;
            for first in (0..nodes).step_by(nodes_together) {
                let count = nodes_together.min(nodes - first);
                let batch = Batch { candidates: chosen.len(), first, count, shader, matrix };
                let determinants =
                    batch.determinants(context, &candidates.grid, &shares_on_device, &units)?;
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

/// All pairs of some candidates and some nodes.
struct Batch {
    candidates: usize,
    /// The first node.
    first: usize,
    count: usize,
    shader: Variant,
    /// Bytes of a vector, or of a vector and a matrix.
    matrix: usize,
}

impl Batch {
    /// The determinants, node after node for every candidate; `None` if the matrix is nearly singular.
    fn determinants(
        &self,
        context: &Context,
        grid: &PhaseGrid<'_>,
        shares: &Lease,
        units: &Lease,
    ) -> Result<Vec<Option<Determinant>>> {
        let Self { candidates, first, count, shader, matrix } = *self;
        let (size, total) = (grid.shares[0].nrows(), count * candidates);
        let phases = upload_phases(context, grid, first, count)?;
        let matrices = context.storage((total * matrix) as u64);
        let pivots = context.storage(4);
        let found = Found::new(context, total);
        let mut work = context.work("candidate_determinants");
        for steps in steps(size) {
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
                    units.as_entire_binding(),
                    found.mantissas.as_entire_binding(),
                    found.exponents.as_entire_binding(),
                ],
                elimination(context, shader, total, size, grid.shares.len() + PROJECTION, &steps),
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
