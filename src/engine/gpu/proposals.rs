//! Batches of proposals, with one workgroup per proposal.

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    item_proposals::DeviceItems,
    pace::Load,
    parameters::{Parameter, parameters},
    recording::Work,
    sequential_draws::DeviceDraws,
    shaders::{Shader, Variant},
    unit_rows::UnitRows,
    words,
};
use crate::{
    Error, Result,
    engine::proposals::{
        Found, ItemTables, Proposal, ProposalDevice, ProposalShape, ProposalTables, Proposer,
        SequentialTables, Verdict, Wave,
    },
    error::DeviceProblem,
    parallel::map_in_tasks,
};

/// The most items or parts of a proposal that fit in workgroup memory.
const MOST: usize = 36;
/// The most items or parts of a small proposal.
const SMALL: usize = 16;
/// Trials that a workgroup makes at a time.
const LANES: usize = 64;
/// Trials after which a proposal is left to the host, in units of the expected trials. One in e¹⁶ proposals needs
/// more.
const PATIENCE: f64 = 16.0;
/// The most iterations of a thread's loops; some drivers stop at 2¹⁶.
pub(super) const TURNS: usize = 30_000;
/// Operations of a trial, apart from the operations on its row. Most of them are for random words.
pub(super) const OVERHEAD: f64 = 600.0;
/// The most proposals of a wave.
pub(super) const LARGEST: usize = 1 << 16;
/// The bit that marks an undecided proposal.
const UNDECIDED: u32 = 1 << 31;

pub(super) const WHAT: &str = "proposals";

/// Tables of proposals.
#[derive(Debug)]
struct DeviceProposals {
    gpu: Gpu,
    shape: ProposalShape,
    capacity: u32,
    rounds: u32,
    entries: Lease,
    rows: UnitRows,
    coins: Lease,
    parts: Lease,
}

impl ProposalDevice for Gpu {
    fn takes(&self, shape: &ProposalShape) -> bool {
        let context = self.context();
        let largest = context.largest_binding;
        (1..=MOST).contains(&shape.size)
            && (1..=MOST).contains(&shape.parts)
            && UnitRows::fit(context, shape.items, shape.rank)
            && 8 * (shape.items as u64 + 1) <= largest
            && 4 * (shape.rank * shape.size) as u64 <= largest
            && Variant::from(shader(shape)).workgroup_memory(context.precision) <= context.workgroup_memory
            && rounds(shape, 1.0) <= most_rounds(shape) as f64
    }

    fn prepare(&self, tables: &ProposalTables<'_>) -> Result<Box<dyn Proposer>> {
        let context = self.context();
        let (entries, capacity) = tables.trials.entries();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not above 30 000")]
        let rounds = rounds(&tables.shape, PATIENCE).min(most_rounds(&tables.shape) as f64) as u32;
        // If there is no room for tables, the host makes the proposals.
        context.checked(WHAT, || {
            Ok(Box::new(DeviceProposals {
                gpu: self.clone(),
                shape: tables.shape,
                capacity,
                rounds,
                entries: context.uploaded_words(&entries),
                rows: UnitRows::upload(context, tables.shape.items, tables.shape.rank, tables.unit_row)?,
                coins: context.uploaded_words(tables.coins),
                parts: context.uploaded_words(tables.parts.as_flattened()),
            }) as Box<dyn Proposer>)
        })
    }

    fn takes_sequential(&self, shape: &ProposalShape) -> bool {
        DeviceDraws::fit(self.context(), shape)
    }

    fn prepare_sequential(&self, tables: &SequentialTables<'_>) -> Result<Box<dyn Proposer>> {
        self.context().checked(WHAT, || Ok(Box::new(DeviceDraws::new(self, tables)?) as Box<dyn Proposer>))
    }

    fn takes_items(&self, shape: &ProposalShape) -> bool {
        DeviceItems::fit(self.context(), shape)
    }

    fn prepare_items(&self, tables: &ItemTables<'_>) -> Result<Box<dyn Proposer>> {
        self.context().checked(WHAT, || Ok(Box::new(DeviceItems::new(self, tables)?) as Box<dyn Proposer>))
    }
}

fn shader(shape: &ProposalShape) -> Shader {
    if shape.size.max(shape.parts) <= SMALL { Shader::SmallProposals } else { Shader::Proposals }
}

/// The rounds in which `patience` times the expected number of trials are made.
fn rounds(shape: &ProposalShape, patience: f64) -> f64 {
    (patience * shape.expected_trials / LANES as f64).floor() + 1.0
}

/// The rounds that the turns of a thread's loops allow. A proposal that needs more is left to the host.
fn most_rounds(shape: &ProposalShape) -> usize {
    let ProposalShape { rank, size, parts, .. } = *shape;
    let pitch = size.next_multiple_of(4);
    // Two loops with four entries per turn.
    let projection = pitch / 2 + 1;
    let once = rank + rank.div_ceil(256) + size * (projection + pitch + parts + 2);
    TURNS.saturating_sub(once) / (pitch + size * projection + 2)
}

/// Half the distance between numbers near 1 in the device's precision.
pub(super) fn unit(context: &Context) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "a power of two")]
    let unit = (0.5 * context.precision.epsilon()) as f32;
    unit
}

