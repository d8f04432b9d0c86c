//! The slots that a sweep visits, their order, and its proposals.

use rand::{Rng, RngExt, seq::SliceRandom};

use super::candidates::{Candidate, CandidateDistribution};

/// A slot of the set, and the candidate for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    pub(super) slot: usize,
    pub(super) candidate: Candidate,
}

/// The number of items that blocks replace: b of 2 … k with probability ∝ b⁻³.
///
/// Most replace two or three items, which parts that block each other need. All sizes have positive probability, so
/// one block can lead from any set to any other.
#[derive(Clone, Debug)]
struct BlockSizes {
    /// Pr(size ≤ b + 2).
    cumulated: Vec<f64>,
}

impl BlockSizes {
    fn new(slots: usize) -> Self {
        let mut total = 0.0;
        let sums = (2..=slots).map(|size| {
            total += (size as f64).powi(-3);
            total
        });
        let sums: Vec<f64> = sums.collect();
        Self { cumulated: sums.iter().map(|sum| sum / total).collect() }
    }

    fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> usize {
        let at = rng.random::<f64>();
        2 + self.cumulated.partition_point(|&sum| sum <= at).min(self.cumulated.len() - 1)
    }
}

/// The moves of a sweep: one per slot and some for blocks of slots, in random order.
///
/// Neither the order nor the candidates depend on the set, so all are drawn before the first move. A sweep and its
/// reversal are equally likely. Like every move in it, the sweep therefore satisfies detailed balance.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    sizes: BlockSizes,
    /// Sizes of the moves in this sweep.
    order: Vec<usize>,
    /// The slots of single moves, in order.
    visits: Vec<usize>,
    /// The slots, partially shuffled for every block.
    pool: Vec<usize>,
    proposals: Vec<Proposal>,
    /// The end of each move's proposals.
    ends: Vec<usize>,
}

impl Sweep {
    /// Sweeps over `slots` slots with `blocks` blocks (none with fewer than two slots).
    pub(super) fn new(slots: usize, blocks: usize) -> Self {
        let blocks = if slots < 2 { 0 } else { blocks };
        let order = (0..slots + blocks).map(|at| usize::from(at < slots)).collect();
        Self {
            sizes: BlockSizes::new(slots),
            order,
            visits: (0..slots).collect(),
            pool: (0..slots).collect(),
            proposals: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Draws the next sweep; `group_of` maps slots to groups of candidates.
    pub(super) fn draw<R: Rng + ?Sized>(
        &mut self,
        candidates: &[CandidateDistribution],
        group_of: &[usize],
        rng: &mut R,
    ) {
        self.order.shuffle(rng);
        self.visits.shuffle(rng);
        self.proposals.clear();
        self.ends.clear();
        let mut visited = 0;
        for &single in &self.order {
            let slots = if single == 1 {
                visited += 1;
                &self.visits[visited - 1..visited]
            } else {
                let size = self.sizes.draw(rng);
                self.pool.partial_shuffle(rng, size).0
            };
            for &slot in slots {
                let candidate = candidates[group_of[slot]].draw(rng);
                self.proposals.push(Proposal { slot, candidate });
            }
            self.ends.push(self.proposals.len());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The proposals of a move; empty after the last one.
    pub(super) fn of_move(&self, number: usize) -> &[Proposal] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.proposals[start..self.ends.get(number).copied().unwrap_or(start)]
    }
}

/// Counts of the moves that replace a given number of items at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct MoveCount {
    /// The number of items that such a move replaces.
    pub replaced: usize,
    /// Such moves proposed.
    pub proposed: u64,
    /// Moves made that changed the set.
    pub accepted: u64,
}

impl MoveCount {
    /// The share of moves accepted.
    #[must_use]
    pub fn acceptance(&self) -> f64 {
        self.accepted as f64 / self.proposed as f64
    }
}
