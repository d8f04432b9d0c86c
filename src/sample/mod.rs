//! Samplers: set-up once, then draws that share nothing but read-only tables. All are exact but the chains of
//! `mcmc`.

mod attempts;
mod dpp;
mod independent;
mod k_dpp;
mod mcmc;
mod memory;
mod partition;
mod projection;
mod ranges;
mod samples;
mod watched;

use std::{fmt, ops::Range};

use rand::{Rng, SeedableRng, distr::Distribution};
use rand_chacha::ChaCha8Rng;

pub use dpp::Dpp;
pub use independent::IndependentKDpps;
pub use k_dpp::KDpp;
pub use mcmc::{
    ChainDiagnostics, ChainRun, ChainSamples, Chains, Convergence, McmcOptions, MoveCount, PartConvergence,
    Thinning,
};
pub use memory::{MemoryPlan, MemoryUse};
pub use partition::{
    Choice, Conditionals, DEFAULT_PROPOSAL_BUDGET, Method, PartitionDpp, Plan, expected_proposals,
};
pub use projection::Projection;
pub use ranges::RangeDpp;
pub use samples::Samples;

use attempts::Attempts;

use crate::{
    Result, Subset,
    engine::{Engine, EngineInfo},
    watch::Watch,
};

/// A sampler of one law, ready to draw: the outcome of the models' `sampler` methods.
///
/// It is a [`rand::distr::Distribution`] over [`Subset`]; [`sample_many`](Sampler::sample_many)
/// draws on all threads and counts proposals.
#[derive(Debug)]
pub struct Sampler<'a> {
    law: Law<'a>,
    included: Vec<u32>,
    plan: Option<Plan>,
    engine: EngineInfo,
    law_error: f64,
}

