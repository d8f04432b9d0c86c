//! Draws with weights.

use super::{WeightStatistics, weights::Weights};
use crate::{MonteCarlo, Subset, watch::Ended};

/// Subsets with weights, in the order of their draw numbers.
///
/// Averages over the law are averages over the subsets by these weights. A draw that met a dead end, where no item was left
/// to pick, has no subset and the weight zero; it counts in [`draws`](WeightedSamples::draws).
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

    /// ln of the weight of each subset. Their mean over all draws estimates Z.
    #[must_use]
    pub fn log_weights(&self) -> &[f64] {
        &self.log_weights
    }

    /// Number of draws, dead ends among them.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.weights.draws()
    }

    /// ln Z.
    #[must_use]
    pub fn log_partition_function(&self) -> MonteCarlo<f64> {
        self.weights.log_mean()
    }

    /// ln Z, effective share and tail index together.
    #[must_use]
    pub fn estimate(&self) -> WeightStatistics {
        WeightStatistics::of(&self.weights, 0.0)
    }

    /// (Σ w)² / (N Σ w²): N times as many weighted draws are worth as much as draws from the law.
    #[must_use]
    pub fn effective_share(&self) -> f64 {
        self.weights.effective_share()
    }

    /// k̂, the shape of the tail of the weights: above [`TRUSTED_PARETO_K`](crate::sample::TRUSTED_PARETO_K) no standard
    /// error can be trusted. `None` for fewer than 25 draws, and for equal weights.
    #[must_use]
    pub fn pareto_k(&self) -> Option<f64> {
        self.weights.pareto_k()
    }

    /// Why there are fewer draws than requested, if a [`Watch`](crate::Watch) ended them.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }
}
