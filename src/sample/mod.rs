//! Samplers: one set-up, then draws that share only read-only tables. All are exact except those made by
//! [`ImportanceSampler`] and the chains of [`mcmc`].

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
    watch::Watch,
};

/// A sampler of one law, made by the models' `sampler` methods.
///
/// It is a [`rand::distr::Distribution`] over [`Subset`]; [`sample_many`](Sampler::sample_many)
/// draws on all threads and counts proposals. Cloning is cheap. A sampler owns what it draws
/// from: it can be kept, and sent to other threads.
#[derive(Clone)]
pub struct Sampler {
    law: Arc<Law>,
    included: Arc<[u32]>,
    plan: Option<Plan>,
    engine: EngineInfo,
    law_error: f64,
}

impl fmt::Debug for Sampler {
    /// What it is, without its tables.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, law_error, .. } = self;
        let mut sampler = f.debug_struct("Sampler");
        sampler.field("algorithm", &self.algorithm()).field("engine", engine).field("law_error", law_error);
        sampler.finish_non_exhaustive()
    }
}

/// Which algorithm draws the subsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Algorithm {
    /// Eigenvectors by independent coins, then a projection DPP (Hough et al. 2006).
    Spectral,
    /// Proposals from a simpler law, accepted against a [`Bound`].
    Rejection,
    /// Algorithm 2 of Kathuria and Deshpande (2016) with shared candidate evaluation.
    Interpolation,
    /// The same, with one determinant per candidate and node.
    PerCandidate,
    /// Weighted draws kept up to a cap of their weights: not exact.
    Estimated,
    /// Nothing is left to choose: every draw is the set of included items.
    Settled,
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Algorithm::Spectral => "spectral",
            Algorithm::Rejection => "rejection",
            Algorithm::Interpolation => "interpolation",
            Algorithm::PerCandidate => "per-candidate",
            Algorithm::Estimated => "estimated",
            Algorithm::Settled => "settled",
        })
    }
}

impl Sampler {
    pub(crate) fn new(mut law: Law, included: &[u32], engine: &Engine, law_error: f64) -> Self {
        let law_error = law_error + law.make_batches_on(engine);
        Self { law: Arc::new(law), included: included.into(), plan: None, engine: engine.info(), law_error }
    }

    /// A sampler with nothing to choose.
    pub(crate) fn forced(included: &[u32], engine: &Engine) -> Self {
        Self::new(Law::Forced, included, engine, 0.0)
    }

    /// With draws from some parts besides, for which some included items stand.
    pub(crate) fn with_parts(self, parts: Vec<SpectralLaw>, error: f64, instead_of: &[usize]) -> Self {
        let included = self.included.iter().copied().filter(|&item| !instead_of.contains(&(item as usize)));
        let law = Arc::new(Law::Contracted(parts, Arc::clone(&self.law)));
        Self { included: included.collect(), law, law_error: self.law_error + error, ..self }
    }

    pub(crate) fn planned(self, plan: Option<Plan>) -> Self {
        Self { plan, ..self }
    }

    /// The method chosen for a Partition-DPP, and why; `None` for laws that leave no choice.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// The engine that did the set-up.
    #[must_use]
    pub fn engine(&self) -> &EngineInfo {
        &self.engine
    }

    /// Estimated total variation error of the law due to rounding: at most 1e-11 by rejection (1e-10 with many
    /// parts of many dimensions), unless the features are too badly conditioned for f64; some digits more by interpolation with many parts. Samplers with an error above 1e-4 are
    /// refused. For a sampler made by [`ImportanceSampler::sampler`] an estimate of how far its law is off. Draws in batches
    /// on a GPU add what the 53 digits of their random numbers may change, about 1e-16 per trial.
    #[must_use]
    pub fn law_error(&self) -> f64 {
        self.law_error
    }

