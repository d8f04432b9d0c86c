//! The best set of independent parts.

use super::{Covered, Solution, Stats, Termination, rounding::of_sum};
use crate::Subset;

impl Solution {
    /// The union of solutions of disjoint parts, such as [`IndependentKDpps::parts`](crate::IndependentKDpps::parts).
    ///
    /// Its objective is the sum of the parts' objectives, Σ_l ln det K_{S_l}. Its upper bound is the sum of their
    /// bounds, if all have one. `None` without solutions.
    ///
    /// The coverage of the parts is also added up, so let them cover different items
    /// ([`Coverage::within`](super::Coverage::within)).
    ///
    /// The termination is the weakest among the parts: from interrupted, time limit and lacking items up to proven
    /// optimal. The counters are sums; gains are listed part after part.
    #[must_use]
    pub fn union(parts: impl IntoIterator<Item = Self>) -> Option<Self> {
        let parts: Vec<Self> = parts.into_iter().collect();
        let first = parts.first()?;
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let items = parts.iter().flat_map(|part| part.subset.iter()).map(|item| item as u32);
        let bounds: Option<Vec<f64>> = parts.iter().map(|part| part.upper_bound).collect();
        let rounded_up = |bounds: Vec<f64>| {
            let magnitude: f64 = bounds.iter().map(|bound| bound.abs()).sum();
            bounds.iter().sum::<f64>() + of_sum(bounds.len()) * magnitude
        };
        let covered: Option<Vec<Covered>> = parts.iter().map(|part| part.covered).collect();
        let log_det: f64 = parts.iter().map(|part| part.log_det).sum();
        Some(Self {
            subset: Subset::from_distinct(items.collect()),
            log_det,
            covered: covered.and_then(|covered| covered.into_iter().reduce(Covered::and)),
            missing: parts.iter().map(|part| part.missing).sum(),
            upper_bound: bounds.map(|bounds| rounded_up(bounds).max(log_det)),
            termination: parts.iter().map(|part| part.termination).fold(first.termination, worse),
            stats: parts.iter().map(|part| &part.stats).fold(Stats::default(), sum),
            engine: first.engine.clone(),
        })
    }
}

/// The termination that guarantees less.
fn worse(one: Termination, other: Termination) -> Termination {
    const FROM_WORST: [Termination; 9] = [
        Termination::Interrupted,
        Termination::TimeLimit,
        Termination::RankExhausted,
        Termination::QuotaMet,
        Termination::GainNotPositive,
        Termination::AllDecided,
        Termination::LocallyOptimal,
        Termination::Rounding,
        Termination::Optimal,
    ];
    FROM_WORST.into_iter().find(|&way| way == one || way == other).unwrap_or(one)
}

/// Adds the counters of a part. The guarantee of theorem 4.1 for one part does not hold for the union.
fn sum(mut all: Stats, part: &Stats) -> Stats {
    all.gains.extend(&part.gains);
    all.repairs += part.repairs;
    all.swaps += part.swaps;
    all.exchanges += part.exchanges;
    all.evaluations += part.evaluations;
    all.restarts += part.restarts;
    all.iterations += part.iterations;
    all.resizes += part.resizes;
    all.nodes += part.nodes;
    all.survivors = all.survivors.map_or(part.survivors, |all| Some(all + part.survivors?));
    all
}
