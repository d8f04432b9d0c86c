//! Samplers: one set-up, then draws that share only read-only tables.
//!
//! All are exact except the samplers made by [`ImportanceSampler`] and the chains of [`mcmc`].

mod acceptance;
mod attempts;
mod batches;
mod count_rule;
mod dpp;
mod importance;
mod interval;
mod k_dpp;
mod law;
pub mod mcmc;
mod memory;
mod options;
mod paper;
mod partition;
mod pool;
mod projection;
mod rejection;
mod ridge;
mod samples;
mod spectral;
mod tilted;
mod watched;

use std::{fmt, ops::Range, sync::Arc};

use rand::{Rng, SeedableRng, distr::Distribution};
use rand_chacha::ChaCha8Rng;

pub use crate::estimate::DEFAULT_LAW_ERROR;
pub use acceptance::expected_proposals;
pub use importance::{
    EstimateOptions, EstimatedInference, ImportanceSampler, TRUSTED_PARETO_K, WeightStatistics,
    WeightedSamples,
};
pub use interval::{IntervalOptions, LogInterval};
pub use memory::{MemoryPlan, MemoryUse};
pub use options::{DEFAULT_PROPOSAL_BUDGET, SamplerOptions};
pub use paper::Conditionals;
pub use partition::{Choice, Method, Plan};
pub use projection::Projection;
pub use rejection::{Bound, BoundCost};
pub use samples::Samples;

pub(crate) use attempts::Attempts;
pub(crate) use count_rule::CountRule;
pub(crate) use projection::RemainingBasis;
pub(crate) use spectral::Eigenvectors;
pub(crate) use tilted::{EigenvectorLaw, TiltedProposals};

use law::Law;
use rejection::Rejection;
use spectral::SpectralLaw;

use crate::{
    Result, Subset,
    engine::{Engine, EngineInfo},
    names::by_name,
    watch::Watch,
};

/// A sampler of one distribution, made by the models' `sampler` methods.
///
/// It is a [`rand::distr::Distribution`] over [`Subset`]; [`sample_many`](Sampler::sample_many) draws on all threads
/// and counts proposals. Cloning is cheap. A sampler owns its tables, so it can be kept and sent to other threads.
#[derive(Clone)]
pub struct Sampler {
    law: Arc<Law>,
    included: Arc<[u32]>,
    plan: Option<Plan>,
    engine: EngineInfo,
    law_error: f64,
}

impl fmt::Debug for Sampler {
    /// Prints the algorithm, the engine and the error, without the tables.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, law_error, .. } = self;
        let mut sampler = f.debug_struct("Sampler");
        sampler.field("algorithm", &self.algorithm()).field("engine", engine).field("law_error", law_error);
        sampler.finish_non_exhaustive()
    }
}

/// The algorithm that draws the subsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Algorithm {
    /// Eigenvectors by independent coins, then a projection DPP (Hough et al. 2006).
    Spectral,
    /// Proposals from a simpler law, accepted against a [`Bound`].
    Rejection,
    /// Algorithm 2 of Kathuria and Deshpande (2016) with shared candidate evaluation.
    Interpolation,
    /// The same algorithm, with one determinant per candidate and node.
    PerCandidate,
    /// Weighted draws, kept with a probability that is capped; not exact.
    Estimated,
    /// Nothing is left to choose: every draw is the set of included items.
    Settled,
}

by_name!(Algorithm, "algorithm", {
    Spectral => "spectral",
    Rejection => "rejection",
    Interpolation => "interpolation",
    PerCandidate => "per-candidate",
    Estimated => "estimated",
    Settled => "settled",
});

impl Sampler {
    pub(crate) fn new(mut law: Law, included: &[u32], engine: &Engine, law_error: f64) -> Self {
        let law_error = law_error + law.make_batches_on(engine);
        Self { law: Arc::new(law), included: included.into(), plan: None, engine: engine.info(), law_error }
    }

    /// A sampler with nothing to choose.
    pub(crate) fn forced(included: &[u32], engine: &Engine) -> Self {
        Self::new(Law::Forced, included, engine, 0.0)
    }

