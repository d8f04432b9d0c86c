//! Draws in batches: a device or the host makes proposals whose random numbers depend only on the proposal's number.
//!
//! Proposals come from a projection DPP, from independent items, or from sequential draws. Draw j of a block is its
//! j-th accepted proposal. The host replays in f64 all proposals that a device leaves undecided. Given the sampler's
//! set-up, the draws therefore do not depend on the device's results for the proposals. The host makes the first
//! proposals alone, until they cost as much as the device's tables.

mod block;
mod proposals;
mod replay;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    ops::{Range, RangeInclusive},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use self::block::Block;
pub(super) use self::{
    proposals::Proposals,
    replay::{Replay, UPLOAD},
};
use super::{Attempts, Sampler, Samples};
use crate::{
    Error, Result, Subset,
    engine::{
        Engine,
        proposals::{Found, Proposal, ProposalDevice, Proposer, Stream, Verdict, Wave},
    },
    parallel::{map_ordered, map_ordered_mut, threads},
    watch::{Ended, Watch},
};

/// Draws per block.
const DRAWS: u64 = 1 << 14;
/// Blocks drawn at a time: the host makes subsets of one while the device makes proposals of another.
const AT_ONCE: u64 = 4;
/// The lowest acceptance for which several blocks are drawn at a time. Below it, one block keeps a device busy and
/// takes so long that a deadline should not leave several unfinished.
const QUICK: f64 = 0.02;
/// The lowest acceptance for which the proposals of a block can be counted in 32 bits.
const LEAST: f64 = 1e-4;
/// The most proposals that the host makes at a time, and their multiply-adds per thread: a few tenths of a second.
const HOST_WAVE: f64 = 4096.0;
const HOST_OPERATIONS: f64 = 2e8;
/// The fewest proposals in a wave on a device.
const DEVICE_WAVE: u32 = 64;

/// The device of a law, and statistics of its proposals.
pub(super) struct Batches {
    device: Arc<dyn ProposalDevice>,
    /// Whether a thread prepares, or has prepared, the tables.
    is_claimed: AtomicBool,
    /// The tables on the device; `None` if it failed.
    prepared: OnceLock<Option<Box<dyn Proposer>>>,
    has_failed: AtomicBool,
    tally: Mutex<Tally>,
    /// The last block, kept for the next instalment.
    last: Mutex<Option<Block>>,
}

/// Subsets with their numbers of proposals.
type Taken = Vec<(Subset, u64)>;

/// Proposals so far.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    made: u64,
    accepted: u64,
    /// Proposals made by the host: the first ones, those that the device left undecided, and all after it failed.
    replayed: u64,
}

/// The outcome of a wave, up to the first proposal that the watch ends.
#[derive(Debug)]
struct Made {
    count: u32,
    /// The accepted proposals in ascending order, with their items in the order of picks.
    accepted: Vec<(u32, Vec<u32>)>,
    replayed: u64,
    outcome: Result<()>,
}

impl Tally {
    /// Accepted proposals needed to estimate their share.
    const KNOWN: u64 = 64;

    /// The share of proposals accepted, once there are enough to estimate it.
    fn acceptance(&self) -> Option<f64> {
        (self.accepted >= Self::KNOWN).then(|| self.accepted as f64 / self.made as f64)
    }

    fn add(&mut self, made: &Made) {
        self.made += u64::from(made.count);
        self.accepted += made.accepted.len() as u64;
        self.replayed += made.replayed;
    }
}

impl fmt::Debug for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").field("device", &self.device).finish_non_exhaustive()
    }
}

/// A law with its device.
#[derive(Debug)]
pub(super) struct Batched<'l> {
    pub(super) batches: &'l Batches,
    pub(super) proposals: Box<dyn Proposals + 'l>,
    pub(super) acceptance_bound: f64,
}

/// The error of a trial among `items` items, because its number has 53 bits and the word that picks the item has 64.
pub(super) fn trial_error(items: usize) -> f64 {
    0.5 * f64::EPSILON + (items as f64 + 1.0) * 0.5_f64.powi(64)
}

/// Whether proposals are made in batches at this acceptance.
pub(super) fn may_take(acceptance: f64) -> bool {
    acceptance >= LEAST
}

