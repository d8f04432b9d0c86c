//! Tilted rejection: k-DPP proposals with weighted parts, kept if their counts are the quota.

use rand::Rng;

use super::PartitionDpp;
use crate::{
    Partition, Quota, Result,
    engine::Engine,
    polynomial::{ConditionalBernoulli, spectrum::TiltedSpectrum},
    sample::{
        attempts::Attempts,
        projection::{ProjectionDpp, Scratch},
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
    expected_proposals_of(quota.counts())
}

pub(crate) fn expected_proposals_of(counts: &[usize]) -> f64 {
    let log_term = |count: usize| -> f64 {
        let size = count as f64;
        // ln(count^count / count!)
        (1..=count).map(|i| (size / i as f64).ln()).sum()
    };
    (log_term(counts.iter().sum()) - counts.iter().map(|&count| log_term(count)).sum::<f64>()).exp()
}

#[derive(Debug)]
pub(crate) struct TiltedRejection<'a> {
    eigenvectors: ConditionalBernoulli,
    projection: ProjectionDpp<'a>,
    partition: &'a Partition,
    /// What is left to choose, by part.
    counts: Vec<usize>,
    tilt: Vec<f64>,
    acceptance_bound: f64,
    pub(super) error: f64,
}

impl<'a> TiltedRejection<'a> {
    pub(super) fn new(dpp: &PartitionDpp<'a>, engine: &dyn Engine) -> Result<Self> {
        let rows = dpp.rows();
        let free = dpp.free_counts();
        let k = free.iter().sum();
        let TiltedSpectrum { tilt, spectrum, .. } = dpp.spectrum(engine, &rows)?;
        let weights = tilt.root_weights();
        let eigenvectors = ConditionalBernoulli::new(&spectrum.values, k)?;
        let features = dpp.ground.features();
        let projection =
            ProjectionDpp::new(engine, features, &rows, &weights, &spectrum, k as f64, dpp.projection)?;

        let scales = rows.scales();
        let logs = tilt.log_weights.iter().zip(&scales).map(|(t, scale)| t + 2.0 * scale.ln()).collect();
        let mut counts = vec![0; dpp.partition.parts()];
        dpp.parts.iter().for_each(|open| counts[open.part] = open.count);
        // Stopping short of the minimum by a gradient g costs at most about a factor e^(2|g|).
        let acceptance_bound = (-2.0 * tilt.imbalance).exp() / expected_proposals_of(&free);
        Ok(Self {
            eigenvectors,
            projection,
            partition: dpp.partition,
            counts,
            tilt: tilt_by_part(dpp, logs),
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

    /// An accepted set.
    pub(crate) fn sample<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<Vec<u32>> {
        let mut scratch = Scratch::default();
        let mut left = Vec::new();
        loop {
            attempts.another()?;
            self.eigenvectors.sample_into(rng, &mut scratch.chosen);
            left.clear();
            left.extend_from_slice(&self.counts);
            // A proposal is hopeless as soon as a part overflows; k picks without overflow meet
            // the quota.
            let keep = |item: u32| {
                let left = &mut left[self.partition.part_of(item as usize)];
                *left > 0 && attempts.go_on() && {
                    *left -= 1;
                    true
                }
            };
            if let Some(picks) = self.projection.draw(rng, &mut scratch, keep) {
                return Ok(picks.to_vec());
            }
        }
    }
}

/// Weights relative to each other: centred in logarithms, since scales of 1e±200 would overflow.
fn tilt_by_part(dpp: &PartitionDpp<'_>, logs: Vec<f64>) -> Vec<f64> {
    let lowest = logs.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let centre = 0.5 * (lowest + highest);
    let settled = |&count: &usize| if count > 0 { f64::INFINITY } else { 0.0 };
    let mut by_part: Vec<f64> = dpp.quota.counts().iter().map(settled).collect();
    for (open, log) in dpp.parts.iter().zip(logs) {
        by_part[open.part] = (log - centre).exp();
    }
    by_part
}
