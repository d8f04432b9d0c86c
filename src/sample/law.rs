//! The law of a sampler: one of several algorithms draws from it.

use std::sync::Arc;

use rand::Rng;

use super::{
    Algorithm, Attempts,
    batches::Batched,
    importance::CappedLaw,
    paper,
    rejection::Rejection,
    ridge::{FreeRidgeSampler, RidgeSampler},
    spectral::SpectralLaw,
};
use crate::{Result, engine::Engine};

#[derive(Debug)]
pub(crate) enum Law {
    /// Nothing is left to choose.
    Forced,
    Spectral(SpectralLaw),
    Rejection(Rejection),
    /// One law per part with something left to choose.
    Independent(Vec<Law>),
    /// Parts whose span has only as many dimensions as items are chosen from them, and the law of all other parts.
    Contracted(Vec<SpectralLaw>, Arc<Law>),
    Interpolation(Box<paper::Interpolation>),
    PerCandidate(Box<paper::PerCandidate>),
    Ridge(Box<RidgeSampler>),
    FreeRidge(Box<FreeRidgeSampler>),
    Capped(CappedLaw),
}

impl Law {
    pub(super) fn algorithm(&self) -> Algorithm {
        match self {
            Law::Forced => Algorithm::Settled,
            Law::Rejection(_) | Law::Ridge(_) => Algorithm::Rejection,
            Law::FreeRidge(law) if law.proposals() > 1.0 => Algorithm::Rejection,
            Law::Spectral(_) | Law::FreeRidge(_) => Algorithm::Spectral,
            Law::Contracted(_, rest) if matches!(**rest, Law::Forced) => Algorithm::Spectral,
            Law::Contracted(_, rest) => rest.algorithm(),
            Law::Independent(laws) => {
                let rejects = |law: &Law| law.algorithm() == Algorithm::Rejection;
                let first = laws.iter().find(|law| rejects(law)).or(laws.first());
                first.map_or(Algorithm::Settled, Law::algorithm)
            }
            Law::Interpolation(_) => Algorithm::Interpolation,
            Law::PerCandidate(_) => Algorithm::PerCandidate,
            Law::Capped(_) => Algorithm::Estimated,
        }
    }

    pub(super) fn rejection(&self) -> Option<&Rejection> {
        match self {
            Law::Rejection(law) => Some(law),
            Law::Ridge(law) => law.drawn(),
            Law::Contracted(_, rest) => rest.rejection(),
            _ => None,
        }
    }

    /// Makes many draws on the engine's device, if it can. Returns the error that this adds.
    pub(super) fn make_batches_on(&mut self, engine: &Engine) -> f64 {
        match self {
            Law::Capped(law) => law.make_batches_on(engine),
            Law::Spectral(law) => law.make_batches_on(engine),
            Law::Rejection(law) => law.make_batches_on(engine),
            _ => 0.0,
        }
    }

    /// The law with the device that makes many draws.
    pub(super) fn batched(&self) -> Option<Batched<'_>> {
        match self {
            Law::Capped(law) => law.batched(),
            Law::Spectral(law) => law.batched(),
            Law::Rejection(law) => law.batched(),
            _ => None,
        }
    }

    pub(super) fn capped(&self) -> Option<&CappedLaw> {
        if let Law::Capped(law) = self { Some(law) } else { None }
    }

    /// A lower bound of the number of draws per proposal.
    pub(super) fn acceptance_bound(&self) -> f64 {
        match self {
            Law::Capped(law) => law.acceptance(),
            Law::FreeRidge(law) => law.acceptance_bound(),
            Law::Independent(laws) => in_all(laws, |law| law.acceptance_bound().recip()).recip(),
            _ => self.rejection().map_or(1.0, Rejection::acceptance_bound),
        }
    }

    /// The predicted average number of proposals per sample.
    pub(super) fn proposals(&self) -> f64 {
        match self {
            Law::Capped(law) => law.proposals(),
            Law::FreeRidge(law) => law.proposals(),
            Law::Independent(laws) => in_all(laws, Law::proposals),
            _ => self.rejection().map_or(1.0, Rejection::proposals),
        }
    }

    /// The items of one draw.
    pub(super) fn draw<R: Rng + ?Sized>(&self, rng: &mut R, attempts: &mut Attempts<'_>) -> Result<Vec<u32>> {
        match self {
            Law::Forced => Ok(Vec::new()),
            Law::Spectral(law) => law.sample(rng, attempts),
            Law::Rejection(law) => law.sample(rng, attempts),
            Law::Independent(laws) => {
                let mut items = Vec::new();
                for law in laws {
                    let mut own = Attempts::under(attempts.watch(), law.acceptance_bound());
                    items.extend(law.draw(rng, &mut own)?);
                    attempts.add_rejected(&own);
                }
                Ok(items)
            }
            Law::Contracted(parts, rest) => {
                let mut items = Vec::new();
                for part in parts {
                    items.extend(part.sample(rng, &mut Attempts::under(attempts.watch(), 1.0))?);
                }
                items.extend(rest.draw(rng, attempts)?);
                Ok(items)
            }
            Law::Interpolation(law) => law.sample(rng, attempts.watch()),
            Law::PerCandidate(law) => law.sample(rng, attempts.watch()),
            Law::Ridge(law) => law.sample(rng, attempts),
            Law::FreeRidge(law) => law.sample(rng, attempts),
            Law::Capped(law) => law.sample(rng, attempts),
        }
    }
}

/// The average number of proposals of a draw from all laws: one, and the rejected ones of each law.
fn in_all(laws: &[Law], of: impl Fn(&Law) -> f64) -> f64 {
    1.0 + laws.iter().map(|law| of(law) - 1.0).sum::<f64>()
}
