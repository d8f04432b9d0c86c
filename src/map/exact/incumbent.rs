//! The best set so far.

use super::problem::Judge;
use crate::map::Place;

/// The set with the largest determinant; ties go to the first in the order of items.
#[derive(Clone, Debug)]
pub(in crate::map) struct Incumbent {
    pub(in crate::map) set: Vec<Place>,
    pub(in crate::map) log_det: f64,
    /// A lower bound of its exact log-determinant.
    pub(in crate::map) at_least: f64,
}

impl Incumbent {
    /// Creates an incumbent without a set.
    pub(in crate::map) fn none() -> Self {
        Self { set: Vec::new(), log_det: f64::NEG_INFINITY, at_least: f64::NEG_INFINITY }
    }

    /// Takes a set if it is allowed and better. Returns whether it did.
    pub(in crate::map) fn offer(&mut self, judge: &impl Judge, mut set: Vec<Place>) -> bool {
        if !judge.allows(&set) {
            return false;
        }
        set.sort_unstable();
        let log_det = judge.log_det(&set);
        let better = log_det > self.log_det
            || log_det.total_cmp(&self.log_det).is_eq() && judge.subset(&set) < judge.subset(&self.set);
        if better {
            let at_least = judge.log_volume(&set).at_least.min(log_det);
            *self = Self { set, log_det, at_least };
        }
        better
    }

    /// The least log-determinant that beats the set by the tolerance. Rounding lowers it by at most half the
    /// tolerance.
    pub(in crate::map) fn target(&self, tolerance: f64) -> f64 {
        let rounding = (self.log_det - self.at_least).min(0.5 * tolerance);
        // NaN before the first set.
        self.log_det - rounding.max(0.0) + tolerance
    }
}
