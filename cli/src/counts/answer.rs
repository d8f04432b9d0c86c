//! What is found.

use std::time::Duration;

use partition_dpp::{Error, PartCounts, Partition, engine::EngineInfo};

use crate::quota::Asked;

/// Part counts under a DPP or k-DPP.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    /// The parts.
    pub(crate) partition: &'a Partition,
    /// The law of the counts, or why it is not listed.
    pub(crate) law: Result<PartCounts, Error>,
    /// The quota asked for, and its probability.
    pub(crate) quota: Option<(Asked<'a>, f64)>,
    /// The engine that computed.
    pub(crate) engine: EngineInfo,
    /// Time of everything but reading.
    pub(crate) time: Duration,
}
