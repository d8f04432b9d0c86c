//! Batches of sequential draws, with one workgroup per draw.

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    pace::Load,
    parameters::parameters,
    part_trials::PartTrials,
    proposals::{LARGEST, OVERHEAD, TURNS, found, of_wave, unit},
    shaders::{Shader, Variant},
    unit_rows::UnitRows,
    words,
};
use crate::{
    Result,
    engine::proposals::{Found, NUMBERED_TRIALS, ProposalShape, Proposer, SequentialTables, Wave},
};

/// The most picks, values per row, and values of all directions that fit in workgroup memory.
const MOST: usize = 48;
const WIDEST: usize = 128;
const SPACE: usize = 2944;
/// Threads of a workgroup, trials that it makes at a time, and threads per trial.
const THREADS: usize = 64;
const AT_ONCE: usize = 4;
const LANES: usize = THREADS / AT_ONCE;
/// The loop turns of a sum over all threads.
const TOTAL: usize = 16;

/// Tables of sequential draws.
#[derive(Debug)]
pub(super) struct DeviceDraws {
    gpu: Gpu,
    shape: ProposalShape,
    rounds: u32,
    trials: PartTrials,
    entries: Lease,
    rows: UnitRows,
    grams: Lease,
    picks: Lease,
    scales: Lease,
}

/// The number of values per row, rounded up to groups of four.
fn pitch(shape: &ProposalShape) -> usize {
    shape.rank.next_multiple_of(4)
}

/// The rounds of trials of a draw that the turns of a thread's loops allow. A draw that needs more is left to the
/// host.
fn rounds(shape: &ProposalShape) -> usize {
    let (size, pitch) = (shape.size, pitch(shape));
    let tiles = pitch / 4;
    let each = pitch.div_ceil(THREADS);
    // The turns for QQᵀ, and for the directions, which are computed twice.
    let traces = (tiles * (tiles / 2 + 1)).div_ceil(THREADS) * (size + 1) + size + TOTAL;
    let direction = 2 * (tiles + each * (size + 1)) + 4 * each + TOTAL;
    let once = size * (traces + 2 * direction + 2) + each * (size + 1);
    let round = pitch.div_ceil(LANES) + size.div_ceil(LANES) * (tiles + 1) + LANES + AT_ONCE + 11;
    (TURNS.saturating_sub(once) / round).min(NUMBERED_TRIALS as usize / AT_ONCE)
}

impl DeviceDraws {
    /// Whether draws of this shape fit.
    pub(super) fn fit(context: &Context, shape: &ProposalShape) -> bool {
        let (width, pitch) = (size_of(context.precision) as u64, pitch(shape));
        let largest = context.largest_binding;
        (1..=MOST).contains(&shape.size)
            && (1..=WIDEST).contains(&pitch)
            && shape.size * (pitch + 1) <= SPACE
            && UnitRows::fit(context, shape.items, pitch)
            && 8 * (shape.items + shape.parts) as u64 <= largest
            && (shape.parts as u64).saturating_mul((pitch * pitch) as u64 * width) <= largest
            && Variant::from(Shader::SequentialDraws).workgroup_memory(context.precision)
                <= context.workgroup_memory
            && rounds(shape) >= 2 * shape.size
    }

    pub(super) fn new(gpu: &Gpu, tables: &SequentialTables<'_>) -> Result<Self> {
        let (context, shape) = (gpu.context(), tables.shape);
        let pitch = pitch(&shape);
        let (trials, entries) = PartTrials::new(tables.trials, tables.picks);
        let mut grams = vec![0.0; shape.parts * pitch * pitch];
        for (out, gram) in grams.chunks_exact_mut(pitch * pitch).zip(tables.grams) {
            for (out, column) in out.chunks_exact_mut(pitch).zip(gram.chunks_exact(shape.rank)) {
                out[..shape.rank].copy_from_slice(column);
            }
        }
        let mut scales = tables.roots.to_vec();
        scales.resize(pitch, 0.0);
        scales.extend([tables.factor, tables.roots.iter().copied().fold(1.0, f64::max)]);
        let unit_row = |position: u32, out: &mut [f64]| {
            let (row, rest) = out.split_at_mut(shape.rank);
            (tables.unit_row)(position, row);
            rest.fill(0.0);
        };
        Ok(Self {
            gpu: gpu.clone(),
            shape,
            rounds: words(rounds(&shape)),
            entries: context.uploaded_words(&entries),
            rows: UnitRows::upload(context, shape.items, pitch, &unit_row)?,
            grams: context.uploaded(&grams)?,
            picks: context.uploaded_words(trials.picks.as_flattened()),
            scales: context.uploaded(&scales)?,
            trials,
        })
    }

    fn load(&self, context: &Context, count: u32) -> Load {
        let (size, pitch) = (self.shape.size as f64, pitch(&self.shape) as f64);
        // A pick rarely needs more than one round of simultaneous trials.
        let trials = AT_ONCE as f64 * self.shape.expected_trials.max(size);
        let traces = 0.5 * (size * pitch).powi(2);
        let flops = traces + 8.0 * size * size * pitch + trials * (OVERHEAD + pitch * size);
        let values = trials * pitch + 0.5 * size * pitch * pitch;
        let bytes = 8.0 * trials + values * size_of(context.precision) as f64;
        Load { groups: count as usize, flops, bytes }
    }
}

impl Proposer for DeviceDraws {
    fn most(&self) -> u32 {
        let context = self.gpu.context();
        words(context.pace.groups_of_a_submission(self.load(context, 1)).min(LARGEST))
    }

    fn propose(&self, wave: &Wave) -> Result<Found> {
        let context = self.gpu.context();
        self.trials.checked(found(context, wave, &self.shape, |work, found, slots| {
            context.dispatch(
                work,
                Shader::SequentialDraws,
                &[
                    &of_wave(wave)[..],
                    &parameters! {
                        rows_at_a_time: self.rows.at_a_time,
                        pitch: pitch(&self.shape),
                        size: self.shape.size,
                        slots,
                        rounds: self.rounds,
                        unit: unit(context),
                    },
                ]
                .concat(),
                &[&self.rows.buffers()[..], &[&self.entries, &self.grams, &self.picks, &self.scales, found]]
                    .concat(),
                self.load(context, wave.count),
            )
        })?)
    }
}
