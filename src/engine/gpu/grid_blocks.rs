//! `grid_blocks`: det P(θ) and U P(θ)⁻¹ Uᵀ at every node. Inverses stay on the device, for some nodes at a time.
//! There is one wait for all nodes.

use faer::{Mat, MatRef, c64};

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    grid_determinants::{
        Elimination, Found, are_taken, complex_matrix, matrices_per_binding, per_node, record_elimination,
        upload_phases, upload_shares,
    },
    pace::Load,
    parameters::parameters,
    recording::Work,
    shaders::Shader,
};
use crate::{
    Result,
    engine::{Determinant, Engine, GridRequest, PhaseGrid},
};

/// The most bytes of inverses.
const MOST_BYTES: usize = 1 << 28;
/// Threads of a workgroup.
const THREADS: usize = 256;

type Block = (Determinant, Mat<c64>);

pub(super) fn grid_blocks(gpu: &Gpu, grid: &PhaseGrid<'_>, rows: MatRef<'_, f64>) -> Result<Vec<Block>> {
    let context = gpu.context();
    let (count, size) = (rows.nrows(), grid.shares[0].nrows());
    if count * grid.nodes() == 0 || !are_taken(size, grid.shares.len()) {
        return Engine::host().grid_blocks(grid, rows);
    }
    let bytes = 2 * size.max(count).pow(2) * size_of(context.precision);
    let fit = matrices_per_binding(context, bytes.max(per_node(context, grid.shares)))?;
    let most = fit.min((MOST_BYTES / bytes).max(1)).min(grid.nodes());
    gpu.with_room("grid_blocks", || {
        let shares = upload_shares(context, grid.shares)?;
        let values: Vec<f64> =
            (0..count).flat_map(|i| (0..size).map(move |j| (i, j))).map(|at| rows[at]).collect();
        let products = Products {
            context,
            count,
            size,
            rows: context.uploaded(&values)?,
            matrices: context.reals(2 * most * size * size),
            images: context.reals(2 * most * count * size),
            pivots: context.storage(4 * (most * size) as u64),
        };
        let mut work = context.work("grid_blocks");
        let mut found = Vec::new();
        for first in (0..grid.nodes()).step_by(most) {
            let nodes = most.min(grid.nodes() - first);
            let own = (Found::new(context, nodes), context.reals(2 * nodes * count * count));
            let phases = work.hold(upload_phases(context, grid, first, nodes)?);
            let elimination = Elimination {
                nodes,
                size,
                parts: grid.shares.len(),
                shares: &shares,
                phases: &phases,
                matrices: &products.matrices,
                pivots: &products.pivots,
                mantissas: &own.0.mantissas,
                exponents: &own.0.exponents,
            };
            record_elimination(context, &mut work, &elimination, GridRequest::Inverses)?;
            products.record(&mut work, nodes, &own.1)?;
            found.push((nodes, own));
        }
        products.read(work, &found, grid, rows)
    })
}

/// Some rows, and the buffers for some nodes.
struct Products<'c> {
    context: &'c Context,
    count: usize,
    size: usize,
    /// U.
    rows: Lease,
    /// P⁻¹.
    matrices: Lease,
    /// U P⁻¹.
    images: Lease,
    pivots: Lease,
}

impl Products<'_> {
    /// Records U P⁻¹, then U (U P⁻¹)ᵀ. P⁻¹ is symmetric.
    fn record(&self, work: &mut Work, nodes: usize, blocks: &wgpu::Buffer) -> Result<()> {
        let Self { count, size, .. } = *self;
        let of_inverses = [size, size, 1, size * size];
        self.multiply(work, nodes, of_inverses, [&self.matrices, &self.images])?;
        self.multiply(work, nodes, [count, 1, size, count * size], [&self.images, blocks])
    }

    /// Records products with matrices of `columns` columns. Neighbouring values are `stride` apart in a column and
    /// `step` apart in a row, and nodes are `pitch` apart.
    fn multiply(
        &self,
        work: &mut Work,
        nodes: usize,
        [columns, stride, step, pitch]: [usize; 4],
        buffers: [&wgpu::Buffer; 2],
    ) -> Result<()> {
        let values = nodes * self.count * columns;
        let terms = (THREADS * self.size) as f64;
        self.context.dispatch(
            work,
            Shader::GridBlocks,
            &parameters! { values, n: self.size, count: self.count, columns, stride, step, pitch },
            &[&self.rows, buffers[0], buffers[1]].map(wgpu::Buffer::as_entire_binding),
            Load {
                groups: values.div_ceil(THREADS),
                flops: 4.0 * terms,
                bytes: 2.0 * terms * size_of(self.context.precision) as f64,
            },
        )
    }

    fn read(
        &self,
        work: Work,
        found: &[(usize, (Found, Lease))],
        grid: &PhaseGrid<'_>,
        rows: MatRef<'_, f64>,
    ) -> Result<Vec<Block>> {
        let (context, what) = (self.context, work.what);
        let values = 2 * self.count * self.count;
        let places: Vec<_> = found
            .iter()
            .flat_map(|(nodes, (own, blocks))| {
                let [mantissas, exponents] = own.places(context, *nodes);
                [mantissas, exponents, (&**blocks, 0, (nodes * values * size_of(context.precision)) as u64)]
            })
            .collect();
        let bytes = context.download(work, &places)?;
        let mut all = Vec::with_capacity(grid.nodes());
        for chunk in bytes.chunks_exact(3) {
            let determinants = Found::determinants(context, what, &chunk[0], &chunk[1])?;
            let entries = context.widened(&chunk[2]);
            for (determinant, entries) in determinants.into_iter().zip(entries.chunks_exact(values)) {
                all.push(if let Some(determinant) = determinant {
                    (determinant, complex_matrix(context, what, entries, self.count)?)
                } else {
                    // The matrix is too nearly singular for the device.
                    let phases = grid.node(all.len());
                    Engine::host().grid_blocks(&PhaseGrid { phases, ..*grid }, rows)?.swap_remove(0)
                });
            }
        }
        Ok(all)
    }
}
