//! Probabilities from weighted draws.

use std::sync::atomic::{AtomicU64, Ordering};

use faer::{Mat, MatRef, Side};

use super::{
    ImportanceSampler,
    weights::{WeightStatistics, Weights},
};
use crate::{
    Error, Estimate, MonteCarlo, Result, Subset,
    data::LabelCopies,
    engine::{EngineInfo, bounded_forms},
    error::EstimateProblem,
    linalg,
    model::SetProbabilities,
    parallel::{map_ordered, map_ordered_mut},
    sample::{Attempts, rejection::InclusionSums, stream},
    watch::{Ended, Step, Watch},
};

/// The number of batches that draws are dealt to; the spread between batches gives standard errors.
const BATCHES: usize = 16;
/// The least number of draws.
const LEAST: u64 = 1024;

/// When estimates are accurate enough, and their seed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct EstimateOptions {
    standard_error: f64,
    most_draws: u64,
    seed: u64,
}

impl Default for EstimateOptions {
    /// A standard error of ln Z of 0.01, at most 2²⁰ draws, seed 0.
    fn default() -> Self {
        Self { standard_error: 0.01, most_draws: 1 << 20, seed: 0 }
    }
}

impl EstimateOptions {
    /// Sets the standard error of ln Z at which draws end.
    #[must_use]
    pub fn with_standard_error(self, standard_error: f64) -> Self {
        Self { standard_error, ..self }
    }

    /// The standard error of ln Z at which draws end.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        self.standard_error
    }

    /// Sets the most draws, rounded to a multiple of 16; at least 1024 are made.
    #[must_use]
    pub fn with_most_draws(self, most_draws: u64) -> Self {
        Self { most_draws, ..self }
    }

    /// Sets the seed of the draws.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}

/// Estimated probabilities under a quota, made by [`ImportanceSampler::inference`].
///
/// All logarithms are natural; probability zero is −∞.
#[derive(Debug)]
pub struct EstimatedInference {
    sampler: ImportanceSampler,
    weights: Weights,
    log_z: MonteCarlo<f64>,
    /// Empty if nothing is left to choose.
    batches: Vec<InclusionSums>,
    sets: SetProbabilities,
    ended: Option<Ended>,
}

/// The draws whose numbers have the same remainder modulo `BATCHES`.
#[derive(Debug)]
struct Batch {
    weights: Weights,
    sums: InclusionSums,
    ended: Option<Ended>,
}

