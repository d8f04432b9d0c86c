//! Acceptance of proposals by their counts.

use rand::{Rng, RngExt};

use crate::model::{Correction, Counts};

/// Accepts proposals whose counts are allowed, with the probability that corrects for the weights of groups.
#[derive(Clone, Debug)]
pub(crate) struct CountRule {
    counts: Counts,
    correction: Correction,
}

impl CountRule {
    pub(crate) fn new(counts: Counts, correction: Correction) -> Self {
        Self { counts, correction }
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Whether a proposal with one more item of a group may still be accepted.
    pub(crate) fn admits(&self, found: &mut [usize], group: usize) -> bool {
        found[group] += 1;
        found[group] <= self.counts.high[group]
    }

    /// Whether a complete proposal with these counts is accepted.
    pub(crate) fn accepts<R: Rng + ?Sized>(&self, found: &[usize], rng: &mut R) -> bool {
        if self.counts.exact().is_some() {
            // The total is met, and no part exceeds its count.
            return true;
        }
        if !self.counts.allow(found) {
            return false;
        }
        let log = self.correction.log_of(found);
        log >= 0.0 || rng.random::<f64>() < log.exp()
    }
}
