//! Draws from a kernel with a ridge: items by the determinantal law of the kernel, and those that fill them up.

use std::sync::Arc;

use rand::Rng;

use super::{Attempts, Law, Rejection, Sampler, SamplerOptions};
use crate::{
    Result, RidgeDpp,
    engine::Engine,
    estimate::accurate,
    model::{Fill, accurately},
};

/// T by rejection, and what is added to it.
#[derive(Debug)]
pub(crate) struct RidgeSampler<'a> {
    /// `None` if all items of K that may be chosen are zero.
    drawn: Option<Rejection<'a>>,
    fill: Arc<Fill>,
}

impl<'a> RidgeSampler<'a> {
    /// The law of T; it rejects, and its bound is that of the sampler.
    pub(super) fn drawn(&self) -> Option<&Rejection<'a>> {
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

impl<'a> RidgeDpp<'a> {
    /// Sets up an exact sampler, by rejection: a DPP with weighted parts proposes T, and the acceptance corrects for the
    /// weights of its part counts. Options other than the way of the projection and the proposal budget do not apply.
    ///
    /// # Cost
    /// That of [`PartitionDpp::sampler`](crate::PartitionDpp::sampler) under ranges; with qualities, O(m·k) once, and
    /// O(k³ log m) per draw.
    ///
    /// # Errors
    /// [`Error::RangeProposalBudget`](crate::Error::RangeProposalBudget) if neither the bound nor a trial shows that the
    /// budget suffices; [`WeightProblem::Spread`](crate::error::WeightProblem::Spread) where qualities span more decades
    /// than f64 can square; those of [`PartitionDpp::sampler`](crate::PartitionDpp::sampler).
    pub fn sampler(&self, options: impl Into<SamplerOptions>, engine: &'a dyn Engine) -> Result<Sampler<'a>> {
        let options = options.into();
        let law = self.law()?;
        let fill = Arc::new(law.fill);
        if law.drawn.open().is_empty() {
            let error = accurate(law.drawn.beyond_rank())?;
            let sampler = RidgeSampler { drawn: None, fill };
            return Ok(Sampler::new(Law::Ridge(Box::new(sampler)), &[], engine, error));
        }
        let new = |dpp: &_| Rejection::new(dpp, Some(Arc::clone(&fill)), options, engine);
        let (drawn, error) = accurately(&law.drawn, |dpp| dpp.graded(engine), new, |(_, error)| *error)?;
        let sampler = RidgeSampler { drawn: Some(drawn), fill };
        Ok(Sampler::new(Law::Ridge(Box::new(sampler)), &[], engine, error))
    }
}
