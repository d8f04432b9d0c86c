//! The answer of `pdpp map`.

use std::time::Duration;

use partition_dpp::map::Solution;

use super::arguments::SolverChoice;

/// The best set found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) solution: Solution,
    pub(crate) solver: SolverChoice,
    /// Total time without reading.
    pub(crate) time: Duration,
    /// Why the engine was taken, unless it was asked for.
    pub(crate) engine_reason: Option<String>,
}
