//! What is measured.

use std::time::Duration;

use partition_dpp::engine::EngineInfo;

use super::data::Size;

/// One task at one size.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) size: Size,
    pub(crate) task: &'static str,
    pub(crate) cpu: Duration,
    pub(crate) device: Option<OnDevice>,
    /// Bytes that the task reads and writes at least, where they are what it costs.
    pub(crate) bytes: Option<f64>,
    /// Floating-point operations, where they are.
    pub(crate) operations: Option<f64>,
}

/// What a GPU took, and how far its answer is from the CPU's.
#[derive(Debug)]
pub(crate) struct OnDevice {
    /// With the rows on their way.
    pub(crate) first: Duration,
    /// With the rows there.
    pub(crate) again: Duration,
    /// Largest difference of an answer, relative to the largest answer.
    pub(crate) difference: f64,
    /// What is allowed.
    pub(crate) tolerance: f64,
}

impl OnDevice {
    /// Whether the answer is right.
    pub(crate) fn is_right(&self) -> bool {
        self.difference <= self.tolerance
    }
}

/// A whole run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) measured: Vec<Measured>,
    /// The GPU, if there is one, and the bytes it copies in a second (counted twice: read and written).
    pub(crate) device: Option<(EngineInfo, f64)>,
    pub(crate) threads: usize,
}
