//! The items that a ridge adds to the items drawn from the kernel itself.

use rand::Rng;

use super::symmetric_tree::{SymmetricTree, choose};
use crate::{
    Partition,
    engine::Items,
    linalg::log_sum,
    model::{CountWeights, FreeItems},
};

/// The items added to the items T drawn from one part, so that `low` to `high` items are chosen.
///
/// ```text
/// Pr(F | T) ∝ Π_{i∈F} d_i,   F ⊆ P_l ∖ T,   low ≤ |T∩P_l| + |F| ≤ high,   d_i = δ q_i²
/// ```
#[derive(Clone, Debug)]
pub(crate) struct PartFill {
    items: FreeItems,
    low: usize,
    high: usize,
    /// The largest number of items of T in the part.
    pub(super) most: usize,
    weights: Weights,
}

/// ln d_i.
#[derive(Clone, Debug)]
enum Weights {
    /// The same value for all items.
    Equal(f64),
    Each(SymmetricTree),
}

impl PartFill {
    pub(super) fn new(
        items: FreeItems,
        [low, high]: [usize; 2],
        rank: usize,
        log_delta: f64,
        log_quality: Option<&[f64]>,
    ) -> Self {
        let weights = match log_quality {
            None => Weights::Equal(log_delta),
            Some(logs) => {
                let logs = items.iter().map(|item| log_delta + 2.0 * logs[item]).collect();
                Weights::Each(SymmetricTree::new(logs, high))
            }
        };
        Self { items, low, high, most: high.min(rank), weights }
    }

    /// The numbers of items that may be added to `count` items.
    fn added(&self, count: usize) -> std::ops::RangeInclusive<usize> {
        self.low.saturating_sub(count)..=self.high - count
    }

    /// ln Σ_F Π d_i over all F that a T of this size allows; an upper bound on it if the d_i differ.
    fn log_weight(&self, count: usize) -> f64 {
        log_sum(&self.log_sums(count))
    }

    /// ln e_r for every r of `added`. It is taken over the part without `count` items or, if the d_i differ, over the
    /// whole part.
    fn log_sums(&self, count: usize) -> Vec<f64> {
        let added = self.added(count);
        let log = match &self.weights {
            Weights::Equal(log) => *log,
            Weights::Each(tree) => return added.map(|r| tree.log_sum(r)).collect(),
        };
        // ln δ^r C(n, r), one factor after another.
        let (n, mut term) = ((self.items.len() - count) as f64, 0.0);
        let mut terms = Vec::with_capacity(added.end() + 1 - added.start());
        for r in 0..=*added.end() {
            if r > 0 {
                term += log + ((n + 1.0 - r as f64) / r as f64).ln();
            }
            if r >= *added.start() {
                terms.push(term);
            }
        }
        terms
    }

    fn positions(&self, taken: &[u32]) -> Vec<usize> {
        taken.iter().filter_map(|&item| self.items.position(item as usize)).collect()
    }

    /// ln of the sum over F for these items, divided by its upper bound.
    fn log_acceptance(&self, taken: &[u32]) -> f64 {
        match &self.weights {
            Weights::Equal(_) => 0.0,
            Weights::Each(tree) => self.log_acceptance_at(tree, self.positions(taken)),
        }
    }

    fn log_acceptance_at(&self, tree: &SymmetricTree, taken: Vec<usize>) -> f64 {
        let count = taken.len();
        let without = tree.without(taken);
        let terms: Vec<f64> = self.added(count).map(|r| without.log_sum(r)).collect();
        log_sum(&terms) - self.log_weight(count)
    }

    /// The smallest log-acceptance of any T.
    fn least_log_acceptance(&self) -> f64 {
        let Weights::Each(tree) = &self.weights else { return 0.0 };
        let of = |count: usize| self.log_acceptance_at(tree, tree.largest(count));
        (0..=self.most).map(of).fold(0.0, f64::min)
    }

    /// Draws F.
    fn draw<R: Rng + ?Sized>(&self, taken: &[u32], rng: &mut R, out: &mut Vec<u32>) {
        let (count, mut positions) = (taken.len(), self.positions(taken));
        positions.sort_unstable();
        let members = Items::from(&self.items);
        let start = *self.added(count).start();
        let drawn = match &self.weights {
            Weights::Equal(_) => {
                let r = start + choose(&self.log_sums(count), rng);
                let mut drawn = rand::seq::index::sample(rng, self.items.len() - count, r).into_vec();
                drawn.sort_unstable();
                // Indices so far count only the items that are not taken.
                for at in &mut drawn {
                    for &taken in &positions {
                        *at += usize::from(taken <= *at);
                    }
                }
                drawn
            }
            Weights::Each(tree) => {
                let without = tree.without(positions);
                let logs: Vec<f64> = self.added(count).map(|r| without.log_sum(r)).collect();
                let r = start + choose(&logs, rng);
                without.draw(r, rng)
            }
        };
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        out.extend(drawn.into_iter().map(|at| members.at(at) as u32));
    }
}

/// The items added in all parts.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    /// The parts that T is drawn from: `parts`, and one more if items are included.
    pub(super) partition: Partition,
    pub(crate) parts: Vec<PartFill>,
    /// Items in every set, whether in T or not.
    pub(super) included: Vec<u32>,
    pub(super) log_delta: f64,
}

impl Fill {
    /// The weights of the counts of T.
    pub(crate) fn count_weights(&self) -> CountWeights {
        let of = |part: &PartFill| (0..=part.most).map(|count| part.log_weight(count)).collect();
        let included = self.included.len();
        let of_included = (0..=included).map(|count| (included - count) as f64 * self.log_delta).collect();
        let rest = (included > 0).then_some(of_included);
        CountWeights(self.parts.iter().map(of).chain(rest).collect())
    }

    /// The bytes held, without the lists of items.
    pub(crate) fn bytes(&self) -> u64 {
        let of = |part: &PartFill| match &part.weights {
            Weights::Equal(_) => 0,
            Weights::Each(tree) => tree.bytes(),
        };
        self.parts.iter().map(of).sum()
    }

    /// The items of T in every part.
    fn by_part(&self, drawn: &[u32]) -> Vec<Vec<u32>> {
        let mut taken = vec![Vec::new(); self.parts.len()];
        for &item in drawn {
            if let Some(part) = taken.get_mut(self.partition.part_of(item as usize)) {
                part.push(item);
            }
        }
        taken
    }

    /// ln of the probability of accepting T once its counts are accepted. Count weights assume the largest possible
    /// sums, and this corrects for the actual T.
    pub(crate) fn log_acceptance(&self, drawn: &[u32]) -> f64 {
        if self.parts.iter().all(|part| matches!(part.weights, Weights::Equal(_))) {
            return 0.0;
        }
        self.parts.iter().zip(self.by_part(drawn)).map(|(part, taken)| part.log_acceptance(&taken)).sum()
    }

    /// The smallest log-acceptance of any T.
    pub(crate) fn least_log_acceptance(&self) -> f64 {
        self.parts.iter().map(PartFill::least_log_acceptance).sum()
    }

    /// T together with the items added to it.
    pub(crate) fn completed<R: Rng + ?Sized>(&self, drawn: &[u32], rng: &mut R) -> Vec<u32> {
        let mut items = self.included.clone();
        items.extend(drawn.iter().filter(|item| self.included.binary_search(item).is_err()));
        for (part, taken) in self.parts.iter().zip(self.by_part(drawn)) {
            part.draw(&taken, rng, &mut items);
        }
        items
    }
}
