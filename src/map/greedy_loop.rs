//! The loop of every greedy algorithm: pick the next item until the counts are met or no item is worth it.

use super::{Place, Termination};
use crate::{
    Result,
    engine::{Demand, RemainingCounts},
    model::Counts,
};

/// The number of dependent items after which filling gives up.
const PATIENCE: usize = 1000;

/// The items of an algorithm, and how it finds the next one.
pub(super) trait Source {
    /// Makes one or several picks, or finds that none is left.
    fn step(&mut self, picks: &mut Picks<'_>) -> Result<Step>;

    /// Takes the item with the largest last known gain that the counts need, without looking at all items.
    fn fill_one(&mut self, picks: &mut Picks<'_>) -> Result<FillStep>;
}

/// The outcome of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Something was picked, removed or recomputed.
    Made,
    /// No item is left that is worth picking.
    Nothing,
    /// Gains are too small for the precision in which they are kept.
    Unclear,
}

/// The outcome of filling one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FillStep {
    Picked,
    Dependent,
    Nothing,
}

/// The outcome of the loop.
#[derive(Debug)]
pub(super) struct Picked {
    /// The picks in order, without those given at the start.
    pub(super) places: Vec<Place>,
    /// The increase of the objective (ln det or another) by each pick.
    pub(super) gains: Vec<f64>,
    pub(super) termination: Termination,
}

/// The picks so far, and how many more the counts allow.
#[derive(Debug)]
pub(super) struct Picks<'c> {
    counts: &'c Counts,
    /// The number of items picked from each group.
    taken: Vec<usize>,
    /// The demand for another item of each group.
    demands: Vec<Demand>,
    picked: Picked,
}

impl<'c> Picks<'c> {
    /// Starts after `taken` items of each group.
    pub(super) fn new(counts: &'c Counts, taken: Vec<usize>) -> Self {
        let demands = counts.demands(&taken);
        let picked = Picked { places: Vec::new(), gains: Vec::new(), termination: Termination::QuotaMet };
        Self { counts, taken, demands, picked }
    }

    /// Picks until every group is full, or until none needs items and no gain is worthwhile.
    ///
    /// If `ended` returns a reason to stop, the places that the counts still need are filled by last known gains.
    /// Returns false if gains became unclear first.
    pub(super) fn run(
        &mut self,
        source: &mut impl Source,
        ended: &dyn Fn(&Picked) -> Option<Termination>,
    ) -> Result<bool> {
        while self.is_open() {
            if let Some(termination) = ended(&self.picked) {
                self.picked.termination = termination;
                self.fill(source)?;
                return Ok(true);
            }
            match source.step(self)? {
                Step::Made => {}
                Step::Nothing => break,
                Step::Unclear => return Ok(false),
            }
        }
        self.picked.termination = if self.counts.missing(&self.taken) > 0 {
            Termination::RankExhausted
        } else if self.counts.total().is_some() {
            Termination::QuotaMet
        } else {
            Termination::GainNotPositive
        };
        Ok(true)
    }

    /// Meets the counts with the independent items that have the largest last known gains.
    fn fill(&mut self, source: &mut impl Source) -> Result<()> {
        let mut dependent = 0;
        while dependent < PATIENCE {
            match source.fill_one(self)? {
                FillStep::Picked => {}
                FillStep::Dependent => dependent += 1,
                FillStep::Nothing => break,
            }
        }
        Ok(())
    }

    /// Adds a pick and returns the groups that it fills.
    pub(super) fn add(&mut self, place: Place, gain: f64) -> Vec<usize> {
        self.picked.places.push(place);
        self.picked.gains.push(gain);
        self.taken[place.group] += 1;
        let before = std::mem::take(&mut self.demands);
        self.demands = self.counts.demands(&self.taken);
        // A full group stays full.
        let filled = |&group: &usize| self.demands[group] == Demand::Full && before[group] != Demand::Full;
        (0..before.len()).filter(filled).collect()
    }

    /// Whether any group takes another item.
    pub(super) fn is_open(&self) -> bool {
        self.groups(Demand::Optional).next().is_some()
    }

    /// The groups with at least this demand.
    pub(super) fn groups(&self, least: Demand) -> impl Iterator<Item = usize> {
        (0..self.demands.len()).filter(move |&group| self.demands[group] >= least)
    }

    /// The groups that take no more items.
    pub(super) fn full_groups(&self) -> impl Iterator<Item = usize> {
        (0..self.demands.len()).filter(|&group| self.demands[group] == Demand::Full)
    }

    /// The demand for another item of each group.
    pub(super) fn demands(&self) -> &[Demand] {
        &self.demands
    }

    /// The counts that the set still allows.
    pub(super) fn remaining(&self) -> RemainingCounts {
        self.counts.remaining(&self.taken)
    }

    pub(super) fn picked(&self) -> &Picked {
        &self.picked
    }

    pub(super) fn into_picked(self) -> Picked {
        self.picked
    }
}
