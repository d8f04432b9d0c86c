//! Draws with weights.

use super::{WeightStatistics, weights::Weights};
use crate::{Subset, watch::Ended};

/// Subsets with weights, in the order of their draw numbers.
///
/// Weighted averages over the subsets estimate averages over the distribution. A draw that meets a dead end, with no
/// item left to pick, has no subset and weight zero; it counts in [`draws`](WeightedSamples::draws).
#[derive(Clone, Debug)]
pub struct WeightedSamples {
    subsets: Vec<Subset>,
    log_weights: Vec<f64>,
    weights: Weights,
    ended: Option<Ended>,
}

impl WeightedSamples {
    pub(super) fn new() -> Self {
        Self { subsets: Vec::new(), log_weights: Vec::new(), weights: Weights::default(), ended: None }
    }

    pub(super) fn push(&mut self, drawn: Option<Subset>, log_weight: f64) {
        self.weights.push(log_weight);
        if let Some(subset) = drawn {
            self.subsets.push(subset);
            self.log_weights.push(log_weight);
        }
    }

    pub(super) fn ended_by(self, ended: Ended) -> Self {
        Self { ended: Some(ended), ..self }
    }

    /// Appends later draws of the same sampler.
    pub fn extend(&mut self, later: Self) {
        self.subsets.extend(later.subsets);
        self.log_weights.extend(later.log_weights);
        self.weights.extend(later.weights);
        self.ended = later.ended;
    }

    /// The subsets.
    #[must_use]
    pub fn subsets(&self) -> &[Subset] {
        &self.subsets
    }

    /// ln of the weight of each subset. The mean of the weights over all draws estimates Z.
    #[must_use]
    pub fn log_weights(&self) -> &[f64] {
        &self.log_weights
    }

    /// Number of draws, including dead ends.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.weights.draws()
    }

    /// ln Z, and how evenly the weights are spread.
    #[must_use]
    pub fn statistics(&self) -> WeightStatistics {
        self.weights.statistics(0.0)
    }

    /// Why there are fewer draws than requested, if a [`Watch`](crate::Watch) ended them.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }
}