    /// Adds draws from some parts, which replace the included items `instead_of`.
    pub(crate) fn with_parts(self, parts: Vec<SpectralLaw>, error: f64, instead_of: &[usize]) -> Self {
        let included = self.included.iter().copied().filter(|&item| !instead_of.contains(&(item as usize)));
        let law = Arc::new(Law::Contracted(parts, Arc::clone(&self.law)));
        Self { included: included.collect(), law, law_error: self.law_error + error, ..self }
    }

    pub(crate) fn planned(self, plan: Option<Plan>) -> Self {
        Self { plan, ..self }
    }

    /// The method chosen for a Partition-DPP, and why; `None` for models with only one method.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// The engine that did the set-up.
    #[must_use]
    pub fn engine(&self) -> &EngineInfo {
        &self.engine
    }

    /// Estimated total variation error of the distribution due to rounding.
    ///
    /// - With rejection, it is at most 1e-11 (1e-10 with many parts of many dimensions), unless the features are too
    ///   badly conditioned for f64.
    /// - With interpolation and many parts, it is larger by some powers of ten.
    /// - For a sampler made by [`ImportanceSampler::sampler`], it is an estimate of the whole error.
    ///
    /// Samplers with an error from rounding above 1e-4 are refused. Draws in batches on a GPU add the error from the
    /// 53 bits of their random numbers, about 1e-16 per trial.
    #[must_use]
    pub fn law_error(&self) -> f64 {
        self.law_error
    }

