//! Lower bounds of the acceptance of proposals.

use crate::{
    PartitionDpp, Result,
    engine::Engine,
    model::{Correction, Counts, feasibility},
    polynomial::{
        ConditionalBernoulli, generating_function::GeneratingFunction, spectrum::TiltedSpectrum,
        torus::coefficient_bound,
    },
};

/// An upper bound of the average number of proposals per sample under exact counts κ, for any features.
///
/// ```text
/// k^k / k! · Π_l κ_l! / κ_l^κ_l
/// ```
///
/// This is the reciprocal of the multinomial probability of κ with cell probabilities κ_l/k.
///
/// # Source
/// Gurvits (2008): at the homogeneous tilt, e_k(Σ y_l G_l) is real stable, and its coefficient of y^κ is at least
/// that fraction of its value.
#[must_use]
pub fn expected_proposals(counts: &[usize]) -> f64 {
    let log_term = |count: usize| -> f64 {
        let size = count as f64;
        // ln(count^count / count!)
        (1..=count).map(|i| (size / i as f64).ln()).sum()
    };
    (log_term(counts.iter().sum()) - counts.iter().map(|&count| log_term(count)).sum::<f64>()).exp()
}

/// A lower bound of the acceptance: the contribution of sets with one vector c of allowed counts.
///
/// ```text
/// Pr(accept) ≥ φ_c e^(least − c·t) / Pr(|S| = k),   φ_c ≥ Π (c_l^c_l e^−c_l / c_l!) · inf_d φ(e^d) e^(−c·d)
/// ```
///
/// Here φ is the generating function of the proposals' counts; the division applies only if the total is fixed. The
/// counts c are close to the expected ones.
///
/// # Source
/// Gurvits, *Van der Waerden/Schrijver–Valiant like conjectures and stable homogeneous polynomials* (2008).
pub(super) fn bound(
    dpp: &PartitionDpp,
    found: &TiltedSpectrum,
    scales: &[f64],
    correction: &Correction,
    engine: &Engine,
) -> Result<f64> {
    let ranges = dpp.counts();
    if let Some(counts) = ranges.exact() {
        // Stopping short of the minimum by a gradient g costs at most about a factor e^(2|g|).
        return Ok((-2.0 * found.tilt.imbalance).exp() / expected_proposals(counts));
    }
    let (function, of_size) = match ranges.total() {
        None => (GeneratingFunction::of_free_size(found, scales, 0.0)?.0, 1.0),
        Some(k) => {
            let coins = ConditionalBernoulli::new(&found.spectrum.values, k)?;
            (GeneratingFunction::of_size(found, scales, k)?.0, coins.probability_of_size())
        }
    };
    let counts = typical(dpp, &ranges, correction, &function.means());
    if !ranges.allow(&counts) {
        return Ok(0.0);
    }
    let log = correction.log_of(&counts) + function.log_capacity(&counts, &|| engine.proceed().is_ok());
    engine.proceed()?;
    Ok((coefficient_bound(&counts) * log.exp() / of_size).min(1.0))
}

/// Returns counts close to these means that some allowed set of positive determinant has.
///
/// Weighted groups are at an end of their range. The means of the others are rounded down. Counts are then raised by
/// one, the largest remainders first, as far as the ranks allow.
fn typical(dpp: &PartitionDpp, ranges: &Counts, correction: &Correction, means: &[f64]) -> Vec<usize> {
    let groups = means.len();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
    let floor = |group: usize| {
        let (low, high) = (ranges.low[group], ranges.high[group]);
        let near = || ((means[group] + 1e-2).floor() as usize).clamp(low, high);
        correction.best_end(group, [low, high]).unwrap_or_else(near)
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
            if full || !near || counts[group] == ranges.high[group] {
                continue;
            }
            counts[group] += 1;
            if feasibility::check(&bases, &counts, dpp.ground().dims_left()).is_err() {
                counts[group] -= 1;
            }
        }
    }
    counts
}
