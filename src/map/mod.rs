//! The most probable set: maximise det(K_S) over all sets, sets of k items, or sets that meet a quota or ranges.
//!
//! ```text
//! max  ln det(K_S),   K = A Aᵀ,   S as the model allows
//! ```
//!
//! | solver | finds | cost |
//! |---|---|---|
//! | [`Greedy`] | pick after pick the item that adds most | 2mn a pick |
//! | [`LazyGreedy`] | the same set, touching few rows | mn, and 2n for every row and direction that could matter |
//! | [`LocalSearch`] | a set that no swap improves | 2mn² once, 4mn + 7mk a swap |
//! | [`SymmetricGreedy`] | a set of any size, by one decision per item | 4mnr at most, O(nr²) |
//! | [`Softmax`] | a set of any size that no single item improves, by a continuous relaxation | O(mn² + n³) a step |
//! | [`BranchAndBound`] | the best set, and a proof | exponential; some hundred nodes for 63 items |
//!
//! [`CoreSet`] makes the same possible for items that are in many places.
//! [`UpperBound`] tells how much better than any of these the best set can be.
//!
//! Rows may be of any magnitude, but those of one part, or of all parts where there are none, are squared beside each
//! other: next to rows that are 10¹⁵⁰ times as long they count as zero ([`Termination::RankExhausted`]).
//!
//! The problem is NP-hard, to approximate within a factor c^k too (Çivril and Magdon-Ismail 2013).

mod bounds;
mod candidates;
mod certificate;
mod core_set;
mod exact;
mod greedy;
mod lazy_greedy;
mod lazy_visits;
mod local_search;
mod pivots;
mod plain_gains;
mod repair;
mod rounding;
mod softmax;
mod solver;
mod symmetric_greedy;
mod volume;
mod watch;

use std::fmt;

pub use crate::watch::{Progress, Watch};
pub use candidates::Objective;
pub(crate) use candidates::{Candidates, Place};
pub use certificate::{Bound, Certificate, UpperBound};
pub use core_set::{CoreSet, CoreSetUnion, Origin};
pub use exact::BranchAndBound;
pub use greedy::Greedy;
pub use lazy_greedy::LazyGreedy;
pub use local_search::{LocalSearch, Restarts};
pub use softmax::{Softmax, SoftmaxExtension, SoftmaxPoint};
pub use solver::Solver;
pub use symmetric_greedy::{Decision, ItemOrder, SymmetricGreedy};

use crate::{
    Subset,
    engine::{Engine, EngineInfo},
};

/// A set, what it is worth, and how it was found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Solution {
    /// The set, with the items that must be included.
    pub subset: Subset,
    /// ln det K_S, computed from the features in f64 whatever the solver computed with; −∞ for dependent
    /// rows, 0 for the empty set.
    pub log_det: f64,
    /// How many items the set has less than the model asks for: 0, but where the rank is exhausted or a run was stopped
    /// before it had found independent items.
    pub missing: usize,
    /// No set that the model allows has a larger ln det, where that is known: whatever rounding has done, and no less
    /// than `log_det`.
    pub upper_bound: Option<f64>,
    /// Why the solver stopped.
    pub termination: Termination,
    /// What it did.
    pub stats: Stats,
    /// The engine that it ran on; what is compared or stated was computed in f64 all the same.
    pub engine: EngineInfo,
}

impl Solution {
    pub(crate) fn new(
        candidates: &Candidates<'_>,
        chosen: &[Place],
        termination: Termination,
        engine: &dyn Engine,
    ) -> Self {
        Self {
            subset: candidates.subset(chosen),
            log_det: candidates.log_det(chosen),
            missing: candidates.counts.missing(&candidates.counts_of(chosen)),
            upper_bound: None,
            termination,
            stats: Stats::default(),
            engine: engine.info(),
        }
    }

    /// How much larger the optimum can be, in ln det: the upper bound less [`log_det`](Self::log_det), never negative.
    /// `None` without an upper bound, and for a set that is none of those that the model allows.
    ///
    /// The bound holds as it is, for what the determinants are without rounding; `log_det` is rounded.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        let bound = self.upper_bound.filter(|_| self.missing == 0 && self.log_det.is_finite())?;
        Some((bound - self.log_det).max(0.0))
    }
}

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Termination {
    /// As many items were chosen as asked for.
    QuotaMet,
    /// No other item multiplies the determinant by more than 1.
    GainNotPositive,
    /// The rows left depend on those chosen: fewer items than asked for.
    RankExhausted,
    /// No swap that was tried improves the set.
    LocallyOptimal,
    /// No other set is better, within the tolerance: neither is the upper bound further above what the determinant of the
    /// set is without rounding.
    Optimal,
    /// No other set is better, as far as rounding lets tell: the gap is what it may hide.
    Rounding,
    /// The time limit passed.
    TimeLimit,
    /// It was interrupted.
    Interrupted,
    /// Every item was decided.
    AllDecided,
}

impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Termination::QuotaMet => "quota met",
            Termination::GainNotPositive => "gain not positive",
            Termination::RankExhausted => "rank exhausted",
            Termination::LocallyOptimal => "locally optimal",
            Termination::Optimal => "optimal",
            Termination::Rounding => "limited by rounding",
            Termination::Interrupted => "interrupted",
            Termination::TimeLimit => "time limit",
            Termination::AllDecided => "all decided",
        })
    }
}

/// What a solver did. Zero or empty where it does not apply.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// ln of what every pick of the greedy algorithm multiplied the determinant by, in order.
    pub gains: Vec<f64>,
    /// Items that were rearranged because the greedy choice had exhausted the rank that a part needs.
    pub repairs: usize,
    /// Swaps of one item.
    pub swaps: u64,
    /// Swaps of two items at once.
    pub double_swaps: u64,
    /// Determinants of neighbours that were compared, or values of a relaxation.
    pub evaluations: u64,
    /// Starts after the first.
    pub restarts: u64,
    /// Steps of a continuous method.
    pub iterations: u64,
    /// Items added to or removed from a set of any size.
    pub resizes: u64,
    /// The most swaps that one climb from the greedy set can make, 2 ln k! / ln(1 + ε/k): the O(k² log k / ε)
    /// of theorem 4.1.
    pub swap_bound: Option<f64>,
    /// κ(A) of theorem 4.1: λ_1 over the mean of λ_k … λ_m, where it is cheap.
    pub condition: Option<f64>,
    /// No set has an ln det larger by more than this, by theorem 4.1: min(2 ln k!, k ln κ + ε), where κ(A) is cheap.
    pub log_guarantee: Option<f64>,
    /// Nodes of a search tree.
    pub nodes: u64,
}
