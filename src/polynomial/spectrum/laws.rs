//! Which eigenvectors the laws use, and at which tilt.

use super::{Spectrum, TiltedSpectrum, UNUSED};
use crate::{
    Result,
    data::GroundSet,
    engine::{Engine, Rows},
    polynomial::{
        ConditionalBernoulli, sigmoid,
        tilt::{Tilt, homogeneous_tilt},
    },
};

impl TiltedSpectrum {
    /// For the DPP: of K of the rows as scaled; and the logarithm of what it is to be multiplied by to be that of
    /// the rows as given. `None` where nothing but rounding, that no draw would use, is left of the rows beyond the
    /// included ones, nor left out of the factor of a kernel.
    pub(crate) fn for_dpp(
        engine: &dyn Engine,
        rows: &Rows<'_>,
        ground: &GroundSet<'_>,
    ) -> Result<Option<(Self, f64)>> {
        // λ = λ_scaled / s².
        let log_scale = -2.0 * rows.groups()[0].scale.ln();
        let untilted = |grams: &[_], _| Ok(Tilt::neutral(grams.len()));
        let usage = |values: &[f64]| Ok(keep_probabilities(values, log_scale));
        let found = Spectrum::resolve(engine, rows, ground, untilted, usage)?;
        let chosen: f64 = keep_probabilities(&found.spectrum.values, log_scale).iter().sum();
        let least = if ground.beyond().is_some() { UNUSED } else { 0.0 };
        let real = chosen > least || found.spectrum.error > UNUSED;
        Ok(real.then_some((found, log_scale)))
    }

    /// For the k-DPP: of K of the rows as scaled.
    pub(crate) fn for_size(
        engine: &dyn Engine,
        rows: &Rows<'_>,
        ground: &GroundSet<'_>,
        k: usize,
    ) -> Result<Self> {
        let untilted = |grams: &[_], _| Ok(Tilt::neutral(grams.len()));
        let usage = |values: &[f64]| Ok(ConditionalBernoulli::new(values, k)?.inclusion_probabilities());
        Spectrum::resolve(engine, rows, ground, untilted, usage)
    }

    /// For the Partition-DPP: at the tilt where the k-DPP's expected counts are the quota.
    pub(crate) fn for_quota(
        engine: &dyn Engine,
        rows: &Rows<'_>,
        ground: &GroundSet<'_>,
        counts: &[usize],
    ) -> Result<Self> {
        let k = counts.iter().sum();
        let tilt = |grams: &[_], grading| homogeneous_tilt(engine, grams, counts, grading);
        let usage = |values: &[f64]| Ok(ConditionalBernoulli::new(values, k)?.inclusion_probabilities());
        Spectrum::resolve(engine, rows, ground, tilt, usage)
    }
}

/// λ_j / (1 + λ_j), with λ_j = e^`log_scale` times the values.
pub(crate) fn keep_probabilities(values: &[f64], log_scale: f64) -> Vec<f64> {
    values.iter().map(|value| sigmoid(value.ln() + log_scale)).collect()
}
