//! Requests, and their sets.

use crate::Subset;

/// One request: its candidates with their scores, and the included and excluded items.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlateRequest<'r> {
    pub(super) candidates: &'r [u32],
    pub(super) scores: &'r [f32],
    pub(super) included: &'r [u32],
    pub(super) excluded: &'r [u32],
}

/// Samples of one request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SlateSamples {
    /// The samples, in the order in which they were drawn.
    pub subsets: Vec<Subset>,
    /// Estimated total variation error of their law due to rounding.
    pub law_error: f64,
}

/// The numbers of batched requests that were meant for a device.
///
/// Clones of [`Slates`](super::Slates) are counted together. A device that is lost shows only here, since the CPU
/// solves what it leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BatchedRequests {
    /// All requests so far.
    pub asked: u64,
    /// The requests that the CPU solved, including those that failed.
    pub left: u64,
}

/// The greedy set of one request, in a workspace or owned.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Slate<I> {
    /// The included items, then the picks in their order.
    pub items: I,
    /// The number of items that the set lacks, because all remaining items depend on the chosen ones or on the
    /// window.
    pub missing: usize,
    /// ln det K_S; with a window, the sum of what the picks added.
    pub log_det: f64,
}

impl Slate<&[u32]> {
    /// The same set, independent of the workspace.
    pub(super) fn into_own(self) -> Slate<Vec<u32>> {
        Slate { items: self.items.to_vec(), missing: self.missing, log_det: self.log_det }
    }
}

impl<'r> SlateRequest<'r> {
    /// A request with these candidates from the matrix, in any order.
    ///
    /// An item that comes twice counts once.
    #[must_use]
    pub fn of(candidates: &'r [u32]) -> Self {
        Self { candidates, ..Self::default() }
    }

    /// Sets a score for every candidate; without scores, all are zero.
    #[must_use]
    pub fn with_scores(self, scores: &'r [f32]) -> Self {
        Self { scores, ..self }
    }

    /// Includes items that are already in the set.
    ///
    /// They count towards the quota, and repel the picks. They need not be candidates.
    #[must_use]
    pub fn including(self, included: &'r [u32]) -> Self {
        Self { included, ..self }
    }

    /// Excludes these items, which may be among the candidates: for example, items that a user has seen.
    #[must_use]
    pub fn excluding(self, excluded: &'r [u32]) -> Self {
        Self { excluded, ..self }
    }
}
