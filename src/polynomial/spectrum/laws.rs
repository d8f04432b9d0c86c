//! Which eigenvectors the laws use, and at which tilt.

use faer::Mat;

use super::{Spectrum, TiltedSpectrum};
use crate::{
    Result,
    engine::{Engine, Rows},
    polynomial::{
        ConditionalBernoulli, sigmoid,
        tilt::{Tilt, homogeneous_tilt},
    },
};

impl TiltedSpectrum {
    /// For the DPP: of K of the rows as scaled; and the logarithm of what it is to be multiplied by to be that of
    /// the rows as given. `None` where nothing but rounding is left of the rows beyond the included ones.
    pub(crate) fn for_dpp(
        engine: &dyn Engine,
        rows: &Rows<'_>,
        beyond: Option<&Mat<f64>>,
    ) -> Result<Option<(Self, f64)>> {
        // λ = λ_scaled / s².
        let log_scale = -2.0 * rows.groups()[0].scale.ln();
        let untilted = |grams: &[_], _| Ok(Tilt::neutral(grams.len()));
        let usage = |values: &[f64]| Ok(keep_probabilities(values, log_scale));
        let found = Spectrum::resolve(engine, rows, beyond, untilted, usage)?;
        // Entries are at most 1 before the projection, which rounds each to n·ε.
        let dims = rows.features().dims() as f64;
        let rounding = rows.len() as f64 * dims * (dims * f64::EPSILON).powi(2);
        let real = beyond.is_none() || found.spectrum.values.first().is_some_and(|&value| value > rounding);
        Ok(real.then_some((found, log_scale)))
    }

    /// For the k-DPP: of K of the rows as scaled.
    pub(crate) fn for_size(
        engine: &dyn Engine,
        rows: &Rows<'_>,
        beyond: Option<&Mat<f64>>,
        k: usize,
    ) -> Result<Self> {
        let untilted = |grams: &[_], _| Ok(Tilt::neutral(grams.len()));
        let usage = |values: &[f64]| Ok(ConditionalBernoulli::new(values, k)?.inclusion_probabilities());
        Spectrum::resolve(engine, rows, beyond, untilted, usage)
    }

    /// For the Partition-DPP: at the tilt where the k-DPP's expected counts are the quota.
    pub(crate) fn for_quota(
        engine: &dyn Engine,
        rows: &Rows<'_>,
        beyond: Option<&Mat<f64>>,
        counts: &[usize],
    ) -> Result<Self> {
        let k = counts.iter().sum();
        let tilt = |grams: &[_], grading| homogeneous_tilt(grams, counts, grading);
        let usage = |values: &[f64]| Ok(ConditionalBernoulli::new(values, k)?.inclusion_probabilities());
        Spectrum::resolve(engine, rows, beyond, tilt, usage)
    }
}

/// λ_j / (1 + λ_j), with λ_j = e^`log_scale` times the values.
pub(crate) fn keep_probabilities(values: &[f64], log_scale: f64) -> Vec<f64> {
    values.iter().map(|value| sigmoid(value.ln() + log_scale)).collect()
}