    /// The algorithm that draws.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.law.algorithm()
    }

    /// Proposals of draws in batches so far, and those of them that the host made; `None` for a sampler that makes draws one by
    /// one.
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

    /// What draws against each bound that was considered are predicted to cost; the first is used. None for samplers without
    /// bounds.
    #[must_use]
    pub fn bounds(&self) -> &[BoundCost] {
        self.rejection().map_or(&[], Rejection::bounds)
    }

    /// A lower bound of the draws per proposal: the probability that a proposal is accepted, 1 for samplers that never
    /// reject. For a sampler with an estimated error it is half of what weighted draws told; under ranges of many parts it is
    /// measured: see [`PartitionDpp::sampler`](crate::PartitionDpp::sampler).
    #[must_use]
    pub fn acceptance_bound(&self) -> f64 {
        self.law.acceptance_bound()
    }

    /// What weighted draws told of the law at set-up; `None` for exact samplers.
    #[must_use]
    pub fn pilot(&self) -> Option<&WeightStatistics> {
        self.law.capped().map(|law| &law.pilot)
    }

    /// Average proposals per sample as predicted: by a pilot under ranges and where a [`Bound`] other than the tilted one is
    /// used, otherwise as [guaranteed](Sampler::acceptance_bound). Weighted draws for a sampler with an estimated error, 1
    /// for samplers that never reject.
    #[must_use]
    pub fn predicted_proposals(&self) -> f64 {
        self.law.proposals()
    }

    /// An upper bound of the average floating-point operations of a draw, predicted from sizes; `None` if a draw is one
    /// proposal. Proposals that are rejected early count in full.
    #[must_use]
    pub fn predicted_operations(&self) -> Option<f64> {
        if let Some(law) = self.law.capped() {
            return Some(law.operations());
        }
        let planned = || self.plan.as_ref().map(Plan::operations);
        self.bounds().first().map(BoundCost::cost).or_else(planned)
    }

    /// The relative part weights y_l of proposals under exact counts; `None` for other samplers. Zero for parts with quota
    /// zero, infinite for parts whose items are all included.
    #[must_use]
    pub fn tilt(&self) -> Option<&[f64]> {
        self.rejection().and_then(Rejection::tilt)
    }

    /// One draw, and how many proposals it took.
    ///
    /// # Panics
    /// If [`try_sample_counted`](Sampler::try_sample_counted) fails.
    pub fn sample_counted<R: Rng + ?Sized>(&self, rng: &mut R) -> (Subset, u64) {
        match self.try_sample_counted(rng) {
            Ok(drawn) => drawn,
            Err(error) => panic!("{error}"),
        }
    }

    /// One draw, and how many proposals it took, for samplers whose draws may fail. A draw by interpolation fails after
    /// eight attempts, which move to the CPU once a device has failed. A draw by rejection fails after 64 times the
    /// proposals that [`acceptance_bound`](Sampler::acceptance_bound) promises on average, which has probability e⁻⁶⁴.
    ///
    /// # Errors
    /// - [`Error::LostDraw`](crate::Error::LostDraw) if rounding leaves no positive weight in every attempt; with a
    ///   probability below [`law_error`](Sampler::law_error) to the eighth power;
    /// - [`Error::DrawGivenUp`](crate::Error::DrawGivenUp) if rounding has spoilt the acceptance bound.
    pub fn try_sample_counted<R: Rng + ?Sized>(&self, rng: &mut R) -> Result<(Subset, u64)> {
        self.draw(rng, Attempts::under(&Watch::default(), self.acceptance_bound()))
    }

    /// `count` independent draws, on all threads of the current rayon pool.
    ///
    /// Draw number i uses stream i of the ChaCha8 generator seeded with `seed`: the subsets are
    /// the same for any number of threads, and `sample_many(a, s)` begins `sample_many(b, s)` for
    /// a ≤ b.
    ///
    /// A sampler on a GPU, by eigenvectors with leverage trials or by independent items ([`Bound::Hadamard`]), for sets of one size,
    /// of 36 items at most, makes tens of thousands of proposals at a time on the device if its tables fit there. They use the
    /// counter-based generator Philox4x32-10, which gives other subsets: draw number i is the accepted proposal number
    /// i mod 2¹⁴ of block i / 2¹⁴. What the device's rounding leaves open, the first proposals, and everything once the
    /// device has failed are computed on the host in f64: given the sampler's set-up, whose Gram matrices and leverages
    /// are the engine's, the subsets do not depend on what the device computes of the proposals. The same goes for samplers
    /// made by [`ImportanceSampler::sampler`] under exact counts, and their sequential draws, if an acceptance
    /// of at least 10⁻⁴ is promised and sets and rows are small enough: up to 37 items of 76 values, up to 47 of 60.
    ///
    /// # Panics
    /// If a draw fails. [`try_sample_counted`](Sampler::try_sample_counted) and
    /// [`sample_watched`](Sampler::sample_watched) return an error instead.
    #[must_use]
    pub fn sample_many(&self, count: u64, seed: u64) -> Samples {
        self.sample_range(0..count, seed)
    }

    /// The draws with these numbers: [`sample_many`](Sampler::sample_many) in instalments.
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
