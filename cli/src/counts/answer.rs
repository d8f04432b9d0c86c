//! The answer of `pdpp counts`.

use std::time::Duration;

use partition_dpp::{Estimate, PartCounts, Partition, Quota, engine::EngineInfo};

use crate::estimates::Draws;

/// Part counts under a DPP or k-DPP.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) partition: &'a Partition,
    /// The law of the counts, or the reason why it is not listed.
    pub(crate) law: Result<PartCounts, String>,
    /// The quota asked for, and its probability.
    pub(crate) quota: Option<(&'a Quota, Chance)>,
    pub(crate) engine: EngineInfo,
    /// Why it was taken, unless it was asked for.
    pub(crate) engine_reason: Option<String>,
    /// Total time without reading.
    pub(crate) time: Duration,
}

/// The probability of a quota.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chance {
    pub(crate) value: f64,
    /// The rounding error, or the standard error.
    pub(crate) error: f64,
    /// If it is estimated.
    pub(crate) standard_error: Option<f64>,
    /// The draws behind the estimate; `None` if no set can meet the quota.
    pub(crate) draws: Option<Draws>,
}

impl Chance {
    pub(super) fn exactly(Estimate { value, error }: Estimate<f64>) -> Self {
        Self { value, error, standard_error: None, draws: None }
    }
}