#[derive(Debug)]
pub(crate) enum Law<'a> {
    /// Nothing is left to choose.
    Settled,
    Dpp(dpp::DppLaw<'a>),
    KDpp(k_dpp::KDppLaw<'a>),
    Independent(Vec<k_dpp::KDppLaw<'a>>),
    TiltedRejection(partition::TiltedRejection<'a>),
    Ranges(Box<ranges::RangeRejection<'a>>),
    Interpolation(Box<partition::Interpolation<'a>>),
    PerCandidate(Box<partition::PerCandidate<'a>>),
    Mcmc(Box<Chains<'a>>),
}

/// Which algorithm draws the subsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Algorithm {
    /// Eigenvectors by independent coins, then a projection DPP (Hough et al. 2006).
    Spectral,
    /// Tilted k-DPP proposals, kept if their part counts are the quota.
    TiltedRejection,
    /// Algorithm 2 of Kathuria and Deshpande (2016) with shared candidate evaluation.
    Interpolation,
    /// The same, with one determinant per candidate and node.
    PerCandidate,
    /// Exchange chains: approximate.
    Mcmc,
    /// Nothing was left to choose: every draw is the set of included items.
    Settled,
}

/// Whether draws come from the law itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exactness {
    /// They do, up to rounding: [`Sampler::law_error`].
    Exact,
    /// They come near it, and how near is not known.
    Unknown,
}

impl fmt::Display for Exactness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Exactness::Exact => "exact",
            Exactness::Unknown => "unknown",
        })
    }
}

impl Algorithm {
    /// What the algorithm promises: everything is exact but MCMC.
    #[must_use]
    pub fn exactness(self) -> Exactness {
        if self == Algorithm::Mcmc { Exactness::Unknown } else { Exactness::Exact }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Algorithm::Spectral => "spectral",
            Algorithm::TiltedRejection => "rejection",
            Algorithm::Interpolation => "interpolation",
            Algorithm::PerCandidate => "per-candidate",
            Algorithm::Mcmc => "mcmc",
            Algorithm::Settled => "settled",
        })
    }
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(law: Law<'a>, included: &[u32], engine: &dyn Engine, law_error: f64) -> Self {
        Self { law, included: included.to_vec(), plan: None, engine: engine.info(), law_error }
    }

    /// A sampler that has nothing to choose.
    pub(crate) fn settled(included: &[u32], engine: &dyn Engine) -> Self {
        Self::new(Law::Settled, included, engine, 0.0)
    }

    pub(crate) fn planned(self, plan: Plan) -> Self {
        Self { plan: Some(plan), ..self }
    }

    /// Which method was taken for a Partition-DPP and why; `None` for laws that leave no choice.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// The engine that did the set-up.
    #[must_use]
    pub fn engine(&self) -> &EngineInfo {
        &self.engine
    }

    /// Estimate of what rounding changes in the law, in total variation: at most 1e-11 by rejection, unless
    /// the features are so badly conditioned that f64 allows no better; by interpolation some digits more
    /// for many parts. Above 1e-4 samplers are refused. By MCMC it is 1, the most that it can be: how far chains are
    /// from the law cannot be stated, and nothing less would be a bound.
    #[must_use]
    pub fn law_error(&self) -> f64 {
        self.law_error
    }

    /// The algorithm that draws.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        match self.law {
            Law::Settled => Algorithm::Settled,
            Law::Dpp(_) | Law::KDpp(_) | Law::Independent(_) => Algorithm::Spectral,
            Law::TiltedRejection(_) | Law::Ranges(_) => Algorithm::TiltedRejection,
            Law::Interpolation(_) => Algorithm::Interpolation,
            Law::PerCandidate(_) => Algorithm::PerCandidate,
            Law::Mcmc(_) => Algorithm::Mcmc,
        }
    }

    /// Draws per proposal, at least: the probability that a proposal is accepted by rejection, 1 for the samplers that
    /// never reject. 0 for MCMC, where proposals are moves of the chains. Under ranges of many parts it is measured: see
    /// [`RangeDpp::sampler`].
    #[must_use]
    pub fn acceptance_bound(&self) -> f64 {
        match &self.law {
            Law::TiltedRejection(law) => law.acceptance_bound(),
            Law::Ranges(law) => law.acceptance_bound(),
            Law::Mcmc(_) => 0.0,
            _ => 1.0,
        }
    }

    /// Floating-point operations of a draw, at most on average, predicted from sizes; `None` where a draw is one proposal,
    /// or there is no saying. Proposals that are refused early count as whole ones.
    #[must_use]
    pub fn predicted_operations(&self) -> Option<f64> {
        match &self.law {
            Law::Ranges(law) => Some(law.operations() / law.acceptance_bound()),
            _ => self.plan.as_ref().and_then(Plan::operations),
        }
    }

    /// The part weights y_l that proposals are drawn with, relative to each other, by part;
    /// `None` for the samplers that need none. Zero for parts with quota zero, infinite for parts of which all
    /// items are included.
    #[must_use]
    pub fn tilt(&self) -> Option<&[f64]> {
        match &self.law {
            Law::TiltedRejection(law) => Some(law.tilt()),
            _ => None,
        }
    }

    /// One draw, and how many proposals it took. (By MCMC a chain of its own, with its burn-in.)
    ///
    /// # Panics
    /// Where [`try_sample_counted`](Sampler::try_sample_counted) fails.
    pub fn sample_counted<R: Rng + ?Sized>(&self, rng: &mut R) -> (Subset, u64) {
        match self.try_sample_counted(rng) {
            Ok(drawn) => drawn,
            Err(error) => panic!("{error}"),
        }
    }

    /// The same, for draws that may fail: those by interpolation, and only after eight attempts, the last of them on
    /// the CPU if a device has failed; and those by rejection that take 64 times the proposals that
    /// [`acceptance_bound`](Sampler::acceptance_bound) promises on average, as the law has it once in e⁶⁴ draws.
    ///
    /// # Errors
    /// - [`Error::LostDraw`](crate::Error::LostDraw) where rounding left no weight to go on with, each time; with a
    ///   probability below [`law_error`](Sampler::law_error) to the eighth power;
    /// - [`Error::DrawGivenUp`](crate::Error::DrawGivenUp) where rounding has spoilt the promise.
    pub fn try_sample_counted<R: Rng + ?Sized>(&self, rng: &mut R) -> Result<(Subset, u64)> {
        self.draw(rng, Attempts::under(&Watch::default(), self.acceptance_bound()))
    }

    /// `count` independent draws, on all threads of the current rayon pool.
    ///
    /// Draw number i uses stream i of the ChaCha8 generator seeded with `seed`: the subsets are
    /// the same for any number of threads, and `sample_many(a, s)` begins `sample_many(b, s)` for
    /// a ≤ b.
    ///
    /// By MCMC the draws are those of [`Chains::run`], and nearly independent only as far as their thinning makes
    /// them so: draw i belongs to chain i mod 4, which uses stream i mod 4.
    ///
    /// # Panics
    /// Where a draw fails: see [`try_sample_counted`](Sampler::try_sample_counted) and
    /// [`sample_watched`](Sampler::sample_watched), which do not.
    #[must_use]
    pub fn sample_many(&self, count: u64, seed: u64) -> Samples {
        self.sample_range(0..count, seed)
    }

    /// The draws with these numbers: [`sample_many`](Sampler::sample_many) in instalments. (By MCMC every
    /// instalment runs the chains from their start; [`ChainRun::extend`] does not.)
    ///
    /// # Panics
    /// As [`sample_many`](Sampler::sample_many).
    #[must_use]
    pub fn sample_range(&self, draws: Range<u64>, seed: u64) -> Samples {
        match self.sample_watched(draws, seed, &Watch::default()) {
            Ok(samples) => samples,
            Err(error) => panic!("{error}"),
        }
    }
}

impl Distribution<Subset> for Sampler<'_> {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Subset {
        self.sample_counted(rng).0
    }
}

/// The generator of draw number `draw`.
fn stream(seed: u64, draw: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(draw);
    rng
}
