//! What is drawn, or would be.

use std::{fmt, time::Duration};

use partition_dpp::{
    Error, Subset,
    engine::EngineInfo,
    mcmc::ChainDiagnostics,
    sample::{Algorithm, Plan},
    watch::Ended,
};

use crate::plot::Shown;

/// What was drawn, by whom and how fast.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// The subsets.
    pub(crate) subsets: Vec<Subset>,
    /// Proposals made for all of them together.
    pub(crate) proposals: u64,
    /// The probability of acceptance promised before drawing.
    pub(crate) acceptance_bound: f64,
    /// What drew them.
    pub(crate) drawer: Drawer,
    /// How far they may be from the law, in total variation; none where that is not known.
    pub(crate) law_error: Option<f64>,
    /// Why, where there was a choice.
    pub(crate) plan: Option<Plan>,
    /// How well chains have mixed, where chains drew.
    pub(crate) mixing: Option<Mixing>,
    /// The engine that did the set-up.
    pub(crate) engine: EngineInfo,
    /// Time of the set-up.
    pub(crate) setup: Duration,
    /// Time of the draws.
    pub(crate) sampling: Duration,
    /// Why there are fewer than asked for, if there are.
    pub(crate) ended: Option<Ended>,
}

/// What draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawer {
    /// An exact sampler.
    Sampler(Algorithm),
    /// Chains, which come near the law.
    Chains,
}

impl Drawer {
    /// `exact` or `unknown`.
    pub(crate) fn exactness(self) -> &'static str {
        match self {
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
            Drawer::Sampler(_) => Shown::FirstSample,
            Drawer::Chains => Shown::FirstApproximateSample,
        }
    }
}

/// What chains tell about themselves.
#[derive(Debug)]
pub(crate) struct Mixing {
    /// Number of chains.
    pub(crate) chains: usize,
    /// Sweeps before the first draw.
    pub(crate) burn_in: usize,
    /// Sweeps from draw to draw.
    pub(crate) thin: usize,
    /// What there is to see, or that there are too few draws.
    pub(crate) diagnostics: Result<ChainDiagnostics, Error>,
}

/// What would be drawn with.
#[derive(Clone, Debug)]
pub(crate) enum Planned {
    /// The method that was asked for or chosen.
    Choice(Plan),
    /// Chains; beside what the exact methods would take.
    Chains(Plan),
    /// The law leaves no choice.
    Only(Algorithm),
}
