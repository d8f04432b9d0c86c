//! The most probable set: maximise det(K_S) over all sets, sets of k items, or sets that meet a quota or ranges.
//!
//! ```text
//! max  ln det(K_S),   K = A Aᵀ,   S as the model allows
//! ```
//!
//! | solver | finds | cost |
//! |---|---|---|
//! | [`Greedy`] | a set grown by the item that adds most | mn, and 2n for every row and pick that could matter |
//! | [`LocalSearch`] | a set that no swap improves | 2mn² once, 4mn + 7mk per swap |
//! | [`SymmetricGreedy`] | a set of any size, by one decision per item | 4mnr at most, O(nr²) |
//! | [`Softmax`] | a set of any size that no single item improves, by relaxation | O(mn² + n³) per step |
//! | [`Coverage`] | a set to which all items are similar | similarity of every pair in a part, 2n Σ m_l², or more |
//! | [`TopScores`] | the items with the largest scores, regardless of similarity | O(m log m) |
//! | [`BranchAndBound`] | the best set, with a proof | exponential; a few hundred nodes for 63 items |
//!
//! [`Greedy`] and [`LocalSearch`] also take a [`KernelModel`], whose kernel is a function of two items, so K need not
//! have few features. [`Coverage`] takes only such models.
//!
//! [`Slates`](crate::slates::Slates) solves many small problems over one matrix of items, greedily and without
//! allocation.
//!
//! [`CoreSet`] extends the solvers to items spread over several shards. [`UpperBound`] bounds how much better the
//! best set can be than any set found.
//!
//! Rows may be of any magnitude. Within a part (or the whole ground set, without parts) their squares are compared,
//! so a row counts as zero if another is 10¹⁵⁰ times as long ([`Termination::RankExhausted`]).
//!
//! The problem is NP-hard, even to approximate within a factor c^k (Çivril and Magdon-Ismail 2013).

mod bounds;
mod candidates;
mod certificate;
mod core_set;
mod design;
mod exact;
mod greedy;
mod greedy_loop;
mod kernel_model;
mod lazy_gains;
mod lazy_visits;
mod local_search;
mod pivots;
mod plain_gains;
mod repair;
mod rounding;
mod softmax;
mod solver;
mod symmetric_greedy;
mod top_scores;
mod union;
mod volume;
mod watch;

pub use crate::{
    model::PartKDpp,
    watch::{Progress, Watch},
};
pub use candidates::Objective;
pub(crate) use candidates::{Candidates, Place};
pub use certificate::{Bound, Certificate, UpperBound};
pub use core_set::{CoreSet, CoreSetUnion, Origin};
pub use design::Design;
pub use exact::{BranchAndBound, Search};
pub use greedy::Greedy;
pub use kernel_model::{Coverage, Covered, KernelModel};
pub use local_search::{LocalSearch, Restarts};
pub use softmax::{Softmax, SoftmaxExtension, SoftmaxPoint};
pub use solver::Solver;
pub use symmetric_greedy::{Decision, ItemOrder, SymmetricGreedy};
pub use top_scores::TopScores;

use crate::{
    Subset,
    engine::{Engine, EngineInfo},
    model::factor_error,
    names::by_name,
};

/// A set, its log-determinant, and how it was found.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Solution {
    /// The set, with the items that must be included.
    pub subset: Subset,
    /// ln det K_S, computed from the features in f64 regardless of the solver's precision; 0 for the empty set.
    ///
    /// −∞ for dependent rows, and for a [`Kernel`](crate::Kernel) if the determinant is below the rounding error of
    /// its factor. NaN for large sets of [`Coverage`]. JSON has neither: both are null there, and null is read as NaN.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::data::serialized::number"))]
    pub log_det: f64,
    /// How well the set covers the items; `None` from all solvers except [`Coverage`].
    pub covered: Option<Covered>,
    /// The number of items that the set lacks: 0 unless the rank is exhausted or the run was stopped before it had
    /// found enough independent items.
    pub missing: usize,
    /// An upper bound of ln det over all sets that the model allows, if one is known.
    ///
    /// It includes rounding errors and is at least `log_det`.
    pub upper_bound: Option<f64>,
    /// Why the solver stopped.
    pub termination: Termination,
    /// Counters of the run.
    pub stats: Stats,
    /// The engine that the solver ran on. Comparisons and results are in f64 on every engine.
    pub engine: EngineInfo,
}