/// The first parameters of every shader of proposals.
pub(super) fn of_wave(wave: &Wave) -> [Parameter; 6] {
    let ([seed_low, seed_high], [block_low, block_high]) = wave.stream.words();
    parameters! { count: wave.count, first: wave.first, block_low, block_high, seed_low, seed_high }
}

/// Returns what a shader found for proposals of this shape. `dispatch` gets a buffer with room for the given number
/// of proposals. It records how many it found, then the number and the items of each.
pub(super) fn found(
    context: &Context,
    wave: &Wave,
    shape: &ProposalShape,
    dispatch: impl Fn(&mut Work, &Lease, u32) -> Result<()>,
) -> Result<Found> {
    let run = |slots: u32| -> Result<(u32, Vec<u32>)> {
        let bytes = 4 * (1 + u64::from(slots) * (shape.size as u64 + 1));
        let found = context.storage(bytes);
        let mut work = context.work(WHAT);
        work.encoder().clear_buffer(&found, 0, Some(4));
        dispatch(&mut work, &found, slots)?;
        context.downloaded(work, &[(&found, 0, bytes)], |read| {
            let mut numbers = read[0].as_chunks().0.iter().map(|bytes| u32::from_ne_bytes(*bytes));
            let count = numbers.next().unwrap_or(0);
            (count, numbers.take(count.min(slots) as usize * (shape.size + 1)).collect())
        })
    };
    context.checked(WHAT, || {
        // The number of slots is rounded up to few values, so that buffers are reused.
        let grain = wave.expected.next_power_of_two() / 8;
        let slots = wave.expected.next_multiple_of(grain.max(1)).min(wave.count);
        let (mut count, mut records) = run(slots)?;
        if count > slots {
            // It is not known which records are missing.
            let slots = count.min(wave.count);
            (count, records) = run(slots)?;
            if count > slots {
                return Err(impossible());
            }
        }
        let records: Vec<&[u32]> = records.chunks_exact(shape.size + 1).collect();
        // Sorts the proposals by number.
        let mut order: Vec<(u32, u32)> =
            records.iter().zip(0..).map(|(record, at)| (record[0] & !UNDECIDED, at)).collect();
        order.sort_unstable();
        let proposals = map_in_tasks(order.len(), |place| {
            let (number, at) = order[place];
            let record = records[at as usize];
            let is_accepted = record[0] & UNDECIDED == 0;
            Proposal {
                number: wave.first.saturating_add(number),
                verdict: if is_accepted {
                    Verdict::Accepted(record[1..].to_vec())
                } else {
                    Verdict::Undecided
                },
            }
        });
        let found = Found { proposals };
        if found.answers(wave, shape) { Ok(found) } else { Err(impossible()) }
    })
}

impl DeviceProposals {
    fn load(&self, context: &Context, count: u32) -> Load {
        let (size, rank) = (self.shape.size as f64, self.shape.rank as f64);
        let trials = self.shape.expected_trials + LANES as f64;
        // On average, a trial is projected from half of all directions.
        let flops = trials * (OVERHEAD + 3.0 * size * size) + rank * OVERHEAD / 4.0;
        let bytes = trials * (8.0 + size * size_of(context.precision) as f64) + 4.0 * rank;
        Load { groups: count as usize, flops, bytes }
    }
}

impl Proposer for DeviceProposals {
    fn most(&self) -> u32 {
        let context = self.gpu.context();
        words(context.pace.groups_of_a_submission(self.load(context, 1)).min(LARGEST))
    }

    fn propose(&self, wave: &Wave) -> Result<Found> {
        let context = self.gpu.context();
        let ProposalShape { items, rank, size, parts, .. } = self.shape;
        found(context, wave, &self.shape, |work, found, slots| {
            context.dispatch(
                work,
                shader(&self.shape),
                &[
                    &of_wave(wave)[..],
                    &parameters! {
                        rows_at_a_time: self.rows.at_a_time,
                        items,
                        capacity: self.capacity,
                        rank,
                        size,
                        parts,
                        slots,
                        rounds: self.rounds,
                        unit: unit(context),
                    },
                ]
                .concat(),
                &[&self.rows.buffers()[..], &[&self.entries, &self.coins, &self.parts, found]].concat(),
                self.load(context, wave.count),
            )
        })
    }
}

/// The error if an answer cannot come from any proposals.
pub(super) fn impossible() -> Error {
    DeviceProblem::Refused { what: WHAT, message: "its answer cannot be right".to_owned() }.into()
}

impl Gpu {
    /// Computes random words on the device, from counters of four words and keys of two.
    ///
    /// # Errors
    /// Errors of the device.
    #[doc(hidden)]
    pub fn random_words(&self, counters: &[[u32; 6]]) -> Result<Vec<[u32; 4]>> {
        let context = self.context();
        context.checked("random_words", || {
            let given = context.uploaded_words(counters.as_flattened());
            let bytes = 16 * counters.len() as u64;
            let found = context.storage(bytes);
            let mut work = context.work("random_words");
            context.dispatch(
                &mut work,
                Shader::RandomWords,
                &parameters! { count: counters.len() },
                &[&given, &found],
                Load { groups: counters.len().div_ceil(64), flops: 64.0 * OVERHEAD, bytes: 64.0 * 40.0 },
            )?;
            let read = context.download(work, &[(&found, 0, bytes)])?.concat();
            Ok(bytemuck::pod_collect_to_vec(&read))
        })
    }
}