impl ImportanceSampler {
    /// Draws until ln Z has the standard error wanted, or the watch ends the draws.
    ///
    /// # Cost
    /// (1 / share − 1) / se² draws, with their effective share and the standard error se. Each costs about twice a
    /// draw of [`sample_many`](ImportanceSampler::sample_many), or three times with estimated traces. Up to 34·p·r²
    /// numbers in memory.
    ///
    /// # Errors
    /// - [`Error::Ended`](crate::Error::Ended) if the watch ends the draws before the first 32;
    /// - [`EstimateProblem::DeadEnds`](crate::error::EstimateProblem) if no draw met the quota.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, Partition, PartitionDpp, Quota, Watch, sample::EstimateOptions};
    /// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
    /// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
    /// let dpp = PartitionDpp::new(&features, &partition, &Quota::new(&partition, [1, 1])?)?;
    /// let sampler = dpp.importance_sampler(&Engine::cpu())?;
    /// let found = sampler.inference(EstimateOptions::default(), &Watch::default())?;
    /// // Z = det K over {0,2}, {0,3}, {1,2}, {1,3} = 1 + 1 + ¼ + 0.
    /// let log_z = found.log_partition_function();
    /// assert!((log_z.value - 2.25_f64.ln()).abs() < 5.0 * log_z.standard_error);
    /// assert!(found.log_upper_bound() >= 2.25_f64.ln());
    /// let marginals = found.inclusion_probabilities()?;
    /// assert!((marginals.value[0] - 2.0 / 2.25).abs() < 6.0 * marginals.standard_error[0]);
    /// # Ok(()) }
    /// ```
    pub fn inference(&self, options: EstimateOptions, watch: &Watch) -> Result<EstimatedInference> {
        if options.standard_error.is_nan() || options.standard_error <= 0.0 {
            return Err(Error::NotPositive { what: "the standard error", value: options.standard_error });
        }
        let Some(law) = &self.law else {
            let mut certain = Weights::default();
            certain.push(0.0);
            return Ok(self.found(certain, Vec::new(), None));
        };
        let empty = || Batch { weights: Weights::default(), sums: InclusionSums::new(law), ended: None };
        let mut batches: Vec<Batch> = (0..BATCHES).map(|_| empty()).collect();
        let (begun, mut done, mut wanted) = (watch.begin(), 0, LEAST);
        let drawn = AtomicU64::new(0);
        let told = || watch.report(begun, Step::Draw, drawn.fetch_add(1, Ordering::Relaxed) + 1, None);
        loop {
            batches = map_ordered_mut(batches, |number, batch| {
                let own = (done..wanted).skip(number).step_by(BATCHES);
                self.fill(batch, own, options.seed, (watch, &told))
            });
            done = wanted;
            let mut weights = Weights::default();
            batches.iter().for_each(|batch| weights.extend(batch.weights.clone()));
            let ended = batches.iter().find_map(|batch| batch.ended);
            let short = weights.log_mean().standard_error / options.standard_error;
            if short <= 1.0 || done >= options.most_draws || ended.is_some() {
                let sums = batches.into_iter().map(|batch| batch.sums).collect();
                return self.found(weights, sums, ended).checked();
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating")]
            let enough = (1.1 * short * short * done as f64) as u64;
            wanted = enough.clamp(done + LEAST / 2, 2 * done).min(options.most_draws.max(done + 1));
            wanted = wanted.next_multiple_of(BATCHES as u64);
        }
    }

    fn found(
        &self,
        weights: Weights,
        batches: Vec<InclusionSums>,
        ended: Option<Ended>,
    ) -> EstimatedInference {
        let mut log_z = weights.log_mean();
        if batches.is_empty() {
            log_z.standard_error = 0.0;
        }
        // Add the error from rounding.
        log_z.standard_error += self.error;
        log_z.value += self.log_shift;
        let of_sets = Estimate { value: log_z.value, error: self.error };
        let sets = SetProbabilities::under_quota(&self.dpp, of_sets);
        EstimatedInference { sampler: self.clone(), weights, log_z, batches, sets, ended }
    }

    /// Adds draws with these numbers to a batch.
    fn fill(
        &self,
        mut batch: Batch,
        draws: impl Iterator<Item = u64>,
        seed: u64,
        (watch, told): (&Watch, impl Fn()),
    ) -> Batch {
        let Some(law) = &self.law else { return batch };
        let mut scratch = law.scratch();
        for draw in draws {
            let mut attempts = Attempts::under(watch, 0.0);
            let log = law.weigh(&mut stream(seed, draw), &mut scratch, || attempts.go_on());
            batch.ended = attempts.ended();
            if batch.ended.is_some() {
                break;
            }
            told();
            batch.weights.push(log);
            if log > f64::NEG_INFINITY {
                batch.sums.add(law, (log - self.log_reference).exp(), &mut scratch);
            }
        }
        batch.sums.settle(law);
        batch
    }

    /// Writes Pr(i ∈ S) of the free items, from sums over draws, to `out`. Returns the largest error due to single
    /// precision.
    fn inclusion(&self, sums: &InclusionSums, out: &mut [f64]) -> Result<f64> {
        let Some(law) = &self.law else { return Ok(0.0) };
        let rows = self.dpp.rows();
        if let Some(forms) = law.forms(|group| sums.form(group)) {
            for ((item, _), form) in rows.iter().zip(forms) {
                out[item] = form.max(0.0);
            }
            return Ok(0.0);
        }
        let roots = map_ordered(rows.groups().len(), |group| root(&sums.form(group)));
        let factors = law.factors(&roots.into_iter().collect::<Result<Vec<_>>>()?);
        let factors: Vec<MatRef<'_, f64>> = factors.iter().map(Mat::as_ref).collect();
        let (forms, above) = bounded_forms(&self.engine, &rows, &factors)?;
        let errors = above.iter().flatten().zip(&forms).map(|(above, form)| above - form);
        let error = errors.fold(0.0, f64::max);
        for ((item, _), form) in rows.iter().zip(forms) {
            out[item] = form;
        }
        Ok(error)
    }
}

/// R with R Rᵀ = X, for a positive definite X that rounding may have made indefinite.
fn root(form: &Mat<f64>) -> Result<Mat<f64>> {
    let size = form.nrows();
    let mut raised = form.clone();
    (0..size).for_each(|j| raised[(j, j)] *= 1.0 + 16.0 * size as f64 * f64::EPSILON);
    match raised.llt(Side::Lower) {
        Ok(factor) => Ok(factor.L().to_owned()),
        Err(_) => linalg::positive_root(form.as_ref(), 1.0),
    }
}

impl EstimatedInference {
    /// An error if there are too few draws, or if none met the quota.
    fn checked(self) -> Result<Self> {
        if let Some(ended) = self.ended.filter(|_| self.weights.draws() < 2 * BATCHES as u64) {
            return Err(ended.into());
        }
        if self.log_z.value.is_infinite() {
            return Err(EstimateProblem::DeadEnds { draws: self.weights.draws() }.into());
        }
        Ok(self)
    }

