//! The sampler of the plain DPP.

use super::{Law, Sampler, SamplerOptions, SpectralLaw, spectral::Eigenvectors};
use crate::{
    Dpp, Result,
    engine::Engine,
    estimate::accurate,
    model::within,
    polynomial::spectrum::{TiltedSpectrum, keep_probabilities},
};

impl Dpp {
    /// Sets up the exact sampler.
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each) and O(n³); see [`Projection`](crate::Projection) for the cost per
    /// draw.
    ///
    /// # Errors
    /// [`Error::Eigen`](crate::Error::Eigen); engine errors.
    pub fn sampler(&self, options: impl Into<SamplerOptions>, engine: &Engine) -> Result<Sampler> {
        let options = options.into();
        let (graded, new) =
            (|law: &Self| law.graded(engine), |law: &Self| law.sampler_as_given(&options, engine));
        within(options.law_error, self, graded, new, Sampler::law_error)
    }

    fn sampler_as_given(&self, options: &SamplerOptions, engine: &Engine) -> Result<Sampler> {
        let ground = &self.ground;
        let items = ground.free_items();
        if items.len() == 0 || ground.dims_left() == 0 {
            let error = accurate(ground.beyond_rank(items.iter()))?;
            return Ok(Sampler::new(Law::Forced, ground.included(), engine, error));
        }
        let rows = self.rows(&items);
        let Some((found, log_scale)) = TiltedSpectrum::for_dpp(engine, &rows, ground)? else {
            return Ok(Sampler::forced(ground.included(), engine));
        };
        let eigenvectors = Eigenvectors::Coins(keep_probabilities(&found.spectrum.values, log_scale));
        let law =
            SpectralLaw::new(engine, ground.features(), &rows, &found, eigenvectors, options.projection)?;
        Ok(Sampler::new(Law::Spectral(law), ground.included(), engine, found.spectrum.error))
    }
}
