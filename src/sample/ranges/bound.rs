//! How often proposals are accepted, at least.

use super::RangeDpp;
use crate::{
    Result,
    polynomial::{
        ConditionalBernoulli,
        count_ranges::{Correction, CountRanges},
        feasibility,
        generating_function::GeneratingFunction,
        spectrum::TiltedSpectrum,
        torus::coefficient_bound,
    },
    sample::partition::expected_proposals_of,
};

/// Acceptance, at least: what sets with one vector c of allowed counts contribute.
///
/// ```text
/// Pr(accept) ≥ φ_c e^(least − c·t) / Pr(|S| = k),   φ_c ≥ Π (c_l^c_l e^−c_l / c_l!) · inf_d φ(e^d) e^(−c·d)
/// ```
///
/// with the generating function φ of the proposals' counts (the second factor only where the total is fixed). Taken at
/// counts near the expected ones.
///
/// # Source
/// Gurvits, *Van der Waerden/Schrijver–Valiant like conjectures and stable homogeneous polynomials* (2008).
pub(super) fn acceptance(
    dpp: &RangeDpp<'_>,
    found: &TiltedSpectrum,
    scales: &[f64],
    correction: &Correction,
) -> Result<f64> {
    let ranges = dpp.ranges();
    if let Some(counts) = ranges.exact() {
        // Stopping short of the minimum by a gradient g costs at most about a factor e^(2|g|).
        return Ok((-2.0 * found.tilt.imbalance).exp() / expected_proposals_of(counts));
    }
    let (function, of_size) = match ranges.total() {
        None => (GeneratingFunction::of_free_size(found, scales, 0.0)?.0, 1.0),
        Some(k) => {
            let coins = ConditionalBernoulli::new(&found.spectrum.values, k)?;
            (GeneratingFunction::of_size(found, scales, k)?.0, coins.probability_of_size())
        }
    };
    let counts = typical(dpp, &ranges, correction, &function.means());
    if !ranges.allows(&counts) {
        return Ok(0.0);
    }
    let log = correction.log_of(&counts) + function.log_capacity(&counts);
    Ok((coefficient_bound(&counts) * log.exp() / of_size).min(1.0))
}

/// Counts near these means that some allowed set of positive determinant has. Groups that are weighted are at an end of
/// their range; the means of the others are rounded down, then raised by one where most is cut off, as far as ranks allow.
fn typical(dpp: &RangeDpp<'_>, ranges: &CountRanges, correction: &Correction, means: &[f64]) -> Vec<usize> {
    let groups = means.len();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
    let floor = |group: usize| {
        let (low, high) = (ranges.low()[group], ranges.high()[group]);
        match correction.log_favour(group) {
            t if t > 0.0 => low,
            t if t < 0.0 => high,
            _ => ((means[group] + 1e-2).floor() as usize).clamp(low, high),
        }
    };
    let mut counts: Vec<usize> = (0..groups).map(floor).collect();
    let mut order: Vec<usize> = (0..groups).collect();
    let cut: Vec<f64> = means.iter().zip(&counts).map(|(mean, &count)| mean - count as f64).collect();
    order.sort_by(|&a, &b| cut[b].total_cmp(&cut[a]));
    let limit = ranges.total().unwrap_or_else(|| counts.iter().sum::<usize>() + groups);
    let bases = dpp.bases_up_to(limit);
    let wanted = ranges.total();
    for round in 0..=wanted.unwrap_or(1) {
        for &group in &order {
            let full = wanted.is_some_and(|total| counts.iter().sum::<usize>() >= total);
            let near = wanted.is_some() || (round == 0 && cut[group] > 0.5);
            if full || !near || counts[group] == ranges.high()[group] {
                continue;
            }
            counts[group] += 1;
            if feasibility::check(&bases, &counts, dpp.ground.dims_left()).is_err() {
                counts[group] -= 1;
            }
        }
    }
    counts
}
