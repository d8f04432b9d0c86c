//! The bias that part weights introduce, and its correction.

use super::{CountWeights, Counts};

/// The correction if group l has weight e^(τ_l). Sets with counts c are then too likely by a factor of e^(Σ c_l τ_l).
///
/// ```text
/// e^(least − Σ c_l τ_l) = Π_l e^(min(lo_l t_l, hi_l t_l) − c_l t_l),   t_l = τ_l − u,   least = min Σ c_l τ_l
/// ```
///
/// The minimum is over all allowed c. The common shift u is 0 unless the total is fixed. If it is, u is the
/// multiplier of the total in the linear program for the minimum, and then all factors are at most 1.
///
/// If the law itself weights counts by Π w_l(c_l), the factors are w_l(c) e^(−cτ_l) divided by their maxima, and
/// e^least is the reciprocal of the product of these maxima.
#[derive(Clone, Debug)]
pub(crate) struct Correction {
    factors: Vec<Factor>,
    /// min Σ c_l τ_l.
    pub(crate) least: f64,
}

/// ln of the factor of a group.
#[derive(Clone, Debug)]
enum Factor {
    /// t_l, and min(lo_l t_l, hi_l t_l).
    Linear { favour: f64, base: f64 },
    /// The value for every count from 0 up.
    Listed(Vec<f64>),
}

impl Correction {
    pub(crate) fn new(ranges: &Counts, log_weights: &[f64]) -> Self {
        let shift = ranges.total().map_or(0.0, |total| multiplier(ranges, log_weights, total));
        // Differences from the shift that are within rounding count as zero.
        let favour = |&tau: &f64| {
            let rounding = 1e-13 * (1.0 + tau.abs() + shift.abs());
            if (tau - shift).abs() <= rounding { 0.0 } else { tau - shift }
        };
        let log_favours: Vec<f64> = log_weights.iter().map(favour).collect();
        let base =
            |(group, t): (usize, &f64)| (ranges.low[group] as f64 * t).min(ranges.high[group] as f64 * t);
        let bases: Vec<f64> = log_favours.iter().enumerate().map(base).collect();
        let least = bases.iter().sum::<f64>() + ranges.total().map_or(0.0, |total| total as f64 * shift);
        let linear = |(&favour, base)| Factor::Linear { favour, base };
        Self { factors: log_favours.iter().zip(bases).map(linear).collect(), least }
    }

    /// The correction for counts that the law itself weights.
    pub(crate) fn weighted(weights: &CountWeights, log_weights: &[f64]) -> Self {
        let mut least = 0.0;
        let listed = |(logs, tau): (&Vec<f64>, &f64)| {
            let logs: Vec<f64> = logs.iter().enumerate().map(|(c, log)| log - c as f64 * tau).collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            least -= most;
            Factor::Listed(logs.iter().map(|log| log - most).collect())
        };
        let factors = weights.0.iter().zip(log_weights).map(listed).collect();
        Self { factors, least }
    }

    /// ln of the factor of a group; at most 0 for a count in its range.
    pub(crate) fn log_factor(&self, group: usize, count: usize) -> f64 {
        match &self.factors[group] {
            Factor::Linear { favour, base } => base - count as f64 * favour,
            Factor::Listed(logs) => logs.get(count).copied().unwrap_or(f64::NEG_INFINITY),
        }
    }

    /// ln of the product of all factors.
    pub(crate) fn log_of(&self, counts: &[usize]) -> f64 {
        counts.iter().enumerate().map(|(group, &count)| self.log_factor(group, count)).sum()
    }

    /// Whether the factor of a group is 1 for every count.
    pub(crate) fn is_one(&self, group: usize) -> bool {
        matches!(self.factors[group], Factor::Linear { favour: 0.0, .. })
    }

    /// The end of the range `low` to `high` at which the factor of a group is largest. `None` if the largest factor
    /// is not known to be at an end.
    pub(crate) fn best_end(&self, group: usize, [low, high]: [usize; 2]) -> Option<usize> {
        match self.factors[group] {
            Factor::Linear { favour, .. } if favour > 0.0 => Some(low),
            Factor::Linear { favour, .. } if favour < 0.0 => Some(high),
            _ => None,
        }
    }
}

/// The weight of the last group added to a fractional knapsack that is filled lightest first.
fn multiplier(ranges: &Counts, log_weights: &[f64], total: usize) -> f64 {
    let mut order: Vec<usize> = (0..log_weights.len()).collect();
    order.sort_by(|&a, &b| log_weights[a].total_cmp(&log_weights[b]));
    let mut left = total.saturating_sub(ranges.low.iter().sum());
    let mut last = order.first().copied();
    for group in order {
        let room = ranges.high[group] - ranges.low[group];
        if left == 0 {
            break;
        }
        if room > 0 {
            last = Some(group);
        }
        left = left.saturating_sub(room);
    }
    last.map_or(0.0, |group| log_weights[group])
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    fn each(high: &[usize]) -> Vec<Vec<usize>> {
        high.iter().fold(vec![vec![]], |all, &high| {
            all.iter().flat_map(|c: &Vec<usize>| (0..=high).map(|x| [&c[..], &[x]].concat())).collect()
        })
    }

    #[test]
    fn factors_are_at_most_one_and_reach_it() {
        let weights = [[0.3, -1.2, 2.0], [1.0, 1.0, 1.0], [-700.0, 5.0, 650.0], [0.0, -1.0, 0.0]];
        for total in [None, Some(2), Some(4), Some(5), Some(7)] {
            let ranges = Counts::in_ranges(&[1, 0, 1], &[2, 3, 2], total, 100);
            let allowed: Vec<_> = each(&[2, 3, 2]).into_iter().filter(|c| ranges.allow(c)).collect();
            assert!(!allowed.is_empty());
            for weights in &weights {
                let correction = Correction::new(&ranges, weights);
                let favour = |c: &[usize]| c.iter().zip(weights).map(|(&c, t)| c as f64 * t).sum::<f64>();
                let least = allowed.iter().map(|c| favour(c)).fold(f64::INFINITY, f64::min);
                assert_abs_diff_eq!(correction.least, least, epsilon = 1e-9);
                for counts in &allowed {
                    let log = correction.log_of(counts);
                    assert!((log - (least - favour(counts))).abs() < 1e-9 && log < 1e-9, "{counts:?}");
                    assert!((0..3).all(|l| correction.log_factor(l, counts[l]) < 1e-9));
                }
            }
        }
    }
}
