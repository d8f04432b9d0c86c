//! What is drawn, or would be.

use std::time::Duration;

use partition_dpp::{Algorithm, ChainDiagnostics, Ended, Error, Plan, Subset, engine::EngineInfo};

/// What was drawn, by whom and how fast.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// The subsets.
    pub(crate) subsets: Vec<Subset>,
    /// Proposals made for all of them together.
    pub(crate) proposals: u64,
    /// The probability of acceptance promised before drawing.
    pub(crate) acceptance_bound: f64,
    /// The algorithm that drew them.
    pub(crate) algorithm: Algorithm,
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
    /// The law leaves no choice.
    Only(Algorithm),
}
