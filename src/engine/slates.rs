//! Greedy sets of many small problems over one matrix.
//!
//! A device that finds them is an accelerator only: it answers what the host, in f64, would find, and leaves to the host what
//! it cannot tell.

use std::fmt;

use crate::{Features, Result};

/// A device that can pick for many requests at a time.
pub trait SlateDevice: fmt::Debug + Send + Sync {
    /// The picks of every request in their order, by their places among its candidates; `None` for what the device leaves to
    /// the host. One wait for all.
    ///
    /// # Errors
    /// Those of the device.
    fn picks(&self, batch: &SlateBatch<'_>) -> Result<Vec<Option<Vec<u32>>>>;
}

/// Requests for sets of one size and quota.
#[derive(Clone, Copy, Debug)]
pub struct SlateBatch<'b> {
    pub(crate) features: &'b Features,
    /// The least and the most items of every part.
    pub(crate) quota: &'b [[u32; 2]],
    /// Number of picks, k.
    pub(crate) size: usize,
    /// Where the candidates of every request begin, and where those of the last one end.
    pub(crate) starts: &'b [usize],
    /// The candidates of all requests, …
    pub(crate) items: &'b [u32],
    /// … the part of each, …
    pub(crate) parts: &'b [u32],
    /// … and what its stored row is multiplied by: 0 for those that may not be picked. Entries of rows are then about 1 or
    /// less.
    pub(crate) factors: &'b [f64],
    /// Of every request, whether candidates have equal factors only if they have equal weights.
    pub(crate) are_distinct: &'b [bool],
}

impl SlateBatch<'_> {
    /// Number of requests.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }
}
