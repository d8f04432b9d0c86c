//! The dispatches of a choice: nodes, the form of the next pick, the weights of rows in it, their sums, and the row.

use super::{
    buffers::{Lease, size_of},
    context::Context,
    grid_determinants::{Elimination, record_elimination},
    map_rows::LoadedChunk,
    node_table::{DeviceNodes, Grid, NodeChunk, Plan, Step},
    pace::Load,
    parameters::parameters,
    range::QUAD,
    recording::Work,
    resident::{BLOCK, TILE},
    shaders::Shader,
};
use crate::{Result, engine::GridRequest};

/// Threads of a workgroup.
const THREADS: usize = 256;
/// The number of workgroups that nodes are spread over, if there are enough nodes.
const RUNS: usize = 256;
/// The most iterations of a thread's loops; some drivers stop at 2¹⁶.
const TURNS: usize = 30_000;

/// The first task of [`condition_nodes`](Shader::ConditionNodes).
const START: u32 = 0;
const CONDITION: u32 = 1;

/// Buffers of one choice.
#[derive(Debug)]
pub(super) struct Scratch {
    /// The uniform number, and the largest pivot that counts as rounding.
    draw: Lease,
    form: Lease,
    tallies: Lease,
    /// The coefficient, the total, the sum left to pass in the tile, and the weight of the row.
    pub(super) found: Lease,
    /// Flags, tile, row.
    pub(super) marks: Lease,
}

impl Scratch {
    pub(super) fn new(context: &Context, plan: &Plan, nodes: &[NodeChunk], uniform: f64) -> Result<Self> {
        let runs: usize = nodes.iter().map(|chunk| runs(context, plan.size, chunk)).sum();
        Ok(Self {
            draw: context.uploaded(&[uniform, plan.least])?,
            form: context.reals(plan.size * plan.size),
            tallies: context.reals(runs),
            found: context.reals(4),
            marks: context.storage(12),
        })
    }

    /// Clears the results, since a choice does not write every number.
    pub(super) fn clear(&self, work: &mut Work) {
        work.encoder().clear_buffer(&self.found, 0, None);
        work.encoder().clear_buffer(&self.marks, 0, None);
    }
}

/// The number of nodes that a workgroup conditions, one after another.
fn run(context: &Context, size: usize, nodes: usize) -> usize {
    let turns = size.div_ceil(64) * size.div_ceil(4) + (size * size).div_ceil(THREADS) + 200;
    let (flops, bytes) = node_load(context, size);
    let most = (TURNS / turns).min(context.pace.units_of_a_group(flops, bytes));
    nodes.div_ceil(RUNS).min(most).max(1)
}

fn runs(context: &Context, size: usize, chunk: &NodeChunk) -> usize {
    chunk.count.div_ceil(run(context, size, chunk.count))
}

/// Operations and bytes of a pick per node: a product with the matrix, its update, and the sums.
fn node_load(context: &Context, size: usize) -> (f64, f64) {
    let entries = (size * size) as f64;
    (26.0 * entries, 8.0 * entries * size_of(context.precision) as f64)
}