    /// ln Z: the logarithm of the sum of det(K_S) over all sets that meet the quota.
    #[must_use]
    pub fn log_partition_function(&self) -> MonteCarlo<f64> {
        self.log_z
    }

    /// A proven upper bound of ln Z, not an estimate.
    #[must_use]
    pub fn log_upper_bound(&self) -> f64 {
        self.sampler.log_upper
    }

    /// Statistics of the weights, with the estimate of ln Z.
    #[must_use]
    pub fn statistics(&self) -> WeightStatistics {
        WeightStatistics { log_z: self.log_z, ..self.weights.statistics(0.0) }
    }

    /// Why the standard error wanted was not reached, if a [`Watch`] ended the draws. Otherwise it is missed only if
    /// [`with_most_draws`](EstimateOptions::with_most_draws) limits the number of draws.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// The engine that computes.
    #[must_use]
    pub fn engine(&self) -> EngineInfo {
        self.sampler.engine.info()
    }

    /// ln Pr(S) = ln det(K_S) − ln Z; −∞ for a set that the quota or the conditions exclude.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`](crate::Error::ItemOutOfRange) if the set has an item that does not exist.
    pub fn log_probability(&self, subset: &Subset) -> Result<MonteCarlo<f64>> {
        Ok(self.uncertain(self.sets.log_probability(subset)?))
    }

    /// The logarithm of the probability of the items; see
    /// [`Inference::log_probability_of_items`](crate::Inference::log_probability_of_items).
    ///
    /// # Errors
    /// The errors of [`Inference::log_probability_of_items`](crate::Inference::log_probability_of_items).
    pub fn log_probability_of_items(&self, copies: &LabelCopies, items: &Subset) -> Result<MonteCarlo<f64>> {
        Ok(self.uncertain(self.sets.log_probability_of_items(copies, items)?))
    }

    fn uncertain(&self, log: Estimate<f64>) -> MonteCarlo<f64> {
        let of_set = log.error - self.sampler.error;
        let standard_error = if log.value.is_infinite() { 0.0 } else { self.log_z.standard_error + of_set };
        MonteCarlo { value: log.value, standard_error }
    }

    /// Pr(i ∈ S) for every item: 1 for included items, 0 for excluded ones and for parts with quota zero.
    ///
    /// Standard errors come from the spread of 16 batches of draws, so they are themselves accurate to about a fifth.
    /// They do not account for sets too rare to be drawn.
    ///
    /// # Cost
    /// 17 passes over A (2mnr operations each), or over the rows in r coordinates if they are kept (2mr²).
    ///
    /// # Errors
    /// [`Error::Eigen`](crate::Error::Eigen); engine errors.
    pub fn inclusion_probabilities(&self) -> Result<MonteCarlo<Vec<f64>>> {
        let sampler = &self.sampler;
        let mut value = vec![0.0; sampler.dpp.ground().features().items()];
        let mut squares = vec![0.0; value.len()];
        let mut rounding = 0.0;
        if let Some((first, others)) = self.batches.split_first() {
            let mut sums = first.clone();
            others.iter().for_each(|other| sums.extend(other));
            rounding = sampler.inclusion(&sums, &mut value)?;
            let mut of_batch = vec![0.0; value.len()];
            for batch in self.batches.iter().filter(|batch| batch.weight() > 0.0) {
                sampler.inclusion(batch, &mut of_batch)?;
                let share = batch.weight() / sums.weight();
                for ((square, own), mean) in squares.iter_mut().zip(&of_batch).zip(&value) {
                    *square += (share * (own - mean)).powi(2);
                }
            }
        }
        value.iter_mut().for_each(|p| *p = p.min(1.0));
        for &item in sampler.dpp.ground().included() {
            value[item as usize] = 1.0;
        }
        let batches = self.batches.len() as f64;
        let standard_error = |square: f64| (square * batches / (batches - 1.0)).sqrt() + rounding;
        let is_free = |square: &f64| *square > 0.0;
        let standard_error =
            squares.iter().map(|square| if is_free(square) { standard_error(*square) } else { 0.0 });
        Ok(MonteCarlo { standard_error: standard_error.collect(), value })
    }
}
