//! Draws from a kernel with a ridge: items by the determinantal law of the kernel, and those that fill them up.

mod free;

use std::sync::Arc;

use rand::Rng;

pub(crate) use self::free::FreeRidgeSampler;
use super::{Attempts, Law, Rejection, Sampler, SamplerOptions};
use crate::{
    Result, RidgeDpp,
    engine::Engine,
    estimate::accurate,
    model::{Fill, within},
};

/// T by rejection, and what is added to it.
#[derive(Debug)]
pub(crate) struct RidgeSampler {
    /// `None` if all items of K that may be chosen are zero.
    drawn: Option<Rejection>,
    fill: Arc<Fill>,
}

impl RidgeSampler {
    /// The law of T; it rejects, and its bound is that of the sampler.
    pub(super) fn drawn(&self) -> Option<&Rejection> {
        self.drawn.as_ref()
    }

    pub(super) fn sample<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<Vec<u32>> {
        let drawn = self.drawn.as_ref().map_or(Ok(Vec::new()), |law| law.sample(rng, attempts))?;
        Ok(self.fill.completed(&drawn, rng))
    }
}

impl RidgeDpp {
    /// Sets up an exact sampler, by rejection: a DPP with weighted parts proposes T, and the acceptance corrects for the
    /// weights of its part counts. Sets of any size are drawn without rejection, as the union of T and of items added by
    /// coins of their own. Ranges that reach beyond the number of features accept what they allow of such unions, if a
    /// trial of 256 sees at least 16 of them. Options other than the way of the projection and the proposal budget do not
    /// apply.
    ///
    /// # Cost
    /// That of [`PartitionDpp::sampler`](crate::PartitionDpp::sampler) under ranges; with qualities, O(m·k) once for upper
    /// ends k, and O(k³ log m) per draw. Draws of any size take that of a [`Dpp`](crate::Dpp) and O(δm), or O(m) with qualities.
    ///
    /// # Errors
    /// [`Error::RangeProposalBudget`](crate::Error::RangeProposalBudget) if neither the bound nor a trial shows that the
    /// budget suffices; [`WeightProblem::Spread`](crate::error::WeightProblem::Spread) where qualities span more decades
    /// than f64 can square; those of [`PartitionDpp::sampler`](crate::PartitionDpp::sampler).
    pub fn sampler(&self, options: impl Into<SamplerOptions>, engine: &Engine) -> Result<Sampler> {
        let options = options.into();
        let (law, error) = self.law_and_error(options, engine)?;
        Ok(Sampler::new(law, &[], engine, error))
    }

    /// Sets up an exact sampler of every part by itself, blind to similarity across parts: the product of the laws of
    /// [`parts`](RidgeDpp::parts).
    ///
    /// # Errors
    /// Those of [`sampler`](RidgeDpp::sampler).
    pub fn independent_sampler(
        &self,
        options: impl Into<SamplerOptions>,
        engine: &Engine,
    ) -> Result<Sampler> {
        let options = options.into();
        let laws = self.parts()?.into_iter().map(|part| part.law_and_error(options, engine));
        let (laws, errors): (Vec<_>, Vec<f64>) = laws.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        Ok(Sampler::new(Law::Independent(laws), &[], engine, errors.into_iter().sum()))
    }

    fn law_and_error(&self, options: SamplerOptions, engine: &Engine) -> Result<(Law, f64)> {
        if let Some((law, error)) = FreeRidgeSampler::of(self, options, engine)? {
            return Ok((Law::FreeRidge(Box::new(law)), error));
        }
        let law = self.law()?;
        let fill = Arc::new(law.fill);
        if law.drawn.open().is_empty() {
            let error = accurate(law.drawn.beyond_rank())?;
            let sampler = RidgeSampler { drawn: None, fill };
            return Ok((Law::Ridge(Box::new(sampler)), error));
        }
        let new = |dpp: &_| Rejection::new(dpp, Some(Arc::clone(&fill)), options, engine);
        let (drawn, error) =
            within(options.law_error, &law.drawn, |dpp| dpp.graded(engine), new, |(_, error)| *error)?;
        let sampler = RidgeSampler { drawn: Some(drawn), fill };
        Ok((Law::Ridge(Box::new(sampler)), error))
    }
}
