//! Tilted rejection: k-DPP proposals with weighted parts, kept if their counts are the quota.

use rand::Rng;

use super::active_parts;
use crate::{
    Features, Partition, Quota, Result,
    engine::{Engine, Items, Rows},
    polynomial::{ConditionalBernoulli, tilt::homogeneous_tilt},
    sample::{
        Projection,
        projection::{ProjectionDpp, Scratch},
        spectrum::Spectrum,
    },
};

/// Proposals per sample that tilted rejection needs on average, at most, whatever the features.
///
/// ```text
/// k^k / k! · Π_l κ_l! / κ_l^κ_l
/// ```
///
/// The reciprocal of the multinomial probability of κ with cell probabilities κ_l/k.
///
/// # Source
/// Gurvits (2008): at the homogeneous tilt, e_k(Σ y_l G_l) is real stable and its coefficient of
/// y^κ is at least that fraction of its value.
#[must_use]
pub fn expected_proposals(quota: &Quota) -> f64 {
    let log_term = |count: usize| -> f64 {
        let size = count as f64;
        // ln(count^count / count!)
        (1..=count).map(|i| (size / i as f64).ln()).sum()
    };
    (log_term(quota.total()) - quota.counts().iter().map(|&count| log_term(count)).sum::<f64>()).exp()
}

#[derive(Debug)]
pub(crate) struct TiltedRejection<'a> {
    eigenvectors: ConditionalBernoulli,
    projection: ProjectionDpp<'a>,
    partition: &'a Partition,
    quota: &'a Quota,
    tilt: Vec<f64>,
    acceptance_bound: f64,
    pub(super) error: f64,
}

impl<'a> TiltedRejection<'a> {
    pub(super) fn new(
        engine: &dyn Engine,
        features: &Features<'a>,
        partition: &'a Partition,
        quota: &'a Quota,
        projection: Projection,
    ) -> Result<Self> {
        let active: Vec<usize> = active_parts(quota).collect();
        let counts: Vec<usize> = active.iter().map(|&part| quota.counts()[part]).collect();
        let items = active.iter().map(|&part| Items::Listed(partition.members(part))).collect();
        let rows = Rows::scaled(features, items);
        let k = quota.total();
        let tilt = |grams: &[_], grading| homogeneous_tilt(grams, &counts, grading);
        let usage = |values: &[f64]| Ok(ConditionalBernoulli::new(values, k)?.inclusion_probabilities());
        let (tilt, spectrum) = Spectrum::resolve(engine, &rows, tilt, usage)?;
        let weights = tilt.root_weights();
        let eigenvectors = ConditionalBernoulli::new(&spectrum.values, k)?;
        let projection =
            ProjectionDpp::new(engine, features, &rows, &weights, &spectrum, k as f64, projection)?;

        // Relative to each other: centred in logarithms, since scales of 1e±200 would overflow.
        let logs: Vec<f64> =
            tilt.log_weights.iter().zip(rows.groups()).map(|(t, group)| t + 2.0 * group.scale.ln()).collect();
        let centre = 0.5
            * (logs.iter().copied().fold(f64::INFINITY, f64::min)
                + logs.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        let mut by_part = vec![0.0; partition.parts()];
        for (&part, log) in active.iter().zip(&logs) {
            by_part[part] = (log - centre).exp();
        }
        // Stopping short of the minimum by a gradient g costs at most about a factor e^(2|g|).
        let acceptance_bound = (-2.0 * tilt.imbalance).exp() / expected_proposals(quota);
        Ok(Self {
            eigenvectors,
            projection,
            partition,
            quota,
            tilt: by_part,
            acceptance_bound,
            error: spectrum.error,
        })
    }

    pub(crate) fn acceptance_bound(&self) -> f64 {
        self.acceptance_bound
    }

    pub(crate) fn tilt(&self) -> &[f64] {
        &self.tilt
    }

    /// An accepted set and the number of proposals it took.
    pub(crate) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> (Vec<u32>, u64) {
        let mut scratch = Scratch::default();
        let mut left = Vec::new();
        for proposals in 1.. {
            self.eigenvectors.sample_into(rng, &mut scratch.chosen);
            left.clear();
            left.extend_from_slice(self.quota.counts());
            // A proposal is hopeless as soon as a part overflows; k picks without overflow meet
            // the quota.
            let keep = |item: u32| {
                let left = &mut left[self.partition.part_of(item as usize)];
                *left > 0 && {
                    *left -= 1;
                    true
                }
            };
            if let Some(picks) = self.projection.draw(rng, &mut scratch, keep) {
                return (picks.to_vec(), proposals);
            }
        }
        unreachable!("proposals are unlimited")
    }
}
