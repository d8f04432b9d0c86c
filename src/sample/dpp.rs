//! The plain DPP.

use rand::{Rng, RngExt};

use super::{
    Law, Projection, Sampler,
    projection::{ProjectionDpp, Scratch},
    spectrum::Spectrum,
};
use crate::{
    Features, Result,
    data::compress_if_wide,
    engine::{Engine, Items, Rows},
    polynomial::tilt::Tilt,
};
/// A determinantal point process: subsets of any size.
///
/// ```text
/// Pr(S) = det(K_S) / det(I + K),   K = A Aᵀ
/// ```
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Dpp, Features, engine};
/// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 0.9, 0.1, 0.0, 1.0])?;
/// let sampler = Dpp::new(&features)?.sampler(&engine::Cpu)?;
/// let samples = sampler.sample_many(100, 7);
/// assert_eq!(samples.subsets().len(), 100);
/// # Ok(()) }
/// ```
///
/// # Source
/// Hough, Krishnapur, Peres and Virág, *Determinantal processes and independence* (2006).
#[derive(Clone, Debug)]
pub struct Dpp<'a> {
    features: Features<'a>,
    projection: Projection,
}

impl<'a> Dpp<'a> {
    /// The DPP with kernel A Aᵀ.
    ///
    /// # Errors
    /// None today; wide features (n > m) are compressed here, which may one day fail.
    pub fn new(features: &Features<'a>) -> Result<Self> {
        Ok(Self { features: compress_if_wide(features)?, projection: Projection::default() })
    }

    /// Chooses how items are picked once the eigenvectors are chosen.
    #[must_use]
    pub fn with_projection(self, projection: Projection) -> Self {
        Self { projection, ..self }
    }

    /// Set-up of the exact sampler.
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each) and O(n³); per draw see [`Projection`].
    ///
    /// # Errors
    /// [`Error::Eigen`](crate::Error::Eigen), and those of the engine.
    pub fn sampler(&self, engine: &dyn Engine) -> Result<Sampler<'a>> {
        let rows = Rows::scaled(&self.features, vec![Items::All(self.features.items())]);
        // K = A Aᵀ of the rows as given: λ = λ_scaled / s².
        let log_unscale = -2.0 * rows.groups()[0].scale.ln();
        let keep = |values: &[f64]| -> Vec<f64> {
            values.iter().map(|value| (1.0 + (-(value.ln() + log_unscale)).exp()).recip()).collect()
        };
        let untilted = |grams: &[_], _| Ok(Tilt::neutral(grams.len()));
        let (_, spectrum) = Spectrum::resolve(engine, &rows, untilted, |values| Ok(keep(values)))?;
        let keep = keep(&spectrum.values);
        let size = keep.iter().sum();
        let projection =
            ProjectionDpp::new(engine, &self.features, &rows, &[1.0], &spectrum, size, self.projection)?;
        Ok(Sampler::new(Law::Dpp(DppLaw { keep, projection }), engine.info(), spectrum.error))
    }
}

/// Independent coins for the eigenvectors, then the projection DPP.
#[derive(Debug)]
pub(crate) struct DppLaw<'a> {
    /// λ_j / (1 + λ_j).
    keep: Vec<f64>,
    projection: ProjectionDpp<'a>,
}

impl DppLaw<'_> {
    pub(crate) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<u32> {
        let mut scratch = Scratch::default();
        for (j, &probability) in self.keep.iter().enumerate() {
            if rng.random::<f64>() < probability {
                scratch.chosen.push(j);
            }
        }
        match self.projection.draw(rng, &mut scratch, |_| true) {
            Some(picks) => picks.to_vec(),
            None => unreachable!("every pick is kept"),
        }
    }
}
