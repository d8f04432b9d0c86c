//! Goodness-of-fit tests on counts.

use std::collections::BTreeMap;

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::oracle::Law;

/// The family-wise error rate of every family of checks.
pub const ALPHA: f64 = 1e-3;

/// Returns the p-value of Pearson's χ² test of observed sets against a law.
///
/// Bins with an expectation below 5 are pooled. A set that the law excludes gives 0.
pub fn chi_square_p<'a>(sets: impl IntoIterator<Item = &'a [usize]>, law: &Law) -> f64 {
    let mut observed: BTreeMap<&[usize], u64> = BTreeMap::new();
    let mut draws = 0_u64;
    for set in sets {
        if !law.contains_key(set) {
            return 0.0;
        }
        *observed.entry(set).or_default() += 1;
        draws += 1;
    }
    assert!(draws >= 1000, "too few draws for a χ² test");
    let (mut statistic, mut bins) = (0.0, 0_u32);
    let (mut pooled_expected, mut pooled_observed) = (0.0, 0_u64);
    for (set, p) in law {
        let expected = p * draws as f64;
        let count = observed.get(&set[..]).copied().unwrap_or(0);
        if expected < 5.0 {
            pooled_expected += expected;
            pooled_observed += count;
        } else {
            statistic += (count as f64 - expected).powi(2) / expected;
            bins += 1;
        }
    }
    if pooled_expected >= 5.0 {
        statistic += (pooled_observed as f64 - pooled_expected).powi(2) / pooled_expected;
        bins += 1;
    } else if pooled_observed as f64 > 5.0 + 10.0 * (pooled_expected + 1.0) {
        return 0.0;
    }
    if bins < 2 {
        return 1.0;
    }
    1.0 - ChiSquared::new(f64::from(bins - 1)).unwrap().cdf(statistic)
}

/// Returns the standard score of a sample mean against the exact expectation.
pub fn z_score(values: &[f64], expectation: f64) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean - expectation) / (variance / n).sqrt().max(1e-12 * expectation.abs().max(1e-300))
}

/// Returns z with Pr(|Z| > z) = α/checks for a standard normal Z.
pub fn critical_z(checks: usize) -> f64 {
    let normal = statrs::distribution::Normal::new(0.0, 1.0).unwrap();
    normal.inverse_cdf(1.0 - 0.5 * ALPHA / checks as f64)
}
