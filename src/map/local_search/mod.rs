//! Local search: the greedy set, improved by swaps.

mod ahead;
mod chosen;
mod climb;
mod entering;
mod exchange;
mod guarantee;
mod rows;
mod starts;
mod swap;

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
};

pub(super) use climb::climb;

use super::{Candidates, Objective, Place, Solution, Solver, Stats, Termination, watch::Clock};
use crate::{
    Error, Result,
    engine::{Engine, Rows},
};

/// Improves the greedy set by swaps until none multiplies the determinant by more than 1 + ε/k.
///
/// ```text
/// det K_{S−i+j} / det K_S = M_ii d_j + C_ij²,
/// M = (K_S)⁻¹,   C = M K_{S,·},   d_j = ‖a_j − π_S(a_j)‖²
/// ```
///
/// Every step compares all pairs i ∈ S, j ∉ S and makes the best swap. Under a quota, i and j belong to one part; under
/// ranges, to any two parts whose counts allow it. If no such swap improves the set, one item each of two parts is
/// exchanged at once, or else of three parts. A set that may have several sizes ([`Dpp`](crate::Dpp), ranges without a
/// total) may also gain or lose an item, if that improves it most. Ties go to the first entering item.
///
/// [`with_restarts`](Self::with_restarts) climbs from other sets too. The result is the best set found, never worse than
/// the greedy one if there was time for that. If the greedy algorithm ends short of the quota, its set is returned.
///
/// # Guarantee
/// For k items without parts: within a factor min((k!)², e^ε κ(A)^k) of the optimum,
/// κ(A) = λ_1 / mean of λ_k … λ_m (of AAᵀ), after at most 2 ln k! / ln(1 + ε/k) swaps: see
/// [`Stats::log_guarantee`], [`Stats::condition`] and [`Stats::swap_bound`]. (The theorem takes the mean of the tail over
/// n; its proof sums over the items, so it is m here.)
///
/// # Cost
/// 2mn² operations per start, as for greedy, and 4mn + 7mκ_l per swap: A is read once, and a table of κ_l coefficients
/// per item (8 bytes each) is read and written once. A GPU makes up to 64 swaps under fixed counts on its own. Under
/// ranges there are up to k coefficients, and items that are added, removed, or swapped between parts cost as much as a
/// start. Exchanges cost 2mnk and 7mk² operations, once per climb and exchange; those of three parts are skipped if 2mnk
/// exceeds 2³².
///
/// # Numerics
/// Gains are updated from swap to swap and recomputed from the data after 64 swaps, when they drift, and before the
/// search concludes that no swap improves. A set counts as better only if its determinant computed from the data is.
/// Gains below the rounding error of the determinant (about 1e-15 times the condition number of the chosen rows) are
/// not noticed.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, KDpp, map::{LocalSearch, Solver, Termination}};
/// // Greedy takes the longest row first, and then cannot have both axes.
/// let features = Features::from_rows(3, 2, vec![0.8, 0.8, 1.1, 0.0, 0.0, 1.1])?;
/// let solution = LocalSearch::default().solve(&KDpp::new(&features, 2)?, &Engine::cpu())?;
/// assert_eq!(solution.subset.as_slice(), [1, 2]);
/// assert_eq!(solution.termination, Termination::LocallyOptimal);
/// assert_eq!(solution.stats.swaps, 1);
/// # Ok(()) }
/// ```
///
/// # Source
/// Kathuria and Deshpande (2016), theorem 4.1; restarts from kicked sets: Lourenço, Martin and Stützle, *Iterated
/// local search* (2003); exchange cycles: Brown, Laddha, Pittu, Singh and Tetali, *Determinant maximization via matroid
/// intersection algorithms* (2022).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct LocalSearch {
    pub(super) epsilon: f64,
    pub(super) restarts: Restarts,
    pub(super) seed: u64,
}

/// How often the search restarts from other sets.
///
/// Three of four restarts remove a few random items from the best set so far and complete the rest greedily from other
/// items; the fourth completes a few random items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Restarts {
    /// Never.
    #[default]
    None,
    /// This many times. The same seed gives the same set, unless the watch of the engine ends the search first.
    Count(u64),
    /// Until the time limit of the engine's watch ([`Watch::within`](crate::Watch::within)), or until a thousand restarts in
    /// a row have led to known sets. Never without a time limit.
    UntilTimeLimit,
}

impl Default for LocalSearch {
    /// ε = 1e-9, no restarts.
    fn default() -> Self {
        Self { epsilon: 1e-9, restarts: Restarts::None, seed: 0 }
    }
}

impl LocalSearch {
    /// A swap must multiply the determinant by more than 1 + ε/k; ε is 1e-9 by default. (For sets of any size k is the
    /// largest size that the rank allows.)
    #[must_use]
    pub fn with_epsilon(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }

    /// Restarts from other sets; never by default.
    #[must_use]
    pub fn with_restarts(self, restarts: Restarts) -> Self {
        Self { restarts, ..self }
    }

