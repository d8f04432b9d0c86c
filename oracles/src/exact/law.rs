//! A law over sets, from their exact determinants.

use std::collections::BTreeMap;

use super::{Scaled, Set, items_of};

/// Pr(S) = det(K_S) / Z.
#[derive(Clone, Debug)]
pub struct Law {
    total: Scaled,
    /// Sets of positive probability, ascending, with their determinants.
    sets: Vec<(Set, Scaled)>,
}

impl Law {
    pub(super) fn new(sets: impl Iterator<Item = (Set, Scaled)>) -> Option<Self> {
        let mut sets: Vec<(Set, Scaled)> = sets.filter(|(_, det)| det.is_positive()).collect();
        // The smallest are added first.
        sets.sort_by(|(_, a), (_, b)| a.ln().total_cmp(&b.ln()));
        let total = sets.iter().fold(Scaled::ZERO, |sum, (_, det)| sum.plus(*det));
        sets.sort_by_key(|(set, _)| *set);
        (!sets.is_empty()).then_some(Self { total, sets })
    }

    /// ln Z.
    pub fn log_z(&self) -> f64 {
        self.total.ln()
    }

    /// Sets and probabilities, ascending by set; those that f64 takes for 0 too.
    pub fn sets(&self) -> impl Iterator<Item = (Set, f64)> {
        self.sets.iter().map(|(set, det)| (*set, det.over(self.total)))
    }

    pub fn probability(&self, set: Set) -> f64 {
        self.find(set).map_or(0.0, |det| det.over(self.total))
    }

    /// ln Pr(S), also where Pr(S) underflows; −∞ for a set that has none.
    pub fn log_probability(&self, set: Set) -> f64 {
        self.find(set).map_or(f64::NEG_INFINITY, |det| det.ln_over(self.total))
    }

    fn find(&self, set: Set) -> Option<Scaled> {
        self.sets.binary_search_by_key(&set, |(set, _)| *set).ok().map(|at| self.sets[at].1)
    }

    /// Pr(i ∈ S).
    pub fn marginals(&self, items: usize) -> Vec<f64> {
        (0..items).map(|item| self.containing(1 << item)).collect()
    }

    /// Pr(T ⊆ S).
    pub fn containing(&self, items: Set) -> f64 {
        self.probability_that(|set| set & items == items)
    }

    pub fn probability_that(&self, holds: impl Fn(Set) -> bool) -> f64 {
        let matching = self.sets.iter().filter(|(set, _)| holds(*set));
        matching.fold(Scaled::ZERO, |sum, (_, det)| sum.plus(*det)).over(self.total)
    }

    /// The law of the part counts.
    pub fn counts(&self, labels: &[usize], parts: usize) -> BTreeMap<Vec<usize>, f64> {
        let mut out = BTreeMap::new();
        for (set, p) in self.sets() {
            *out.entry(counts(set, labels, parts)).or_insert(0.0) += p;
        }
        out
    }
}

/// How many items of a set each part has.
pub fn counts(set: Set, labels: &[usize], parts: usize) -> Vec<usize> {
    let mut counts = vec![0; parts];
    items_of(set).iter().for_each(|&item| counts[labels[item]] += 1);
    counts
}
