//! Batches of proposals of independent items: their rows are gathered, then every proposal gets a workgroup.

use std::sync::Arc;

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    filling::Form,
    pace::Load,
    parameters::parameters,
    part_trials::PartTrials,
    proposals::{LARGEST, OVERHEAD, TURNS, WHAT, found, of_wave, unit},
    range::QUAD,
    recording::Work,
    shaders::{Shader, Variant},
    stored::Stored,
    words,
};
use crate::{
    Features, Result,
    engine::proposals::{Found, ItemTables, ProposalShape, Proposer, Wave, alias::AliasTable},
    error::DeviceProblem,
};

/// The most items that fit in workgroup memory, for any proposal and for a small one.
const MOST: usize = 36;
const SMALL: usize = 16;
/// The most bytes of the rows of a wave. A few waves are in memory at a time.
const MOST_BYTES: usize = 1 << 27;
/// Threads of a workgroup, threads that share a row, and values of rows multiplied at a time, in groups of four.
const THREADS: usize = 64;
const LANES: usize = 8;
const WIDTH: usize = 8;

/// Tables of proposals of independent items.
#[derive(Debug)]
pub(super) struct DeviceItems {
    gpu: Gpu,
    shape: ProposalShape,
    features: Features,
    stored: Arc<Stored>,
    trials: PartTrials,
    entries: Lease,
    picks: Lease,
    rows: Lease,
    factors: Lease,
}

fn shader(shape: &ProposalShape) -> Shader {
    if shape.size <= SMALL { Shader::SmallItemProposals } else { Shader::ItemProposals }
}

/// The turns of a thread's loops.
fn turns(shape: &ProposalShape) -> usize {
    let (size, quads) = (shape.size, shape.rank.div_ceil(QUAD));
    // Sixteen rows of products at a time, with four threads per row.
    let (rows, columns, pairs) = (size.div_ceil(16), size.div_ceil(4), (size / 2 + 1).div_ceil(4));
    let chunks = quads.div_ceil(WIDTH);
    let products = chunks * ((size * WIDTH).div_ceil(THREADS) + rows * (pairs * (WIDTH + 1) + 1) + 1);
    products + (size + 2) * (size + rows * (columns + 1) + 1) + quads.div_ceil(LANES)
}

/// Bytes of the rows of one proposal.
fn row_bytes(context: &Context, shape: &ProposalShape) -> usize {
    shape.size * shape.rank.next_multiple_of(QUAD) * size_of(context.precision)
}

/// The number of proposals whose rows fit in a binding.
fn most(context: &Context, shape: &ProposalShape) -> usize {
    let binding = usize::try_from(context.largest_binding).map_or(MOST_BYTES, |most| most.min(MOST_BYTES));
    binding / row_bytes(context, shape).max(1)
}

impl DeviceItems {
    /// Whether proposals of this shape fit.
    pub(super) fn fit(context: &Context, shape: &ProposalShape) -> bool {
        (1..=MOST).contains(&shape.size)
            && shape.rank > 0
            && 8 * (shape.items + shape.parts) as u64 <= context.largest_binding
            && most(context, shape) >= THREADS
            && turns(shape) <= TURNS
            && Variant::from(shader(shape)).workgroup_memory(context.precision) <= context.workgroup_memory
    }

