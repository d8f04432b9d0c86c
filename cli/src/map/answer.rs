//! What is found.

use std::time::Duration;

use partition_dpp::map::Solution;

use super::arguments::SolverChoice;

/// What was found, and how.
#[derive(Debug)]
pub(crate) struct Found {
    /// The set, and what is known of it.
    pub(crate) solution: Solution,
    /// What found it.
    pub(crate) solver: SolverChoice,
    /// Time of everything but reading.
    pub(crate) time: Duration,
}