impl Batches {
    /// The device of an engine, if it has one that accepts these proposals.
    pub(super) fn on(engine: &Engine, proposals: &dyn Proposals, acceptance: f64) -> Option<Self> {
        let device = engine.proposal_device()?;
        (may_take(acceptance) && proposals.fit(&*device)).then(|| Self::on_device(device))
    }

    fn on_device(device: Arc<dyn ProposalDevice>) -> Self {
        Self {
            device,
            is_claimed: AtomicBool::new(false),
            prepared: OnceLock::new(),
            has_failed: AtomicBool::new(false),
            tally: Mutex::default(),
            last: Mutex::default(),
        }
    }

    /// The tables on the device; `None` if it has failed or does not pay off for this wave, so that draws go on
    /// without it.
    fn proposer(&self, proposals: &dyn Proposals, wave: &Wave) -> Option<&dyn Proposer> {
        if self.has_failed.load(Ordering::Relaxed) {
            return None;
        }
        // No thread waits for tables: a thread that makes them may take up another task that needs them.
        if self.prepared.get().is_none()
            && self.pays(proposals, wave)
            && !self.is_claimed.swap(true, Ordering::Relaxed)
        {
            let prepared = proposals.prepare(&*self.device).ok();
            return self.prepared.get_or_init(|| prepared).as_deref();
        }
        self.prepared.get()?.as_deref()
    }

    /// Whether the proposals so far and in this wave cost more on the host than the tables do.
    fn pays(&self, proposals: &dyn Proposals, wave: &Wave) -> bool {
        let made = self.tally().made as f64 + f64::from(wave.count);
        made * proposals.operations() > proposals.operations_of_tables()
    }

    /// The number of proposals so far, and how many of them the host made.
    pub(super) fn counts(&self) -> [u64; 2] {
        let tally = self.tally();
        [tally.made, tally.replayed]
    }

