//! Statistics of the weights of draws.

use super::pareto::Tail;
use crate::{MonteCarlo, linalg::log_sum};

/// Statistics of weighted draws.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct WeightStatistics {
    /// Number of draws N, including dead ends.
    pub draws: u64,
    /// ln Z.
    pub log_z: MonteCarlo<f64>,
    /// (Σ w)² / (N Σ w²): this share of N weighted draws is worth as much as that many draws from the law.
    pub effective_share: f64,
    /// k̂, the shape of the tail of the weights: above [`TRUSTED_PARETO_K`](crate::sample::TRUSTED_PARETO_K) no
    /// standard error can be trusted. `None` for fewer than 25 draws and for equal weights.
    pub pareto_k: Option<f64>,
}

/// Logarithms of weights; −∞ for draws that met a dead end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weights {
    logs: Vec<f64>,
}

impl Weights {
    pub(crate) fn push(&mut self, log: f64) {
        self.logs.push(log);
    }

    pub(crate) fn extend(&mut self, later: Self) {
        self.logs.extend(later.logs);
    }

    /// Number of draws, including dead ends.
    pub(crate) fn draws(&self) -> u64 {
        self.logs.len() as u64
    }

    /// ln of the mean weight, and its standard error, which is infinite for fewer than two draws.
    pub(crate) fn log_mean(&self) -> MonteCarlo<f64> {
        let draws = self.logs.len() as f64;
        let value = log_sum(&self.logs) - draws.ln();
        let spread = self.effective_share().recip() - 1.0;
        let standard_error =
            if draws < 2.0 { f64::INFINITY } else { (spread.max(0.0) / (draws - 1.0)).sqrt() };
        MonteCarlo { value, standard_error }
    }

    /// The statistics, with ln Z = ln of the mean weight + `log_shift`.
    pub(crate) fn statistics(&self, log_shift: f64) -> WeightStatistics {
        let mut log_z = self.log_mean();
        log_z.value += log_shift;
        let (effective_share, pareto_k) = (self.effective_share(), self.pareto_k());
        WeightStatistics { draws: self.draws(), log_z, effective_share, pareto_k }
    }

    /// (Σ w)² / (N Σ w²).
    pub(crate) fn effective_share(&self) -> f64 {
        let squares: Vec<f64> = self.logs.iter().map(|log| 2.0 * log).collect();
        let (sum, squares) = (log_sum(&self.logs), log_sum(&squares));
        if sum.is_finite() { ((2.0 * sum - squares).exp() / self.logs.len() as f64).min(1.0) } else { 0.0 }
    }

    /// Weights in units of their mean, ascending.
    pub(super) fn relative(&self) -> Vec<f64> {
        let mean = self.log_mean().value;
        let mut weights: Vec<f64> = self.logs.iter().map(|log| (log - mean).exp()).collect();
        weights.sort_unstable_by(f64::total_cmp);
        weights
    }

    /// k̂; `None` for fewer than 25 draws and for weights that are equal within rounding.
    pub(crate) fn pareto_k(&self) -> Option<f64> {
        Tail::of(&self.relative()).map(|tail| tail.k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_shares() {
        let mut weights = Weights::default();
        for weight in [1.0_f64, 3.0, 0.0, 4.0] {
            weights.push(weight.ln() + 900.0);
        }
        let mean = weights.log_mean();
        assert!((mean.value - (2.0_f64.ln() + 900.0)).abs() < 1e-12);
        // 64 / (4 · 26), and the sample variance 10/3 over four draws.
        assert!((weights.effective_share() - 64.0 / 104.0).abs() < 1e-12);
        assert!((mean.standard_error - (10.0_f64 / 3.0 / 4.0).sqrt() / 2.0).abs() < 1e-12);
        assert!(Weights::default().effective_share() <= 0.0);
    }
}
