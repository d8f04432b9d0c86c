//! What batches are made of.

use std::fmt;

use crate::{
    Result,
    engine::proposals::{ProposalDevice, Proposer, Stream},
    watch::Watch,
};

/// Proposals whose random numbers are functions of their numbers, which a device makes and the host can replay.
pub(in crate::sample) trait Proposals: fmt::Debug + Send + Sync {
    /// Whether a device takes them.
    fn fit(&self, device: &dyn ProposalDevice) -> bool;

    /// Brings their tables to it.
    fn prepare(&self, device: &dyn ProposalDevice) -> Result<Box<dyn Proposer>>;

    /// The items of a proposal, by the host in f64; `None` if it is rejected.
    ///
    /// # Errors
    /// [`Error::Ended`](crate::Error::Ended) if the watch ends it.
    fn replayed(&self, stream: Stream, number: u32, watch: &Watch) -> Result<Option<Vec<u32>>>;

    /// Puts items in place of the positions that a device picked.
    fn name(&self, positions: &mut [u32]);

    /// Multiply-adds of a proposal on the host.
    fn operations(&self) -> f64;

    /// Those of the tables of a device, with their upload.
    fn operations_of_tables(&self) -> f64;

    /// Total variation error of a proposal because random numbers have 53 digits, and those that pick items 64.
    fn error(&self) -> f64;
}
