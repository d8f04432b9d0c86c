//! Batches of proposals of a projection DPP, whose random numbers are functions of the proposal's number.
//!
//! A device that makes them is an accelerator only: it answers what the host, in f64, would find for the same numbers,
//! and leaves to the host what it cannot tell.

pub(crate) mod alias;
mod philox;
mod words;

use std::fmt;

pub(crate) use philox::random_words;
pub(crate) use words::{Coin, Stream, Trial};

use self::alias::AliasTable;
use crate::Result;

/// A device that can make proposals.
pub trait ProposalDevice: fmt::Debug + Send + Sync {
    /// Whether proposals of this shape fit.
    fn takes(&self, shape: &ProposalShape) -> bool;

    /// Uploads tables.
    ///
    /// # Errors
    /// Those of the device.
    fn prepare(&self, tables: &ProposalTables<'_>) -> Result<Box<dyn Proposer>>;
}

/// Tables on a device.
pub trait Proposer: fmt::Debug + Send + Sync {
    /// Makes the proposals of a wave, in one submission and one wait if no driver needs a break.
    ///
    /// # Errors
    /// Those of the device.
    fn propose(&self, wave: &Wave) -> Result<Found>;
}

/// The size of proposals and of their tables.
#[derive(Clone, Copy, Debug)]
pub struct ProposalShape {
    /// Number of items that may be tried.
    pub(crate) items: usize,
    /// Number of eigenvectors, r.
    pub(crate) rank: usize,
    /// Number of eigenvectors chosen, and of items picked, k.
    pub(crate) size: usize,
    /// Number of parts with a limit.
    pub(crate) parts: usize,
}

/// What proposals are made from.
pub struct ProposalTables<'t> {
    pub(crate) shape: ProposalShape,
    /// The items that are tried, by position.
    pub(crate) trials: &'t AliasTable,
    /// ⌊2³² Pr(take eigenvector j | c are still wanted)⌋ for c = 1 … k, eigenvector after eigenvector.
    pub(crate) coins: &'t [u32],
    /// Position at which every part begins, ascending, and the most items of it.
    pub(crate) parts: &'t [[u32; 2]],
    /// Writes the row at a position in coordinates of all eigenvectors, of length at most 1.
    pub(crate) unit_row: &'t (dyn Fn(u32, &mut [f64]) + Sync),
    /// Trials per proposal on average, at most.
    pub(crate) expected_trials: f64,
}

impl fmt::Debug for ProposalTables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProposalTables").field("shape", &self.shape).finish_non_exhaustive()
    }
}

/// Proposals to be made.
#[derive(Clone, Copy, Debug)]
pub struct Wave {
    /// Their random numbers.
    pub(crate) stream: Stream,
    /// The number of the first.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// The most that are expected to be accepted or undecided.
    pub(crate) expected: u32,
}

/// What became of the proposals of a wave: those not listed are rejected.
#[derive(Debug, Default)]
pub struct Found {
    /// In ascending order of their numbers.
    pub(crate) proposals: Vec<Proposal>,
}

/// A proposal that is not rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    pub(crate) number: u32,
    pub(crate) verdict: Verdict,
}

/// What a device knows of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is accepted, with the items at these positions in the order of picks.
    Accepted(Vec<u32>),
    /// A decision was closer than the device's rounding, or the proposal took too long.
    Undecided,
}