    /// The algorithm that draws.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.law.algorithm()
    }

    /// The number of proposals of draws in batches so far, and how many of them the host made; `None` for a sampler
    /// that makes draws one by one.
    #[doc(hidden)]
    #[must_use]
    pub fn batched_proposals(&self) -> Option<[u64; 2]> {
        self.law.batched().map(|law| law.batches.counts())
    }

    fn rejection(&self) -> Option<&Rejection> {
        self.law.rejection()
    }

    /// The bound that proposals are accepted against; `None` for samplers without one.
    #[must_use]
    pub fn bound(&self) -> Option<Bound> {
        self.rejection().map(Rejection::bound)
    }

    /// The predicted costs of draws, for each bound that was considered; the first bound is used. Empty for samplers
    /// without bounds.
    #[must_use]
    pub fn bounds(&self) -> &[BoundCost] {
        self.rejection().map_or(&[], Rejection::bounds)
    }

    /// A lower bound of the draws per proposal: the probability that a proposal is accepted, 1 for samplers that
    /// never reject.
    ///
    /// For a sampler with an estimated error, it is half of the acceptance that weighted draws showed. Under ranges
    /// of many parts it is measured: see [`PartitionDpp::sampler`](crate::PartitionDpp::sampler).
    #[must_use]
    pub fn acceptance_bound(&self) -> f64 {
        self.law.acceptance_bound()
    }

    /// Statistics of the weighted draws at set-up; `None` for exact samplers.
    #[must_use]
    pub fn pilot(&self) -> Option<&WeightStatistics> {
        self.law.capped().map(|law| &law.pilot)
    }

    /// The predicted average number of proposals per sample.
    ///
    /// A pilot run predicts it under ranges, and if a [`Bound`] other than the tilted one is used. Otherwise it is as
    /// [guaranteed](Sampler::acceptance_bound). For a sampler with an estimated error, it counts weighted draws; for
    /// samplers that never reject, it is 1.
    #[must_use]
    pub fn predicted_proposals(&self) -> f64 {
        self.law.proposals()
    }

    /// An upper bound of the average floating-point operations per draw, predicted from sizes; `None` if a draw is
    /// one proposal. Proposals that are rejected early count in full.
    #[must_use]
    pub fn predicted_operations(&self) -> Option<f64> {
        if let Some(law) = self.law.capped() {
            return Some(law.operations());
        }
        let planned = || self.plan.as_ref().map(Plan::operations);
        self.bounds().first().map(BoundCost::cost).or_else(planned)
    }

    /// The relative part weights y_l of proposals under exact counts; `None` for other samplers. They are zero for
    /// parts with quota zero, and infinite for parts whose items are all included.
    #[must_use]
    pub fn tilt(&self) -> Option<&[f64]> {
        self.rejection().and_then(Rejection::tilt)
    }

    /// Makes one draw; also returns its number of proposals.
    ///
    /// # Panics
    /// If [`try_sample_counted`](Sampler::try_sample_counted) fails.
    pub fn sample_counted<R: Rng + ?Sized>(&self, rng: &mut R) -> (Subset, u64) {
        match self.try_sample_counted(rng) {
            Ok(drawn) => drawn,
            Err(error) => panic!("{error}"),
        }
    }

    /// Makes one draw with a sampler whose draws may fail; also returns its number of proposals.
    ///
    /// With interpolation, a draw fails after eight attempts, which move to the CPU once a device has failed. With
    /// rejection, it fails after 64 times the average number of proposals that
    /// [`acceptance_bound`](Sampler::acceptance_bound) promises, which has probability e⁻⁶⁴.
    ///
    /// # Errors
    /// - [`Error::LostDraw`](crate::Error::LostDraw) if rounding leaves no positive weight in any attempt, which has
    ///   a probability below [`law_error`](Sampler::law_error) to the eighth power;
    /// - [`Error::DrawGivenUp`](crate::Error::DrawGivenUp) if rounding has made the acceptance bound wrong.
    pub fn try_sample_counted<R: Rng + ?Sized>(&self, rng: &mut R) -> Result<(Subset, u64)> {
        self.draw(rng, Attempts::under(&Watch::default(), self.acceptance_bound()))
    }

    /// Makes `count` independent draws on all threads of the current rayon pool.
    ///
    /// Draw number i uses stream i of the ChaCha8 generator seeded with `seed`. The subsets are the same for any
    /// number of threads, and `sample_many(a, s)` begins `sample_many(b, s)` for a ≤ b.
    ///
    /// On a GPU, some samplers make tens of thousands of proposals at a time on the device:
    ///
    /// - samplers by eigenvectors with leverage trials, or by independent items ([`Bound::Hadamard`]), for sets of
    ///   one size, of at most 36 items, if their tables fit on the device;
    /// - samplers made by [`ImportanceSampler::sampler`] under exact counts, and their sequential draws, if an
    ///   acceptance of at least 10⁻⁴ is promised and sets and rows are small enough: up to 37 items of 76 values, up
    ///   to 47 of 60.
    ///
    /// They use the counter-based generator Philox4x32-10, which gives other subsets: draw number i is the accepted
    /// proposal number i mod 2¹⁴ of block i / 2¹⁴. The host computes the first proposals in f64, all proposals that
    /// the device's rounding leaves undecided, and everything once the device has failed. The engine computes the
    /// Gram matrices and leverages of the set-up. Given the set-up, the subsets do not depend on the device's results
    /// for the proposals.
    ///
    /// # Panics
    /// If a draw fails. [`try_sample_counted`](Sampler::try_sample_counted) and
    /// [`sample_watched`](Sampler::sample_watched) return an error instead.
    #[must_use]
    pub fn sample_many(&self, count: u64, seed: u64) -> Samples {
        self.sample_range(0..count, seed)
    }

    /// Makes the draws with these numbers: [`sample_many`](Sampler::sample_many) in instalments.
    ///
    /// # Panics
    /// Under the same conditions as [`sample_many`](Sampler::sample_many).
    #[must_use]
    pub fn sample_range(&self, draws: Range<u64>, seed: u64) -> Samples {
        match self.sample_watched(draws, seed, &Watch::default()) {
            Ok(samples) => samples,
            Err(error) => panic!("{error}"),
        }
    }
}

impl Distribution<Subset> for Sampler {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Subset {
        self.sample_counted(rng).0
    }
}

/// The generator of draw number `draw`.
pub(crate) fn stream(seed: u64, draw: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(draw);
    rng
}
