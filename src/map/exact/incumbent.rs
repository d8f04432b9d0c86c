//! The best set so far.

use crate::map::{Candidates, Place};

/// The set with the largest determinant; of equals the first in the order of items.
#[derive(Clone, Debug)]
pub(super) struct Incumbent {
    pub(super) set: Vec<Place>,
    pub(super) log_det: f64,
    /// No more than its determinant without rounding.
    pub(super) at_least: f64,
}

impl Incumbent {
    /// No set yet.
    pub(super) fn none() -> Self {
        Self { set: Vec::new(), log_det: f64::NEG_INFINITY, at_least: f64::NEG_INFINITY }
    }

    /// Takes a set if it is allowed and better; tells whether it was.
    pub(super) fn offer(&mut self, candidates: &Candidates<'_>, mut set: Vec<Place>) -> bool {
        if !candidates.counts.allow(&candidates.counts_of(&set)) {
            return false;
        }
        set.sort_unstable();
        let log_det = candidates.log_det(&set);
        let better = log_det > self.log_det
            || log_det.total_cmp(&self.log_det).is_eq()
                && candidates.subset(&set) < candidates.subset(&self.set);
        if better {
            let at_least = candidates.log_volume(&set).at_least.min(log_det);
            *self = Self { set, log_det, at_least };
        }
        better
    }

    /// What a set has to be worth at least to be better by the tolerance, rounding included: but for the half of it,
    /// where rounding is that large.
    pub(super) fn target(&self, tolerance: f64) -> f64 {
        let rounding = (self.log_det - self.at_least).min(0.5 * tolerance);
        // Nothing less nothing, where there is no set yet.
        self.log_det - rounding.max(0.0) + tolerance
    }
}
