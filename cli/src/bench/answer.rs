//! Measured times.

use std::time::Duration;

use partition_dpp::engine::{EngineInfo, gpu::Traffic};

use super::data::Size;

/// One task at one size.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) size: Size,
    pub(crate) task: &'static str,
    pub(crate) cpu: Duration,
    pub(crate) device: Option<OnDevice>,
    /// Why the device did not do it.
    pub(crate) refused: Option<String>,
    /// Bytes that the task has to read and write, where they determine its cost.
    pub(crate) bytes: Option<f64>,
    /// Floating-point operations, where they determine its cost.
    pub(crate) operations: Option<f64>,
}

/// Times of a GPU, and the difference of its answer from the CPU's.
#[derive(Debug)]
pub(crate) struct OnDevice {
    /// Time with the upload of the rows.
    pub(crate) first: Duration,
    /// Time with the rows on the device.
    pub(crate) again: Duration,
    /// What goes between host and device with the upload of the rows, …
    pub(crate) first_traffic: Traffic,
    /// … and with the rows on the device.
    pub(crate) again_traffic: Traffic,
    /// Largest difference of an answer, relative to the largest answer.
    pub(crate) difference: f64,
    /// The largest difference allowed.
    pub(crate) tolerance: f64,
}

impl OnDevice {
    pub(crate) fn is_right(&self) -> bool {
        self.difference <= self.tolerance
    }
}

/// All measurements.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) measured: Vec<Measured>,
    /// The GPU, if there is one, and the bytes per second that it reads.
    pub(crate) device: Option<(EngineInfo, f64)>,
    pub(crate) threads: usize,
}