impl DeviceNodes {
    /// Records the computation or conditioning of all nodes, and W and the tallies of the coefficient.
    pub(super) fn record_nodes(
        &self,
        context: &Context,
        work: &mut Work,
        scratch: &Scratch,
        step: &Step,
    ) -> Result<()> {
        let size = self.plan.size;
        let mut first_run = 0;
        for (number, chunk) in self.nodes.iter().enumerate() {
            let exponents = work.hold(context.storage(4 * chunk.count as u64));
            let (direction, what) = match step {
                Step::Grid(grid) => {
                    self.record_grid(context, work, grid, number, &exponents)?;
                    (&vec![0.0; size], START)
                }
                Step::Pick(direction) => (direction, CONDITION),
                Step::Excluded => return Ok(()),
            };
            let own = 4 * chunk.first..4 * (chunk.first + chunk.count);
            let inputs = [&direction[..], &self.factors[own]].concat();
            let inputs = work.hold(context.uploaded(&inputs)?);
            let (run, runs) = (run(context, size, chunk.count), runs(context, size, chunk));
            let images = work.hold(context.reals(2 * runs * size));
            let partials = work.hold(context.reals(runs * size * size));
            let (flops, bytes) = node_load(context, size);
            context.dispatch(
                work,
                Shader::ConditionNodes,
                &parameters! { nodes: chunk.count, n: size, run, first_run, step: what },
                &[
                    inputs.as_entire_binding(),
                    exponents.as_entire_binding(),
                    chunk.matrices.as_entire_binding(),
                    chunk.values.as_entire_binding(),
                    images.as_entire_binding(),
                    partials.as_entire_binding(),
                    scratch.tallies.as_entire_binding(),
                    scratch.marks.as_entire_binding(),
                ],
                Load { groups: runs, flops: run as f64 * flops, bytes: run as f64 * bytes },
            )?;
            let terms = (THREADS * runs) as f64;
            context.dispatch(
                work,
                Shader::SumForms,
                &parameters! { runs, pitch: size * size, earlier: number > 0 },
                &[partials.as_entire_binding(), scratch.form.as_entire_binding()],
                Load {
                    groups: (size * size).div_ceil(THREADS),
                    flops: terms,
                    bytes: terms * size_of(context.precision) as f64,
                },
            )?;
            first_run += runs;
        }
        Ok(())
    }

    /// Records P⁻¹ and φ of a chunk of nodes, with φ as mantissas and powers of two.
    fn record_grid(
        &self,
        context: &Context,
        work: &mut Work,
        grid: &Grid,
        number: usize,
        exponents: &wgpu::Buffer,
    ) -> Result<()> {
        let (chunk, size) = (&self.nodes[number], self.plan.size);
        let pivots = work.hold(context.storage(4 * (chunk.count * size) as u64));
        let elimination = Elimination {
            nodes: chunk.count,
            size,
            parts: grid.parts,
            shares: &grid.shares,
            phases: &grid.phases[number],
            matrices: &chunk.matrices,
            pivots: &pivots,
            mantissas: &chunk.values,
            exponents,
        };
        record_elimination(context, work, &elimination, GridRequest::Inverses)
    }

    /// Records the coefficient, R with R Rᵀ = W, and ‖Rᵀ w Fᵀ a_i‖² for every row.
    pub(super) fn record_weights(&self, context: &Context, work: &mut Work, scratch: &Scratch) -> Result<()> {
        let (size, quads) = (self.plan.size, self.plan.rows.quads());
        let width = size_of(context.precision) as f64;
        let runs: usize = self.nodes.iter().map(|chunk| runs(context, size, chunk)).sum();
        let root = work.hold(context.reals(size * size + size));
        let (flops, bytes) = (2.0 * (size * size) as f64, (size * size) as f64 * width);
        let turns = size.div_ceil(THREADS) * (size + 1) + 50;
        let steps = (TURNS / turns).min(context.pace.units_of_a_group(flops, bytes)).max(1);
        for first in (0..size).step_by(steps) {
            let last = size.min(first + steps);
            let times = (last - first) as f64;
            context.dispatch(
                work,
                Shader::RootForm,
                &parameters! { n: size, runs, first, last },
                &[
                    scratch.draw.as_entire_binding(),
                    scratch.form.as_entire_binding(),
                    scratch.tallies.as_entire_binding(),
                    root.as_entire_binding(),
                    scratch.found.as_entire_binding(),
                ],
                Load { groups: 1, flops: times * flops, bytes: times * bytes },
            )?;
        }
        let columns = size.next_multiple_of(QUAD);
        let factor = work.hold(context.reals(quads * QUAD * columns));
        let terms = (THREADS * size) as f64;
        context.dispatch(
            work,
            Shader::MapRoot,
            &parameters! { n: size, quads, column_quads: columns / QUAD },
            &[self.plan.map.as_entire_binding(), root.as_entire_binding(), factor.as_entire_binding()],
            Load {
                groups: (quads * QUAD * columns).div_ceil(THREADS),
                flops: 2.0 * terms,
                bytes: 2.0 * terms * width,
            },
        )?;
        self.record_rows(context, work, &factor, size)
    }

