//! Many draws, with statistics of the proposals.

use crate::{Subset, watch::Ended};

/// Subsets in the order of their draw numbers, and statistics of the proposals.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Samples {
    subsets: Vec<Subset>,
    proposals: u64,
    acceptance_bound: f64,
    ended: Option<Ended>,
}

impl Samples {
    pub(crate) fn new(acceptance_bound: f64) -> Self {
        Self { subsets: Vec::new(), proposals: 0, acceptance_bound, ended: None }
    }

    /// Records why there are no more draws.
    pub(crate) fn ended_by(self, ended: Ended) -> Self {
        Self { ended: Some(ended), ..self }
    }

    pub(crate) fn push(&mut self, subset: Subset, proposals: u64) {
        self.subsets.push(subset);
        self.proposals += proposals;
    }

    /// Appends later draws of the same sampler.
    pub fn extend(&mut self, later: Samples) {
        self.subsets.extend(later.subsets);
        self.proposals += later.proposals;
        self.ended = later.ended;
    }

    /// Why there are fewer draws than requested, if a [`Watch`](crate::Watch) ended them.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// The subsets.
    #[must_use]
    pub fn subsets(&self) -> &[Subset] {
        &self.subsets
    }

    /// Proposals made for all draws.
    #[must_use]
    pub fn proposals(&self) -> u64 {
        self.proposals
    }

    /// Draws per proposal.
    #[must_use]
    pub fn acceptance_observed(&self) -> f64 {
        self.subsets.len() as f64 / self.proposals as f64
    }

    /// The lower bound of the acceptance, known before drawing.
    #[must_use]
    pub fn acceptance_bound(&self) -> f64 {
        self.acceptance_bound
    }
}

impl IntoIterator for Samples {
    type Item = Subset;
    type IntoIter = std::vec::IntoIter<Subset>;

    fn into_iter(self) -> Self::IntoIter {
        self.subsets.into_iter()
    }
}
