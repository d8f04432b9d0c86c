//! Independent draws, with weights that correct for their deviation from the law.

mod cap;
mod inference;
mod pareto;
mod samples;
mod weights;

use std::{ops::Range, sync::Arc};

pub use inference::{EstimateOptions, EstimatedInference};
pub use pareto::TRUSTED_PARETO_K;
pub use samples::WeightedSamples;

pub(crate) use cap::CappedLaw;
pub use weights::WeightStatistics;

use super::{
    Attempts,
    rejection::{self, Pilot, RejectionSetup, WeightedLaw},
    stream,
};
use crate::{
    PartitionDpp, Result, Subset,
    engine::{Engine, EngineInfo},
    error::EstimateProblem,
    estimate::accurate,
    model::accurately,
    parallel::map_ordered,
    polynomial::tilt::are_many,
    watch::Watch,
};

/// Draws per task.
const TASK: u64 = 16;
/// Draws made at a time, so that draws take memory only once they are made.
const WAVE: usize = 1 << 16;

/// Draws independent sets approximately from a [`PartitionDpp`], with weights that correct for the difference.
///
/// It is made by [`PartitionDpp::importance_sampler`].
///
/// ```text
/// E[w f(S)] / E[w] = E f under the law,   E[w] = Z
/// ```
///
/// It is meant for many parts, if exact draws and probabilities would take too long. The results are estimates; their
/// standard errors are estimated too.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Partition, PartitionDpp, Quota};
/// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
/// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
/// let dpp = PartitionDpp::new(&features, &partition, &Quota::new(&partition, [1, 1])?)?;
/// let drawn = dpp.importance_sampler(&Engine::cpu())?.sample_many(1000, 0);
/// let log_z = drawn.statistics().log_z;
/// assert!((log_z.value - 2.25_f64.ln()).abs() < 5.0 * log_z.standard_error);
/// # Ok(()) }
/// ```
///
/// # Source
/// Liu and Chen, *Sequential Monte Carlo methods for dynamic systems* (1998), for sequential importance sampling; Fearnhead,
/// Papaspiliopoulos and Roberts, *Particle filters for partially observed diffusions* (2008), for estimated traces.
#[derive(Clone, Debug)]
pub struct ImportanceSampler {
    dpp: PartitionDpp,
    /// `None` if nothing is left to choose.
    law: Option<Arc<WeightedLaw>>,
    /// ln Z minus ln of the mean weight in the units of `law`.
    log_shift: f64,
    /// An upper bound of ln Z.
    log_upper: f64,
    /// ln of the mean weight, as estimated by a few draws.
    log_reference: f64,
    /// Relative error of the weights from rounding.
    error: f64,
    engine: Engine,
}

impl PartitionDpp {
    /// Sets up weighted draws, for any number of parts.
    ///
    /// Items are picked one after another, part by part, as in the DPP with tilted parts conditioned on the items
    /// picked before. If the quota gives a part a range, its count is drawn first, as in that DPP. With v_i = B^-½
    /// a_i, B = I + c Σ y_l G_l:
    ///
    /// ```text
    /// Pr(i) = ‖P v_i‖² / tr(P Ĝ_l),   w = det(QᵀBQ) Π tr(P Ĝ_l) / (Π c_l! · Pr(c))
    /// ```
    ///
    /// # Cost
    /// The set-up of [`sampler`](PartitionDpp::sampler). About 3kr² operations per draw, for any number of items.
    ///
    /// With exact counts, at least 16 parts, and Gram matrices of more than 32 MiB, tr(P Ĝ_l) is estimated from c = 4
    /// to 64 candidates per pick. A draw then takes k(c + 2)·kr operations, and 2nr more per candidate if the rows in
    /// r coordinates exceed 1 GiB. The mean of the weights is still Z, but the weight of a set varies from draw to
    /// draw. A few draws choose c so that this barely increases the variance of the weights.
    ///
    /// # Errors
    /// - [`EstimateProblem::DeadEnds`](crate::error::EstimateProblem) if no draw met the quota;
    /// - [`Error::Eigen`](crate::Error::Eigen), [`Error::IllConditioned`](crate::Error::IllConditioned),
    ///   [`Error::SizeAboveRank`](crate::Error::SizeAboveRank); engine errors.
    pub fn importance_sampler(&self, engine: &Engine) -> Result<ImportanceSampler> {
        let new = |dpp: &Self| ImportanceSampler::new(dpp, engine);
        accurately(self, |dpp| dpp.graded(engine), new, |sampler| sampler.error)
    }

    /// Predicts the floating-point operations of the weighted draws that set up [`ImportanceSampler::sampler`].
    ///
    /// It is approximate, and needs no set-up.
    #[must_use]
    pub fn operations_of_estimates(&self) -> f64 {
        let (counts, rank) = (self.counts(), self.ground().dims_left() as f64);
        let size = counts.total().unwrap_or_else(|| rejection::typical(&counts).iter().sum()) as f64;
        if are_many(self.open().len(), self.ground().dims_left()) && counts.exact().is_some() {
            let draws = Pilot::FEW as f64 + cap::FIRST as f64;
            let candidates = rejection::MANY_CANDIDATES;
            return draws * rejection::operations_with_candidates(size, rank, 0.0, candidates);
        }
        let draws = Pilot::DRAWS as f64 + cap::PILOT as f64;
        draws * rejection::weighted_operations(size, rank, 0.0)
    }
}