    /// Records ‖Gᵀ a_i‖² for every row, for a G on the device in the layout of products. Nothing else reads rows.
    fn record_rows(
        &self,
        context: &Context,
        work: &mut Work,
        factor: &wgpu::Buffer,
        columns: usize,
    ) -> Result<()> {
        let rows = &self.plan.rows;
        let chunks = rows.chunks.iter().zip(&self.plan.stored);
        for ((chunk, stored), out) in chunks.zip(&self.weights.chunks) {
            let loaded = LoadedChunk { rows, chunk, stored };
            let block = rows.block_load(chunk.tiles.len(), BLOCK);
            let wide = BLOCK * context.pace.units_of_a_group(block.flops, block.bytes);
            for first in (0..columns).step_by(wide) {
                let last = columns.min(first + wide);
                let times = (last - first).div_ceil(BLOCK) as f64;
                loaded.dispatch(
                    context,
                    work,
                    Shader::RowForms,
                    &parameters! {
                        column_quads: columns.div_ceil(QUAD),
                        first_quad: first / QUAD,
                        last_quad: last.div_ceil(QUAD),
                        first_group: 0_u32,
                        last_group: 1_u32,
                    },
                    &[factor, out],
                    Load { flops: times * block.flops, bytes: times * block.bytes, ..block },
                )?;
            }
        }
        Ok(())
    }

    /// The load of a pass over the weights of a chunk.
    fn load_of_tiles(context: &Context, rows: usize) -> Load {
        let (flops, bytes) = (TILE as f64, (TILE * size_of(context.precision)) as f64);
        Load { groups: rows.div_ceil(TILE), flops, bytes }
    }

    /// Records the sum of the weights of every tile.
    pub(super) fn record_sums(&self, context: &Context, work: &mut Work) -> Result<()> {
        let mut first_tile = 0;
        for (rows, weights) in self.plan.rows.chunks.iter().zip(&self.weights.chunks) {
            context.dispatch(
                work,
                Shader::WeighTiles,
                &parameters! { rows: rows.len, first_tile },
                &[weights.as_entire_binding(), self.weights.sums.as_entire_binding()],
                Self::load_of_tiles(context, rows.len),
            )?;
            first_tile += rows.len.div_ceil(TILE);
        }
        Ok(())
    }

    /// Records the choice of the tile and the row at which the sum of the weights passes the uniform number's share.
    pub(super) fn record_choice(&self, context: &Context, work: &mut Work, scratch: &Scratch) -> Result<()> {
        let width = size_of(context.precision) as f64;
        let alone = |values: usize| Load { groups: 1, flops: values as f64, bytes: values as f64 * width };
        let tiles: usize = self.plan.rows.chunks.iter().map(|rows| rows.len.div_ceil(TILE)).sum();
        context.dispatch(
            work,
            Shader::ChooseTile,
            &parameters! { tiles },
            &[
                scratch.draw.as_entire_binding(),
                self.weights.sums.as_entire_binding(),
                scratch.found.as_entire_binding(),
                scratch.marks.as_entire_binding(),
            ],
            alone(tiles + THREADS),
        )?;
        let (mut first_tile, mut first_row) = (0, 0);
        for (rows, weights) in self.plan.rows.chunks.iter().zip(&self.weights.chunks) {
            context.dispatch(
                work,
                Shader::ChooseRow,
                &parameters! { rows: rows.len, first_tile, first_row },
                &[
                    weights.as_entire_binding(),
                    scratch.found.as_entire_binding(),
                    scratch.marks.as_entire_binding(),
                ],
                alone(2 * TILE),
            )?;
            first_row += rows.len;
            first_tile += rows.len.div_ceil(TILE);
        }
        Ok(())
    }
}
