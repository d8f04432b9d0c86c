//! One chain: its set, its generator, its sweeps.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{
    basis::Basis,
    candidates::{Candidate, CandidateDistribution},
    moves::{MoveCount, Proposal, Sweep},
    other_sets::OtherSets,
    swap::SwapBuffers,
};
use crate::{
    Result,
    model::FreeItems,
    sample::{Attempts, rejection::BoundedScratch},
    watch::Watch,
};

/// Items replaced, in units of the set's size, after which W is recomputed from the rows.
const REFRESH: usize = 16;
/// The error of a leaving dual vector above which W is recomputed before the move is decided.
const STALE: f64 = 1e-12;

/// The data that all chains share: candidates, and the group of each slot.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) groups: Vec<FreeItems>,
    pub(super) candidates: Vec<CandidateDistribution>,
    pub(super) group_of: Vec<usize>,
    pub(super) other_sets: OtherSets,
    /// Another set is proposed once per this many sweeps.
    pub(super) every: Option<usize>,
    /// Block moves per sweep.
    pub(super) blocks: usize,
}

impl Walk {
    /// The items of a set as candidates.
    pub(super) fn candidates_of(&self, items: &[u32]) -> Vec<Candidate> {
        let of_slot =
            |(&item, &group): (&u32, &usize)| self.candidates[group].of_item(&self.groups[group], item);
        items.iter().zip(&self.group_of).map(of_slot).collect()
    }
}

#[derive(Debug)]
pub(super) struct Chain {
    pub(super) basis: Basis,
    rng: ChaCha8Rng,
    /// ln of the proposal weight of the item in each slot.
    log_weights: Vec<f64>,
    sweep: Sweep,
    /// Sweeps begun.
    sweeps: usize,
    swap: SwapBuffers,
    /// Moves by the number of items replaced, starting at 1.
    pub(super) moves: Vec<MoveCount>,
    /// Moves to other sets.
    pub(super) other_sets: MoveCount,
    scratch: BoundedScratch,
    /// Items replaced since W was computed.
    replaced: usize,
    pub(super) refreshes: u64,
    /// The largest drift of ln det seen when W was recomputed.
    pub(super) drift: f64,
}

impl Chain {
    /// A chain at the set of this basis.
    pub(super) fn new(basis: Basis, walk: &Walk, rng: ChaCha8Rng) -> Self {
        let slots = walk.group_of.len();
        let start = walk.candidates_of(&basis.items[..slots]);
        let moves = (1..=slots).map(|replaced| MoveCount { replaced, ..MoveCount::default() });
        Self {
            basis,
            rng,
            log_weights: start.iter().map(|candidate| candidate.log_weight).collect(),
            sweep: Sweep::new(slots, walk.blocks),
            sweeps: 0,
            swap: SwapBuffers::default(),
            moves: moves.collect(),
            other_sets: MoveCount { replaced: slots, ..MoveCount::default() },
            scratch: walk.other_sets.scratch(),
            replaced: 0,
            refreshes: 0,
            drift: 0.0,
        }
    }

    /// The chosen items, without the included ones.
    pub(super) fn items(&self) -> &[u32] {
        &self.basis.items[..self.log_weights.len()]
    }

    /// Occasionally proposes another set, then visits every slot once and some blocks, unless the watch ends the
    /// sweep.
    pub(super) fn sweep(&mut self, walk: &Walk, watch: &Watch) -> Result<()> {
        watch.check()?;
        if walk.every.is_some_and(|every| self.sweeps.is_multiple_of(every)) {
            self.attempt_other(walk, watch)?;
        }
        self.sweeps += 1;
        let mut sweep = std::mem::replace(&mut self.sweep, Sweep::new(0, 0));
        sweep.draw(&walk.candidates, &walk.group_of, &mut self.rng);
        let mut outcome = Ok(());
        for number in 0..sweep.len() {
            outcome = watch.check();
            if outcome.is_err() {
                break;
            }
            // Rows are scattered in memory: prefetch the next one.
            for proposal in sweep.of_move(number + 1) {
                self.basis.features.prefetch_row(proposal.candidate.item as usize);
            }
            self.attempt(sweep.of_move(number));
        }
        self.sweep = sweep;
        outcome
    }

    /// Makes a move with its Metropolis–Hastings probability.
    fn attempt(&mut self, proposals: &[Proposal]) {
        let count = &mut self.moves[proposals.len() - 1];
        count.proposed += 1;
        if proposals.iter().all(|proposal| self.basis.items[proposal.slot] == proposal.candidate.item) {
            return;
        }
        let threshold = self.rng.random::<f64>().ln();
        let mut accepted = threshold < self.log_acceptance(proposals);
        let stale = |proposal: &Proposal| self.basis.staleness(proposal.slot) > STALE;
        if accepted && self.replaced > 0 && proposals.iter().any(stale) {
            self.refresh();
            accepted = threshold < self.log_acceptance(proposals);
        }
        if !accepted {
            return;
        }
        self.basis.make(&mut self.swap);
        self.moves[proposals.len() - 1].accepted += 1;
        for proposal in proposals {
            self.log_weights[proposal.slot] = proposal.candidate.log_weight;
        }
        self.replaced += proposals.len();
        if self.replaced >= REFRESH * self.log_weights.len() {
            self.refresh();
        }
    }

    /// Moves to another set with its Metropolis–Hastings probability, unless the watch ends the draw; see [`OtherSets`].
    fn attempt_other(&mut self, walk: &Walk, watch: &Watch) -> Result<()> {
        self.other_sets.proposed += 1;
        let slots = self.log_weights.len();
        let Self { basis, rng, scratch, .. } = self;
        let mut attempts = Attempts::under(watch, 0.0);
        let present = walk.other_sets.weigh(&basis.items[..slots], rng, scratch, || attempts.go_on());
        let drawn = walk.other_sets.draw(rng, scratch, || attempts.go_on());
        attempts.check()?;
        let Some((items, log)) = drawn else { return Ok(()) };
        if !present.is_finite() || rng.random::<f64>().ln() >= log - present {
            return Ok(());
        }
        let Some(basis) = basis.at(&items) else { return Ok(()) };
        self.basis = basis;
        self.replaced = 0;
        let weights = walk.candidates_of(&items).into_iter().map(|candidate| candidate.log_weight);
        self.log_weights = weights.collect();
        self.other_sets.accepted += 1;
        Ok(())
    }

    /// ln of the Metropolis–Hastings ratio; the move is made if a uniform number is below it.
    ///
    /// ```text
    /// det(K_S') Π q_i / (det(K_S) Π q_j),   i leaves, j enters
    /// ```
    pub(super) fn log_acceptance(&mut self, proposals: &[Proposal]) -> f64 {
        let entering = proposals.iter().map(|proposal| (proposal.slot, proposal.candidate.item));
        let log_ratio = self.basis.weigh(&mut self.swap, entering);
        let correction =
            |proposal: &Proposal| self.log_weights[proposal.slot] - proposal.candidate.log_weight;
        log_ratio + proposals.iter().map(correction).sum::<f64>()
    }

    pub(super) fn refresh(&mut self) {
        self.drift = self.drift.max(self.basis.refresh());
        self.refreshes += 1;
        self.replaced = 0;
    }
}
