//! The proposals that batches consist of.

use std::fmt;

use crate::{
    Result,
    engine::proposals::{ProposalDevice, Proposer, Stream},
    watch::Watch,
};

/// Proposals whose random numbers depend only on their numbers: a device makes them, and the host can replay them.
pub(in crate::sample) trait Proposals: fmt::Debug + Send + Sync {
    /// Whether a device accepts them.
    fn fit(&self, device: &dyn ProposalDevice) -> bool;

    /// Uploads their tables to a device.
    fn prepare(&self, device: &dyn ProposalDevice) -> Result<Box<dyn Proposer>>;

    /// Replays a proposal on the host in f64; `None` if it is rejected.
    ///
    /// # Errors
    /// [`Error::Ended`](crate::Error::Ended) if the watch ends it.
    fn replayed(&self, stream: Stream, number: u32, watch: &Watch) -> Result<Option<Vec<u32>>>;

    /// Replaces the positions that a device picked by items.
    fn name(&self, positions: &mut [u32]);

    /// Multiply-adds per proposal on the host.
    fn operations(&self) -> f64;

    /// Multiply-adds for the tables of a device, including their upload.
    fn operations_of_tables(&self) -> f64;

    /// Total variation error per proposal, because random numbers have 53 bits, and the words that pick items 64.
    fn error(&self) -> f64;
}
