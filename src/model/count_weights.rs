//! Weights of part counts.

use crate::linalg::log_sum;

/// ln w_l(c) for every group l and count c ≥ 0.
///
/// Sets with counts c are Π_l w_l(c_l) times as likely.
#[derive(Clone, Debug)]
pub(crate) struct CountWeights(pub(crate) Vec<Vec<f64>>);

impl CountWeights {
    /// The weights of these groups, cut off at their largest counts.
    pub(crate) fn of(&self, groups: impl Iterator<Item = usize>, high: &[usize]) -> Self {
        Self(groups.zip(high).map(|(group, &high)| self.0[group][..=high].to_vec()).collect())
    }

    /// ln Σ_c w_l(c) e^(−c t), and the mean and variance of a count with these probabilities.
    pub(crate) fn law(&self, group: usize, t: f64) -> CountLaw {
        let terms: Vec<f64> = self.0[group].iter().enumerate().map(|(c, log)| log - c as f64 * t).collect();
        let log_sum = log_sum(&terms);
        let moment = |power: i32| {
            let of = |(c, term): (usize, &f64)| (c as f64).powi(power) * (term - log_sum).exp();
            terms.iter().enumerate().map(of).sum::<f64>()
        };
        let mean = moment(1);
        CountLaw { log_sum, mean, variance: (moment(2) - mean * mean).max(0.0) }
    }
}

/// The distribution of a count under weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountLaw {
    pub(crate) log_sum: f64,
    pub(crate) mean: f64,
    pub(crate) variance: f64,
}