    fn tally(&self) -> Tally {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Batched<'_> {
    /// Total variation error of draws because random numbers have finitely many bits.
    pub(super) fn error(&self) -> f64 {
        self.proposals.error() / self.acceptance_bound
    }

    /// Whether a block takes few waves of a device, as far as is known.
    fn is_quick(&self) -> bool {
        self.batches.tally().acceptance().unwrap_or(self.acceptance_bound) >= QUICK
    }

    /// The most proposals in a wave on the host.
    fn host_wave(&self) -> u32 {
        let threads = threads() as f64;
        let most = HOST_OPERATIONS * threads / self.proposals.operations();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 4096")]
        let most = most.max(threads).clamp(1.0, HOST_WAVE) as u32;
        most
    }

    /// The outcome of the next wave of proposals on the device; `None` if the device is not used or fails.
    fn on_device(&self, wave: impl Fn(RangeInclusive<u32>) -> Wave) -> Option<(Wave, Found)> {
        let proposer = self.batches.proposer(&*self.proposals, &wave(1..=u32::MAX))?;
        let wave = wave(DEVICE_WAVE..=proposer.most().max(DEVICE_WAVE));
        let found = proposer.propose(&wave);
        if found.is_err() {
            self.batches.has_failed.store(true, Ordering::Relaxed);
        }
        Some((wave, found.ok()?))
    }

    /// A wave on the host, which leaves all proposals undecided.
    fn on_host(wave: Wave) -> (Wave, Found) {
        let undecided = |number| Proposal { number, verdict: Verdict::Undecided };
        let proposals = (wave.first..wave.first + wave.count).map(undecided).collect();
        (wave, Found { proposals })
    }

    /// Makes the next wave of proposals, as far as the watch allows.
    fn made(&self, wave: impl Fn(RangeInclusive<u32>) -> Wave, watch: &Watch) -> Made {
        let on_host = || Self::on_host(wave(1..=self.host_wave()));
        let (wave, found) = self.on_device(&wave).unwrap_or_else(on_host);
        let is_undecided = |proposal: &&Proposal| proposal.verdict == Verdict::Undecided;
        let undecided: Vec<u32> =
            found.proposals.iter().filter(is_undecided).map(|proposal| proposal.number).collect();
        let replay = |at: usize| self.proposals.replayed(wave.stream, undecided[at], watch);
        let mut replays = map_ordered(undecided.len(), replay).into_iter();
        let named = |_, Proposal { number, verdict }| match verdict {
            Verdict::Accepted(mut positions) => {
                self.proposals.name(&mut positions);
                (number, Some(positions))
            }
            Verdict::Undecided => (number, None),
        };
        let proposals = map_ordered_mut(found.proposals, named);
        let accepted = Vec::with_capacity(proposals.len());
        let mut made = Made { count: wave.count, accepted, replayed: 0, outcome: Ok(()) };
        for (number, accepted) in proposals {
            let items = match accepted {
                Some(items) => Some(items),
                None => match replays.next().transpose() {
                    Ok(items) => {
                        made.replayed += 1;
                        items.flatten()
                    }
                    Err(error) => {
                        (made.count, made.outcome) = (number - wave.first, Err(error));
                        break;
                    }
                },
            };
            made.accepted.extend(items.map(|items| (number, items)));
        }
        self.batches.tally.lock().unwrap_or_else(PoisonError::into_inner).add(&made);
        made
    }

    /// Extends a block to `draws` draws, and calls `told` with their number after each wave. Returns why it ended
    /// early, if it did.
    fn extend(
        &self,
        block: &mut Block,
        draws: usize,
        watch: &Watch,
        mut told: impl FnMut(usize),
    ) -> Result<Option<Ended>> {
        loop {
            if let Some(ended) = watch.ended() {
                return Ok(Some(ended));
            }
            if block.len() >= draws {
                return Ok(None);
            }
            let tally = self.batches.tally();
            let made = self.made(|sizes| block.wave(draws, self.acceptance_bound, tally, sizes), watch);
            block.add(made.count, made.accepted);
            told(block.len().min(draws));
            match made.outcome {
                Err(Error::Ended(ended)) => return Ok(Some(ended)),
                outcome => outcome?,
            }
            block.check(self.acceptance_bound)?;
        }
    }
}

impl Sampler {
    /// The draws with these numbers, in batches, up to the first one that the watch ends.
    pub(super) fn collect_batches(
        &self,
        law: &Batched<'_>,
        draws: Range<u64>,
        seed: u64,
        attempts: &Attempts<'_>,
        told: impl Fn(u64) + Sync,
    ) -> Result<Samples> {
        let mut samples = Samples::new(self.acceptance_bound());
        if draws.is_empty() {
            return Ok(samples);
        }
        let (mut next, end) = (draws.start / DRAWS, draws.end.div_ceil(DRAWS));
        while next < end {
            let first = next;
            let count = if law.is_quick() { AT_ONCE.min(end - first) } else { 1 };
            next += count;
            let drawn = map_ordered(usize::try_from(count).unwrap_or(1), |at| {
                let block = first + at as u64;
                let start = block * DRAWS;
                let [first, last] =
                    [draws.start.saturating_sub(start), draws.end - start].map(|at| at.min(DRAWS) as usize);
                let stream = Stream { seed, block };
                self.draws_of_block(law, stream, first..last, attempts.watch(), &told)
            });
            for drawn in drawn {
                let (subsets, ended) = drawn?;
                subsets.into_iter().for_each(|(subset, proposals)| samples.push(subset, proposals));
                if let Some(ended) = ended {
                    return Ok(samples.ended_by(ended));
                }
            }
        }
        Ok(samples)
    }

    /// The draws of a block with these numbers, each with its number of proposals, and why they ended early.
    fn draws_of_block(
        &self,
        law: &Batched<'_>,
        stream: Stream,
        draws: Range<usize>,
        watch: &Watch,
        told: impl Fn(u64),
    ) -> Result<(Taken, Option<Ended>)> {
        let last = || law.batches.last.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = last().take_if(|block| block.has(stream, draws.start));
        let mut block = kept.unwrap_or_else(|| Block::new(stream));
        let mut done = draws.start;
        let ended = law.extend(&mut block, draws.end, watch, |len| {
            if len > done {
                told((len - done) as u64);
                done = len;
            }
        })?;
        let subset = |_, (mut items, proposals): (Vec<u32>, u64)| {
            items.extend_from_slice(&self.included);
            (Subset::from_distinct(items), proposals)
        };
        let subsets = map_ordered_mut(block.take(draws.clone()), subset);
        // A complete block has no next instalment.
        if ended.is_some() || (draws.end as u64) < DRAWS {
            *last() = Some(block);
        }
        Ok((subsets, ended))
    }
}
