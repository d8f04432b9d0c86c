//! Greedy sets of many small problems over one matrix.
//!
//! A device that finds them is only an accelerator: it returns what the host would find in f64, and leaves any choice
//! that rounding puts in doubt to the host.

use std::fmt;

use crate::{Features, Result};

/// A device that can pick for many requests at a time.
pub trait SlateDevice: fmt::Debug + Send + Sync {
    /// Returns the picks of every request in order, as positions among its candidates.
    ///
    /// The entry is `None` for a request that the device leaves to the host. There is one wait for all requests.
    ///
    /// # Errors
    /// Errors of the device.
    fn picks(&self, batch: &SlateBatch<'_>) -> Result<Vec<Option<Vec<u32>>>>;
}

/// Requests for sets of one size and quota.
#[derive(Clone, Copy, Debug)]
pub struct SlateBatch<'b> {
    pub(crate) features: &'b Features,
    /// Minimum and maximum number of items of every part.
    pub(crate) quota: &'b [[u32; 2]],
    /// Number of picks, k.
    pub(crate) size: usize,
    /// The position in `items` at which each request's candidates begin, and the end of the last request's
    /// candidates.
    pub(crate) starts: &'b [usize],
    /// The candidates of all requests.
    pub(crate) items: &'b [u32],
    /// The part of every candidate.
    pub(crate) parts: &'b [u32],
    /// The factor of every candidate's stored row; 0 for candidates that may not be picked. Entries of scaled rows
    /// are about 1 or less.
    pub(crate) factors: &'b [f64],
    /// For every request, whether candidates have equal factors only if they have equal weights.
    pub(crate) are_distinct: &'b [bool],
}

impl SlateBatch<'_> {
    /// Number of requests.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }
}
