//! Tilt and spectrum for every kind of law.

use super::{SETTLED, SETTLED_OF_MANY, Spectrum, TiltedSpectrum, UNUSED};
use crate::{
    Result,
    engine::{Engine, Rows},
    linalg::sigmoid,
    model::GroundSet,
    polynomial::{
        ConditionalBernoulli,
        gram::Gram,
        tilt::{Tilt, homogeneous_tilt},
    },
};

impl TiltedSpectrum {
    /// For the DPP: the spectrum of the scaled rows, and ln of the factor from it to the spectrum of the rows as
    /// given.
    ///
    /// `None` if, beyond the included rows, only rounding is left that no draw uses, and the factor of a kernel lacks
    /// nothing.
    pub(crate) fn for_dpp(
        engine: &Engine,
        rows: &Rows<'_>,
        ground: &GroundSet,
    ) -> Result<Option<(Self, f64)>> {
        // λ = λ_scaled / s².
        let log_scale = -2.0 * rows.groups()[0].scale.ln();
        let untilted = |grams: &[_], _| Ok(Tilt::neutral(grams.len()));
        let usage = |values: &[f64]| Ok(keep_probabilities(values, log_scale));
        let found = Spectrum::resolve(engine, rows, ground, untilted, (usage, SETTLED))?;
        let chosen: f64 = keep_probabilities(&found.spectrum.values, log_scale).iter().sum();
        let least = if ground.beyond().is_some() { UNUSED } else { 0.0 };
        let real = chosen > least || found.spectrum.error > UNUSED;
        Ok(real.then_some((found, log_scale)))
    }

    /// For the k-DPP: the spectrum of the scaled rows.
    pub(crate) fn for_size(engine: &Engine, rows: &Rows<'_>, ground: &GroundSet, k: usize) -> Result<Self> {
        let untilted = |grams: &[_], _| Ok(Tilt::neutral(grams.len()));
        let usage = |values: &[f64]| Ok(ConditionalBernoulli::new(values, k)?.inclusion_probabilities());
        Spectrum::resolve(engine, rows, ground, untilted, (usage, SETTLED))
    }

    /// For exact counts: at the tilt that makes them the expected counts of the k-DPP.
    pub(crate) fn for_counts(
        engine: &Engine,
        rows: &Rows<'_>,
        ground: &GroundSet,
        counts: &[usize],
    ) -> Result<Self> {
        let k = counts.iter().sum();
        let tilt = |grams: &[_], grading| homogeneous_tilt(engine, grams, counts, grading);
        let usage = |values: &[f64]| Ok(ConditionalBernoulli::new(values, k)?.inclusion_probabilities());
        Spectrum::resolve(engine, rows, ground, tilt, (usage, SETTLED_OF_MANY))
    }

    /// For ranges of counts of the rows as given, and their total if it is fixed.
    ///
    /// `tilt` also takes the offsets of the Gram matrices.
    pub(crate) fn for_ranges(
        engine: &Engine,
        rows: &Rows<'_>,
        ground: &GroundSet,
        total: Option<usize>,
        tilt: impl Fn(&[Gram], &[f64]) -> Result<Tilt>,
    ) -> Result<Self> {
        // Rows are scaled by s_l, so weights e^w of scaled rows are e^(w + 2 ln s_l) of the rows as given.
        let offsets: Vec<f64> = rows.scales().iter().map(|scale| -2.0 * scale.ln()).collect();
        let tilt = |grams: &[_], _| tilt(grams, &offsets);
        let usage = |values: &[f64]| match total {
            Some(k) => Ok(ConditionalBernoulli::new(values, k)?.inclusion_probabilities()),
            None => Ok(keep_probabilities(values, 0.0)),
        };
        Spectrum::resolve(engine, rows, ground, tilt, (usage, SETTLED))
    }
}

/// λ_j / (1 + λ_j), with λ_j = e^`log_scale` times the values.
pub(crate) fn keep_probabilities(values: &[f64], log_scale: f64) -> Vec<f64> {
    values.iter().map(|value| sigmoid(value.ln() + log_scale)).collect()
}
