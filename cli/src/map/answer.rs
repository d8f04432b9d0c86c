//! The answer of `pdpp map`.

use std::time::Duration;

use partition_dpp::map::{Covered, Solution};
use serde::Serialize;

use super::{arguments::SolverChoice, design::Efficiency, history::Moment};
use crate::input::Explained;

/// The best set found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) solution: Solution,
    /// How well it stands for all rows, unless that was interrupted.
    pub(crate) explained: Option<Explained>,
    /// The mean distance of items to the nearest chosen one, if that is wanted.
    pub(crate) mean_distance: Option<f64>,
    /// How efficient it is, if it is a design.
    pub(crate) efficiency: Option<Efficiency>,
    /// How an exact search went.
    pub(super) history: Vec<Moment>,
    pub(crate) solver: SolverChoice,
    /// Total time without reading, and without what the set explains.
    pub(crate) time: Duration,
    /// Why the engine was taken, unless it was asked for.
    pub(crate) engine_reason: Option<String>,
}

/// The coverage of the set, and the proven fraction of the largest possible coverage.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Cover {
    coverage: f64,
    guarantee: Option<f64>,
}

impl From<Covered> for Cover {
    fn from(Covered { total, guarantee, .. }: Covered) -> Self {
        Self { coverage: total, guarantee }
    }
}