    pub(super) fn new(gpu: &Gpu, tables: &ItemTables<'_>) -> Result<Self> {
        let context = gpu.context();
        let stored = gpu.resident().all(context, tables.features)?;
        // In other forms, every row has its own unit.
        if !stored.stays() || stored.form != Form::Plain {
            let message = "rows do not stay there as they are".to_owned();
            return Err(DeviceProblem::Refused { what: WHAT, message }.into());
        }
        // All rows are uploaded now, so that no wave waits for them.
        let mut work = context.work(WHAT);
        for chunk in 0..stored.chunks().0 {
            stored.chunk(context, tables.features, &mut work, chunk)?;
        }
        let (trials, entries) = PartTrials::new(tables.trials, tables.picks);
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let items = |table: &&AliasTable| {
            (0..table.len() as u32).map(|position| table.item(position)).collect::<Vec<u32>>()
        };
        Ok(Self {
            gpu: gpu.clone(),
            shape: tables.shape,
            features: tables.features.clone(),
            stored,
            entries: context.uploaded_words(&entries),
            picks: context.uploaded_words(trials.picks.as_flattened()),
            rows: context.uploaded_words(&tables.trials.iter().flat_map(items).collect::<Vec<u32>>()),
            factors: context.uploaded(tables.factors)?,
            trials,
        })
    }

    /// The load of judging proposals.
    fn load(&self, context: &Context, count: u32) -> Load {
        let (size, bytes) = (self.shape.size as f64, row_bytes(context, &self.shape) as f64);
        let flops = size * size * (self.shape.rank as f64 + size) + OVERHEAD;
        Load { groups: count as usize, flops, bytes }
    }

    /// Records the gathering of the rows of a wave.
    fn gather(&self, context: &Context, work: &mut Work, wave: &Wave, to: [&wgpu::Buffer; 2]) -> Result<()> {
        let ProposalShape { size, .. } = self.shape;
        let groups = (wave.count as usize * size).div_ceil(THREADS / LANES);
        let bytes = 2.0 * (THREADS / LANES) as f64 * row_bytes(context, &self.shape) as f64 / size as f64;
        let (chunks, chunk_rows) = self.stored.chunks();
        for chunk in 0..chunks {
            let rows = self.stored.chunk(context, &self.features, work, chunk)?;
            let before = chunk * chunk_rows;
            let buffers = [&rows, &self.rows, &self.factors, &self.entries, &self.picks, to[0], to[1]];
            context.dispatch(
                work,
                Shader::GatherPicks.on(self.stored.row_type),
                &[
                    &parameters! { tiles: 0_u32, quads: self.stored.quads, reading: 0_u32 }[..],
                    &of_wave(wave),
                    &parameters! { size, before, rows: chunk_rows.min(self.stored.len() - before) },
                ]
                .concat(),
                &buffers,
                Load { groups, flops: 8.0 * OVERHEAD, bytes },
            )?;
        }
        Ok(())
    }
}

impl Proposer for DeviceItems {
    fn most(&self) -> u32 {
        let context = self.gpu.context();
        let (load, chunks) = (self.load(context, 1), self.stored.chunks().0 as f64);
        // Every chunk draws all picks again. Rows are read, written, and read again.
        let flops = load.flops + chunks * self.shape.size as f64 * OVERHEAD;
        let whole = Load { groups: 1, flops, bytes: 3.0 * load.bytes };
        let fit = most(context, &self.shape).min(LARGEST);
        words(context.pace.groups_of_a_submission(whole).min(fit))
    }

    fn propose(&self, wave: &Wave) -> Result<Found> {
        let context = self.gpu.context();
        let ProposalShape { size, .. } = self.shape;
        // Sizes are rounded up to few values, so that later waves reuse the buffers.
        let count = wave.count as usize;
        let room = count.next_power_of_two().min(most(context, &self.shape).max(count));
        self.trials.checked(found(context, wave, &self.shape, |work, found, slots| {
            let images = work.hold(context.reals(room * size * self.stored.quads * QUAD));
            let positions = work.hold(context.storage(4 * (room * size) as u64));
            self.gather(context, work, wave, [&images, &positions])?;
            context.dispatch(
                work,
                shader(&self.shape),
                &[
                    &of_wave(wave)[..],
                    &parameters! { quads: self.stored.quads, size, slots, unit: unit(context) },
                ]
                .concat(),
                &[&images, &positions, found],
                self.load(context, wave.count),
            )
        })?)
    }
}
