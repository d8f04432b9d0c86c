//! The answer of `pdpp map`.

use std::time::Duration;

use partition_dpp::map::Solution;

use super::arguments::SolverChoice;
use crate::input::Explained;

/// The best set found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) solution: Solution,
    /// How well it stands for all rows; `None` for a kernel of pairs.
    pub(crate) explained: Option<Explained>,
    pub(crate) solver: SolverChoice,
    /// Total time without reading, and without what the set explains.
    pub(crate) time: Duration,
    /// Why the engine was taken, unless it was asked for.
    pub(crate) engine_reason: Option<String>,
}