impl Solution {
    pub(crate) fn new(
        candidates: &Candidates<'_>,
        chosen: &[Place],
        termination: Termination,
        engine: &Engine,
    ) -> Self {
        let subset = candidates.subset(chosen);
        let is_known = factor_error(candidates.features, subset.iter()).is_finite();
        let log_det = if is_known { candidates.log_det(chosen) } else { f64::NEG_INFINITY };
        let missing = candidates.counts.missing(&candidates.counts_of(chosen));
        Self { missing, ..Self::of(subset, log_det, termination, engine) }
    }

    /// A complete set about which nothing else is known.
    pub(crate) fn of(subset: Subset, log_det: f64, termination: Termination, engine: &Engine) -> Self {
        Self {
            subset,
            log_det,
            missing: 0,
            covered: None,
            upper_bound: None,
            termination,
            stats: Stats::default(),
            engine: engine.info(),
        }
    }

    /// How much larger the optimum can be, in ln det: the upper bound minus [`log_det`](Self::log_det), never
    /// negative.
    ///
    /// No set is better by more than this, regardless of the [`termination`](Self::termination). `None` without an
    /// upper bound, and for a set that the model does not allow.
    ///
    /// The bound holds for exact determinants; `log_det` is rounded.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        let bound = self.upper_bound.filter(|_| self.missing == 0 && self.log_det.is_finite())?;
        Some((bound - self.log_det).max(0.0))
    }
}

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Termination {
    /// The set has as many items as the model asks for.
    QuotaMet,
    /// No other item multiplies the determinant by more than 1.
    GainNotPositive,
    /// All remaining rows depend on those chosen: the set has fewer items than the model asks for.
    RankExhausted,
    /// No swap that the search considers improves the set.
    LocallyOptimal,
    /// No set that the model allows is better by more than the solver's tolerance in ln det, 10⁻⁹ unless
    /// [`BranchAndBound::with_tolerance`] sets another.
    ///
    /// The upper bound, which includes all rounding, is within the tolerance of the exact ln det of the set. Without
    /// an explicit tolerance, rounding may add up to 10⁻⁹ per item of the set. [`Solution::gap`] is what is proven;
    /// sets that are better by less may exist.
    Optimal,
    /// The search ended like an optimal one, but rounding keeps the upper bound further from the set than the
    /// tolerance.
    ///
    /// No set is better by more than [`Solution::gap`].
    #[cfg_attr(feature = "serde", serde(rename = "limited-by-rounding"))]
    Rounding,
    /// The time limit passed.
    TimeLimit,
    /// The run was interrupted.
    Interrupted,
    /// Every item was decided.
    AllDecided,
}

by_name!(Termination, "termination", {
    QuotaMet => "quota met",
    GainNotPositive => "gain not positive",
    RankExhausted => "rank exhausted",
    LocallyOptimal => "locally optimal",
    Optimal => "optimal",
    Rounding => "limited by rounding",
    Interrupted => "interrupted",
    TimeLimit => "time limit",
    AllDecided => "all decided",
});

/// Counters of a solver's run, zero or empty if they do not apply.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Stats {
    /// The increase of ln det, or of the objective of [`Coverage`], by each greedy pick, in order.
    pub gains: Vec<f64>,
    /// Greedy picks that were replaced because they had exhausted the rank that a part needs.
    pub repairs: usize,
    /// Swaps of one item.
    pub swaps: u64,
    /// Exchanges of one item each of two or three parts.
    pub exchanges: u64,
    /// Neighbouring sets compared, or evaluations of a relaxation.
    pub evaluations: u64,
    /// Starts after the first.
    pub restarts: u64,
    /// Steps of a continuous method.
    pub iterations: u64,
    /// Items added to or removed from a set of any size.
    pub resizes: u64,
    /// The most swaps that one climb from the greedy set can make, 2 ln k! / ln(1 + ε/k): O(k² log k / ε) by theorem
    /// 4.1.
    pub swap_bound: Option<f64>,
    /// κ(A) of theorem 4.1, λ_1 over the mean of λ_k … λ_m, if it is cheap to compute.
    pub condition: Option<f64>,
    /// How much larger the optimum can be in ln det by theorem 4.1, min(2 ln k!, k ln κ + ε), if κ(A) is cheap.
    pub log_guarantee: Option<f64>,
    /// Nodes of a search tree.
    pub nodes: u64,
    /// The number of items that a better set can contain, according to the bound of all items ([`BranchAndBound`]
    /// only).
    pub survivors: Option<usize>,
}
