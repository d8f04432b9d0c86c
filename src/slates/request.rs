//! Requests, and their sets.

use crate::Subset;

/// One request: who may be chosen.
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
    /// In the order in which they were drawn.
    pub subsets: Vec<Subset>,
    /// Estimated total variation error of their law due to rounding.
    pub law_error: f64,
}

/// How many requests of batches were for a device. Clones of [`Slates`](super::Slates) are counted together. A device that is
/// lost shows only here: the CPU solves what it leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchedRequests {
    /// All so far.
    pub asked: u64,
    /// Those that the CPU solved; requests that fail are among them.
    pub left: u64,
}

/// The greedy set of a request, in a workspace or of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Slate<I> {
    /// Included items, then the picks in their order.
    pub items: I,
    /// How many items the set lacks, because all that are left depend on those chosen or on the window.
    pub missing: usize,
    /// ln det K_S; with a window, the sum of what the picks added.
    pub log_det: f64,
}

impl Slate<&[u32]> {
    /// The same beyond the workspace.
    pub(super) fn into_own(self) -> Slate<Vec<u32>> {
        Slate { items: self.items.to_vec(), missing: self.missing, log_det: self.log_det }
    }
}

impl<'r> SlateRequest<'r> {
    /// Of these items of the matrix, in any order; an item that comes twice counts once.
    #[must_use]
    pub fn of(candidates: &'r [u32]) -> Self {
        Self { candidates, ..Self::default() }
    }

    /// With a score for every candidate; without scores all are zero.
    #[must_use]
    pub fn with_scores(self, scores: &'r [f32]) -> Self {
        Self { scores, ..self }
    }

    /// With items that are in the set already: they count towards the quota, and the others are unlike them. They need not
    /// be candidates.
    #[must_use]
    pub fn including(self, included: &'r [u32]) -> Self {
        Self { included, ..self }
    }

    /// Without these items, which may be among the candidates: those that a user has seen, say.
    #[must_use]
    pub fn excluding(self, excluded: &'r [u32]) -> Self {
        Self { excluded, ..self }
    }
}