impl ImportanceSampler {
    fn new(dpp: &PartitionDpp, engine: &Engine) -> Result<Self> {
        let included = dpp.ground().log_det_included();
        if dpp.open().is_empty() {
            let error = accurate(dpp.beyond_rank())? + included.error;
            let (log_shift, log_upper) = (included.value, included.value + included.error);
            return Ok(Self {
                dpp: dpp.clone(),
                law: None,
                log_shift,
                log_upper,
                log_reference: 0.0,
                error,
                engine: engine.clone(),
            });
        }
        let setup = RejectionSetup::new(dpp, None, engine)?;
        let law = WeightedLaw::new(&setup, engine)?;
        let are_few = dpp.counts().exact().is_some() && cap::are_dear(Pilot::DRAWS, law.operations());
        let mut pilot = Pilot::of(law.law(), if are_few { Pilot::FEW } else { Pilot::DRAWS }, engine)?;
        if are_few && pilot.log_normaliser.is_infinite() {
            pilot = Pilot::of(law.law(), Pilot::DRAWS, engine)?;
        }
        if pilot.log_normaliser.is_infinite() {
            return Err(EstimateProblem::DeadEnds { draws: Pilot::DRAWS as u64 }.into());
        }
        let of_weights = law.law().rounding()[0] * pilot.amplification;
        let log_tilted = setup.log_tilted()?;
        // Under ranges, all of the error may fall on sets that the quota allows.
        let allowed = if dpp.counts().exact().is_some() { 0.0 } else { log_tilted - pilot.log_normaliser };
        let of_spectrum = setup.found.spectrum.error * allowed.max(0.0).exp();
        let error = accurate(of_spectrum + of_weights + included.error)?;
        let log_shift = setup.log_shift();
        let log_bound = if setup.is_best_tilted() {
            log_tilted
        } else {
            log_tilted.min(rejection::least_log_bound(&setup, engine)?)
        };
        Ok(Self {
            dpp: dpp.clone(),
            law: Some(Arc::new(law)),
            log_shift,
            log_upper: log_shift + log_bound + error,
            log_reference: pilot.log_normaliser,
            error,
            engine: engine.clone(),
        })
    }

    /// A proven upper bound of ln Z, not an estimate.
    ///
    /// It is the lowest bound that rejection uses (see [`Bound`](crate::sample::Bound)). With many parts of many
    /// dimensions, only the tilted bound and Hadamard's are compared; if rows span many decades, it is the tilted
    /// bound.
    #[must_use]
    pub fn log_upper_bound(&self) -> f64 {
        self.log_upper
    }

    /// The engine that did the set-up.
    #[must_use]
    pub fn engine(&self) -> EngineInfo {
        self.engine.info()
    }

    /// Relative error of all weights from rounding; more draws do not reduce it.
    #[must_use]
    pub fn rounding(&self) -> f64 {
        self.error
    }

    /// Makes `count` independent draws on all threads of the current rayon pool. They do not depend on the number of
    /// threads.
    #[must_use]
    pub fn sample_many(&self, count: u64, seed: u64) -> WeightedSamples {
        self.sample_watched(0..count, seed, &Watch::default())
    }

    /// Makes the draws with these numbers, up to the first one that the watch ends. Draw number i uses stream i of
    /// the ChaCha8 generator seeded with `seed`.
    #[must_use]
    pub fn sample_watched(&self, draws: Range<u64>, seed: u64, watch: &Watch) -> WeightedSamples {
        let of_task = |start: u64| {
            let mut drawn = WeightedSamples::new();
            let mut scratch = self.law.as_ref().map(|law| law.scratch());
            for draw in start..draws.end.min(start.saturating_add(TASK)) {
                let mut attempts = Attempts::under(watch, 0.0);
                let mut items = self.dpp.ground().included().to_vec();
                let mut log = 0.0;
                if let (Some(law), Some(scratch)) = (&self.law, &mut scratch) {
                    log = law.weigh(&mut stream(seed, draw), scratch, || attempts.go_on());
                    items.extend_from_slice(scratch.items());
                }
                attempts.go_on();
                if let Some(ended) = attempts.ended() {
                    return drawn.ended_by(ended);
                }
                let subset = (log > f64::NEG_INFINITY).then(|| Subset::from_distinct(items));
                drawn.push(subset, log + self.log_shift);
            }
            drawn
        };
        let mut all = WeightedSamples::new();
        for first in draws.clone().step_by(WAVE) {
            let tasks = (draws.end - first).min(WAVE as u64).div_ceil(TASK);
            let tasks = usize::try_from(tasks).unwrap_or(WAVE);
            for chunk in map_ordered(tasks, |task| of_task(first + task as u64 * TASK)) {
                let ended = chunk.ended().is_some();
                all.extend(chunk);
                if ended {
                    return all;
                }
            }
        }
        all
    }
}
