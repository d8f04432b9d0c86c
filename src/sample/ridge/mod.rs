//! Draws from a kernel with a ridge: items from the kernel's determinantal law, and other items that fill them up.

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

/// T by rejection, and the items added to it.
#[derive(Debug)]
pub(crate) struct RidgeSampler {
    /// `None` if all items of K that may be chosen are zero.
    drawn: Option<Rejection>,
    fill: Arc<Fill>,
}

impl RidgeSampler {
    /// The law of T. It rejects, so its bound is also the sampler's.
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
    /// Sets up an exact sampler by rejection.
    ///
    /// A DPP with weighted parts proposes T, and the acceptance corrects for the weights of its part counts. Sets of
    /// any size are drawn without rejection, as the union of T and of items added by independent coins. If ranges
    /// reach beyond the number of features, such unions are drawn and accepted if the ranges allow them, provided
    /// that a trial of 256 sees at least 16 such unions. The method option does not apply; the bound option does not
    /// apply to unions.
    ///
    /// # Cost
    /// The cost of [`PartitionDpp::sampler`](crate::PartitionDpp::sampler) under ranges. Qualities add O(m·k) once
    /// for upper ends k, and O(k³ log m) per draw. Draws of any size cost as much as a [`Dpp`](crate::Dpp), plus
    /// O(δm), or O(m) with qualities.
    ///
    /// # Errors
    /// - [`Error::RangeProposalBudget`](crate::Error::RangeProposalBudget) if neither the bound nor a trial shows
    ///   that the budget suffices;
    /// - [`WeightProblem::Spread`](crate::error::WeightProblem::Spread) if qualities span more decades than f64 can
    ///   square;
    /// - the errors of [`PartitionDpp::sampler`](crate::PartitionDpp::sampler).
    pub fn sampler(&self, options: impl Into<SamplerOptions>, engine: &Engine) -> Result<Sampler> {
        let options = options.into();
        let (law, error) = self.law_and_error(options, engine)?;
        Ok(Sampler::new(law, &[], engine, error))
    }

    /// Sets up an exact sampler that draws from every part separately, ignoring similarity across parts.
    ///
    /// Its distribution is the product of the distributions of [`parts`](RidgeDpp::parts).
    ///
    /// # Errors
    /// The errors of [`sampler`](RidgeDpp::sampler).
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
