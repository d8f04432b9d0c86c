//! The samplers of k-DPPs and of independent k-DPPs.

use super::{Law, Sampler, SamplerOptions, SpectralLaw, spectral::Eigenvectors};
use crate::{
    IndependentKDpps, KDpp, Result,
    engine::{Engine, Items, Rows},
    model::{FreeItems, GroundSet, PartKDpp, within},
    polynomial::spectrum::TiltedSpectrum,
};

impl KDpp {
    /// Sets up the exact sampler.
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each) and O(n³); see [`Projection`](super::Projection) for the cost per
    /// draw.
    ///
    /// # Errors
    /// [`Error::Eigen`](crate::Error::Eigen); [`Error::SizeAboveRank`](crate::Error::SizeAboveRank) if the rank shows
    /// only in f64; engine errors.
    pub fn sampler(&self, options: impl Into<SamplerOptions>, engine: &Engine) -> Result<Sampler> {
        let ground = &self.ground;
        if self.free_size() == 0 {
            return Ok(Sampler::forced(ground.included(), engine));
        }
        let items = ground.free_items();
        let (law, error) = law_of_size(engine, ground, &items, self.free_size(), options.into())?;
        Ok(Sampler::new(Law::Spectral(law), ground.included(), engine, error))
    }
}

impl IndependentKDpps {
    /// Sets up the exact sampler.
    ///
    /// # Cost
    /// The cost of one [`KDpp`] per part; 24 bytes per item with leverage trials, 32 during set-up.
    ///
    /// # Errors
    /// The errors of [`KDpp::sampler`].
    pub fn sampler(&self, options: impl Into<SamplerOptions>, engine: &Engine) -> Result<Sampler> {
        if self.parts.iter().all(|part| part.count == 0) {
            return Ok(Sampler::forced(self.conditions.included(), engine));
        }
        let options = options.into();
        let open = self.parts.iter().filter(|part| part.count > 0);
        let law = |part: &PartKDpp| {
            let (law, error) = law_of_size(engine, &part.ground, &part.items, part.count, options)?;
            Ok((Law::Spectral(law), error))
        };
        let (laws, errors): (Vec<_>, Vec<f64>) =
            open.map(law).collect::<Result<Vec<_>>>()?.into_iter().unzip();
        Ok(Sampler::new(Law::Independent(laws), self.conditions.included(), engine, errors.into_iter().sum()))
    }
}

/// The k-DPP on some of the free items, and the error of its law.
pub(super) fn law_of_size(
    engine: &Engine,
    ground: &GroundSet,
    items: &FreeItems,
    k: usize,
    options: SamplerOptions,
) -> Result<(SpectralLaw, f64)> {
    let graded = |ground: &GroundSet| {
        ground.graded(&Rows::scaled(ground.features(), vec![Items::from(items)]), engine)
    };
    let as_given = |ground: &GroundSet| {
        let rows = Rows::scaled(ground.features(), vec![Items::from(items)]);
        let found = TiltedSpectrum::for_size(engine, &rows, ground, k)?;
        let eigenvectors = Eigenvectors::of_size(&found.spectrum.values, k)?;
        let law =
            SpectralLaw::new(engine, ground.features(), &rows, &found, eigenvectors, options.projection)?;
        Ok((law, found.spectrum.error))
    };
    within(options.law_error, ground, graded, as_given, |(_, error)| *error)
}
