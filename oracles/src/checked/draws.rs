//! Tests draws against the law that the sampler claims.

use std::collections::BTreeMap;

use partition_dpp::{Result, Sampler, sample::Algorithm};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ChiSquared, ContinuousCDF, DiscreteCDF, Poisson};

use super::{Examined, FLOOR, Kind, SLACK};
use crate::exact::{Law, Set, set_of};

/// Bins with a lower expectation are pooled.
const POOLED: f64 = 20.0;
/// The most proposals that a sampler may take for all draws together.
const PROPOSALS: f64 = 2e6;
/// A p-value below this leads to a second test with more draws.
const SUSPICIOUS: f64 = 1e-4;
/// The factor by which the second test has more draws.
const MORE: usize = 8;
/// The second test fails if its p-value is below this.
const REJECTED: f64 = 1e-6;

pub fn samplers(examined: &mut Examined<'_>, model: &partition_dpp::Law) {
    for (name, made) in super::model::samplers(model, examined.engine) {
        sampler(examined, &format!("sampler by {name}"), made);
    }
}

/// Tests the draws of one sampler.
pub fn sampler(examined: &mut Examined<'_>, name: &str, made: Result<Sampler>) {
    let Some(sampler) = examined.answered(name, made) else { return };
    let within = (PROPOSALS * sampler.acceptance_bound()) as usize;
    let effort = examined.effort;
    let by_nodes = matches!(sampler.algorithm(), Algorithm::Interpolation | Algorithm::PerCandidate);
    let draws = if by_nodes { effort.draws.min(effort.draws_by_nodes) } else { effort.draws };
    let draws = draws.min(within);
    let seed = examined.seed;
    let p = test(examined, name, &sampler, draws, seed);
    if p.is_some_and(|p| p < SUSPICIOUS) {
        let again = test(examined, name, &sampler, draws * MORE, seed ^ 0x5eed);
        if let Some(again) = again.filter(|p| *p < REJECTED) {
            let text =
                format!("χ² p-value {again:.1e} after {p:?}, stated error {:.1e}", sampler.law_error());
            examined.report.fault(Kind::Draws, name, &text);
        }
    }
    // Only the first p-value is uniform, since the second test depends on it.
    examined.report.p_values.extend(p);
}

/// Returns the p-value of some draws, or `None` if there is nothing to test or a fault was reported.
fn test(examined: &mut Examined<'_>, name: &str, sampler: &Sampler, draws: usize, seed: u64) -> Option<f64> {
    let law = examined.law?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut counts: BTreeMap<Set, usize> = BTreeMap::new();
    for _ in 0..draws {
        let (subset, _) = examined.answered(name, sampler.try_sample_counted(&mut rng))?;
        *counts.entry(set_of(subset.iter())).or_default() += 1;
    }
    if let Some(set) = counts.keys().find(|set| !examined.allows(**set)) {
        examined.report.fault(Kind::Draws, name, &format!("drew {set:b}, which is not allowed"));
        return None;
    }
    let stated = SLACK * sampler.law_error() + FLOOR + 10.0 * examined.vague;
    let (p, rare) = p_values(&counts, law, draws, stated);
    if rare < 1e-9 {
        let text =
            format!("{draws} draws have sets of no probability: tail {rare:.1e}, stated error {stated:.1e}");
        examined.report.fault(Kind::Draws, name, &text);
        return None;
    }
    examined.report.compared(Kind::Draws);
    p
}

/// Returns the p-value of Pearson's χ² test and the probability of the rare draws.
///
/// The test uses the bins with a large enough expectation, if there are at least two. The second number is the
/// probability of at least as many draws from rarer sets, if the law may be off by `off`.
pub fn p_values(counts: &BTreeMap<Set, usize>, law: &Law, draws: usize, off: f64) -> (Option<f64>, f64) {
    let (mut statistic, mut bins) = (0.0, 0);
    let (mut pooled, mut pooled_count, mut seen) = (0.0, 0, 0);
    for (set, p) in law.sets() {
        let (expected, count) = (p * draws as f64, counts.get(&set).copied().unwrap_or(0));
        seen += count;
        if expected < POOLED {
            pooled += expected;
            pooled_count += count;
        } else {
            statistic += (count as f64 - expected).powi(2) / expected;
            bins += 1;
        }
    }
    // Sets that the law excludes count as rare.
    pooled_count += draws - seen;
    if pooled >= POOLED {
        statistic += (pooled_count as f64 - pooled).powi(2) / pooled;
        bins += 1;
    }
    let tail = |expected: f64, count: usize| match count {
        0 => 1.0,
        _ => Poisson::new(expected.max(1e-300)).unwrap().sf(count as u64 - 1),
    };
    let allowance = off * draws as f64;
    let mut rare = tail(allowance, draws - seen);
    if pooled < POOLED {
        rare = rare.min(tail(pooled + allowance, pooled_count));
    }
    let p = (bins > 1).then(|| ChiSquared::new(f64::from(bins - 1)).unwrap().sf(statistic));
    (p, rare)
}
