//! A law over sets, computed from their exact determinants.

use std::collections::BTreeMap;

use super::{Scaled, Set, items_of};

/// The law Pr(S) = det(K_S) / Z.
#[derive(Clone, Debug)]
pub struct Law {
    total: Scaled,
    /// Sets of positive probability, ascending, with their determinants.
    sets: Vec<(Set, Scaled)>,
}

impl Law {
    pub(super) fn new(sets: impl Iterator<Item = (Set, Scaled)>) -> Option<Self> {
        let mut sets: Vec<(Set, Scaled)> = sets.filter(|(_, det)| det.is_positive()).collect();
        // Add the smallest determinants first.
        sets.sort_by(|(_, a), (_, b)| a.ln().total_cmp(&b.ln()));
        let total = sets.iter().fold(Scaled::ZERO, |sum, (_, det)| sum.plus(*det));
        sets.sort_by_key(|(set, _)| *set);
        (!sets.is_empty()).then_some(Self { total, sets })
    }

    /// Returns ln Z.
    pub fn log_z(&self) -> f64 {
        self.total.ln()
    }

    /// Returns the sets and their probabilities, ascending by set, including probabilities that underflow to 0.
    pub fn sets(&self) -> impl Iterator<Item = (Set, f64)> {
        self.sets.iter().map(|(set, det)| (*set, det.over(self.total)))
    }

    pub fn probability(&self, set: Set) -> f64 {
        self.find(set).map_or(0.0, |det| det.over(self.total))
    }

    /// Returns ln Pr(S), even if Pr(S) underflows, or −∞ for a set of probability zero.
    pub fn log_probability(&self, set: Set) -> f64 {
        self.find(set).map_or(f64::NEG_INFINITY, |det| det.ln_over(self.total))
    }

    fn find(&self, set: Set) -> Option<Scaled> {
        self.sets.binary_search_by_key(&set, |(set, _)| *set).ok().map(|at| self.sets[at].1)
    }

    /// Returns Pr(i ∈ S) for every item.
    pub fn marginals(&self, items: usize) -> Vec<f64> {
        (0..items).map(|item| self.containing(1 << item)).collect()
    }

    /// Returns Pr(T ⊆ S).
    pub fn containing(&self, items: Set) -> f64 {
        self.probability_that(|set| set & items == items)
    }

    pub fn probability_that(&self, holds: impl Fn(Set) -> bool) -> f64 {
        let matching = self.sets.iter().filter(|(set, _)| holds(*set));
        matching.fold(Scaled::ZERO, |sum, (_, det)| sum.plus(*det)).over(self.total)
    }

    /// Returns the law of the part counts.
    pub fn counts(&self, labels: &[usize], parts: usize) -> BTreeMap<Vec<usize>, f64> {
        let mut out = BTreeMap::new();
        for (set, p) in self.sets() {
            *out.entry(counts(set, labels, parts)).or_insert(0.0) += p;
        }
        out
    }
}

/// Returns the number of items of a set in each part.
pub fn counts(set: Set, labels: &[usize], parts: usize) -> Vec<usize> {
    let mut counts = vec![0; parts];
    items_of(set).iter().for_each(|&item| counts[labels[item]] += 1);
    counts
}
