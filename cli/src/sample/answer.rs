//! The answer of `pdpp sample`, and its plan.

use std::{fmt, time::Duration};

use partition_dpp::{
    Error, Subset,
    engine::EngineInfo,
    mcmc::ChainDiagnostics,
    sample::{Algorithm, BoundCost, Plan, WeightStatistics},
    watch::Ended,
};

use super::{estimate::EstimatedCost, ways::Way};
use crate::{input::Explained, plot::Shown};

/// The samples, how they were drawn and how fast.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) subsets: Vec<Subset>,
    /// Proposals for all subsets together.
    pub(crate) proposals: u64,
    /// The guaranteed probability of acceptance.
    pub(crate) acceptance_bound: f64,
    pub(crate) drawer: Drawer,
    /// The predicted cost of draws against each bound; the first is used.
    pub(crate) bounds: Vec<BoundCost>,
    /// Total variation error of the law; `None` if it is unknown.
    pub(crate) law_error: Option<f64>,
    /// The choice of method, if any.
    pub(crate) plan: Option<Plan>,
    pub(crate) mixing: Option<Mixing>,
    /// The statistics of weighted draws, if any.
    pub(crate) estimate: Option<WeightStatistics>,
    /// ln of the weight of every subset, if they are weighted.
    pub(crate) log_weights: Option<Vec<f64>>,
    /// The engine that did the set-up.
    pub(crate) engine: EngineInfo,
    /// Time of the set-up.
    pub(crate) setup: Duration,
    /// Time of the draws.
    pub(crate) sampling: Duration,
    /// How well every subset stands for all rows, if that is wanted.
    pub(crate) explained: Option<Explained>,
    /// Of every subset: the mean distance of items to the nearest chosen one, if that is wanted.
    pub(crate) mean_distances: Option<Vec<f64>>,
    /// The reason why there are fewer than asked for, if there are.
    pub(crate) ended: Option<Ended>,
}

impl Drawn {
    /// How many samples were drawn. Weighted draws may end without a subset.
    pub(crate) fn draws(&self) -> u64 {
        if self.log_weights.is_some() { self.proposals } else { self.subsets.len() as u64 }
    }
}

/// A sampler or chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawer {
    /// A sampler, exact unless it is by [`Algorithm::Estimated`].
    Sampler(Algorithm),
    /// Markov chains, which are approximate.
    Chains,
}

impl Drawer {
    /// `exact`, `estimated` or `unknown`.
    pub(crate) fn exactness(self) -> &'static str {
        match self {
            Drawer::Sampler(Algorithm::Estimated) => "estimated",
            Drawer::Sampler(_) => "exact",
            Drawer::Chains => "unknown",
        }
    }
}

impl fmt::Display for Drawer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Drawer::Sampler(algorithm) => algorithm.fmt(f),
            Drawer::Chains => f.write_str("mcmc"),
        }
    }
}

impl From<Drawer> for Shown {
    fn from(drawer: Drawer) -> Self {
        match drawer {
            Drawer::Sampler(Algorithm::Estimated) | Drawer::Chains => Shown::FirstApproximateSample,
            Drawer::Sampler(_) => Shown::FirstSample,
        }
    }
}

/// The settings of chains, and how well they have mixed.
#[derive(Debug)]
pub(crate) struct Mixing {
    pub(crate) chains: usize,
    /// Sweeps before the first draw, and those asked for.
    pub(crate) burn_in: usize,
    pub(crate) asked: usize,
    /// Sweeps between draws.
    pub(crate) thin: usize,
    /// An error if there are too few draws.
    pub(crate) diagnostics: Result<ChainDiagnostics, Error>,
}

/// The method that would draw, and what draws against each bound are predicted to cost.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) drawer: PlannedDrawer,
    pub(crate) bounds: Vec<BoundCost>,
    /// The predicted cost of draws with an estimated error, under a quota that allows them.
    pub(crate) estimated: Option<EstimatedCost>,
    /// All ways, with their predicted costs.
    pub(crate) ways: Vec<Way>,
}

/// The method that would draw.
#[derive(Clone, Debug)]
pub(crate) enum PlannedDrawer {
    /// The method that was asked for or chosen.
    Choice(Plan),
    /// Chains, with the plan of the exact methods for comparison.
    Chains(Plan),
    /// Draws with an estimated error, with the plan of the exact methods for comparison, if any.
    Estimated(Option<Plan>),
    /// The law leaves no choice.
    Only(Algorithm),
}
