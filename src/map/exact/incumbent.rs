//! The best set so far.

use crate::map::{Candidates, Place};

/// The set with the largest determinant; of equals the first in the order of items.
#[derive(Clone, Debug)]
pub(super) struct Incumbent {
    pub(super) set: Vec<Place>,
    pub(super) log_det: f64,
}

impl Incumbent {
    /// No set yet.
    pub(super) fn none() -> Self {
        Self { set: Vec::new(), log_det: f64::NEG_INFINITY }
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
            *self = Self { set, log_det };
        }
        better
    }
}