    /// The seed of the restarts (ChaCha8, stream i for restart i); 0 by default.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Climbs again from other starts.
    fn restart(
        &self,
        space: &SearchSpace<'_>,
        best: &mut climb::Climb,
        clock: &Clock,
        stats: &mut Stats,
    ) -> Result<()> {
        let limit = match self.restarts {
            Restarts::Count(count) => count,
            Restarts::UntilTimeLimit if clock.has_deadline() => u64::MAX,
            _ => 0,
        };
        if space.spare().iter().all(|&spare| spare == 0) {
            return Ok(());
        }
        let mut known = Known::default();
        known.offer(&best.places);
        for number in 0..limit {
            if self.restarts == Restarts::UntilTimeLimit && known.in_a_row == MOST_IN_VAIN {
                break;
            }
            if let Some(ended) = clock.ended() {
                if ended == Termination::Interrupted || self.restarts != Restarts::UntilTimeLimit {
                    best.termination = ended;
                }
                break;
            }
            stats.restarts += 1;
            let start = starts::restart(space, &best.places, self.seed, number, clock)?;
            let Some(start) = start else {
                known.in_a_row += 1;
                continue;
            };
            let found = climb(space, start, best.log_det, clock, stats)?;
            known.offer(&found.places);
            let better = found.log_det > best.log_det + ROUNDING * (1.0 + best.log_det.abs());
            if better && space.candidates.log_det(&found.places) > f64::NEG_INFINITY {
                *best = climb::Climb { termination: best.termination, ..found };
            }
        }
        Ok(())
    }
}

impl<M: Objective> Solver<M> for LocalSearch {
    /// A locally optimal set of a model.
    ///
    /// [`Termination::TimeLimit`] and [`Termination::Interrupted`] mean that the first climb or the number of restarts was
    /// cut short; [`Restarts::UntilTimeLimit`] does not count as cut short.
    ///
    /// # Errors
    /// [`Error::NotPositive`] for an ε that is not positive; [`Error::Eigen`]; engine errors.
    fn solve(&self, model: &M, engine: &Engine) -> Result<Solution> {
        let (engine, watch) = engine.apart();
        if !(self.epsilon > 0.0 && self.epsilon.is_finite()) {
            return Err(Error::NotPositive { what: "epsilon", value: self.epsilon });
        }
        let clock = watch.start();
        let candidates = model.candidates();
        let rows = candidates.rows();
        let space = SearchSpace { candidates: &candidates, engine, rows: &rows, epsilon: self.epsilon };
        let mut stats = Stats::default();
        let (greedy, repairs) = starts::complete(&space, &[], &[], &clock)?;
        (stats.gains, stats.repairs) = (greedy.gains, repairs);
        if candidates.counts.most == 0 || greedy.termination == Termination::RankExhausted {
            let termination = match greedy.termination {
                Termination::RankExhausted => Termination::RankExhausted,
                _ => Termination::LocallyOptimal,
            };
            return Ok(Solution { stats, ..Solution::new(&candidates, &greedy.places, termination, engine) });
        }
        let mut best = climb(&space, greedy.places, f64::NEG_INFINITY, &clock, &mut stats)?;
        if best.termination == Termination::LocallyOptimal {
            if clock.ended().is_none() {
                guarantee::fill(&space, &mut stats)?;
            }
            self.restart(&space, &mut best, &clock, &mut stats)?;
        }
        Ok(Solution { stats, ..Solution::new(&candidates, &best.places, best.termination, engine) })
    }
}

/// Restarts in a row without a new set after which the search ends.
const MOST_IN_VAIN: u64 = 1000;

/// Hashes of the sets in which climbs have ended.
#[derive(Default)]
struct Known {
    hashes: HashSet<u64>,
    /// Climbs since the last one that ended in a new set.
    in_a_row: u64,
}

impl Known {
    fn offer(&mut self, places: &[Place]) {
        let mut places = places.to_vec();
        places.sort_unstable();
        let mut hasher = DefaultHasher::new();
        places.hash(&mut hasher);
        self.in_a_row = if self.hashes.insert(hasher.finish()) { 0 } else { self.in_a_row + 1 };
    }
}

/// Sets whose ln det agree to this relative accuracy are equally good.
const ROUNDING: f64 = 1e-12;

/// The sets that climbs move through, and the test for an improvement.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchSpace<'c> {
    pub(super) candidates: &'c Candidates<'c>,
    pub(super) engine: &'c Engine,
    /// The rows of the candidates.
    pub(super) rows: &'c Rows<'c>,
    pub(super) epsilon: f64,
}

impl SearchSpace<'_> {
    /// Whether multiplying the determinant by this factor is an improvement.
    fn improves(&self, ratio: f64) -> bool {
        ratio - 1.0 > self.least_gain()
    }

    /// ε/k.
    fn least_gain(&self) -> f64 {
        self.epsilon / self.candidates.counts.most.max(1) as f64
    }

    /// The number of items of every group that a set can leave out.
    fn spare(&self) -> Vec<usize> {
        let counts = &self.candidates.counts;
        let spare = |(l, group): (usize, &crate::model::FreeItems)| {
            if counts.high[l] > 0 { group.len() - counts.low[l] } else { 0 }
        };
        self.candidates.groups.iter().enumerate().map(spare).collect()
    }
}
