//! Plain draws from weighted ones.

use std::sync::Arc;

use rand::{Rng, RngExt};

use super::{
    ImportanceSampler, TRUSTED_PARETO_K,
    pareto::Tail,
    weights::{WeightStatistics, Weights},
};
use crate::{
    Error, Result,
    engine::Engine,
    error::EstimateProblem,
    sample::{
        Attempts, Law, Sampler,
        batches::{Batched, Batches},
        rejection::WeightedLaw,
    },
};

/// Weighted draws from which the cap follows, in tasks.
pub(super) const PILOT: usize = 2048;
const TASKS: usize = 64;
/// The tasks that are made first, …
const FIRST_TASKS: usize = 4;
pub(super) const FIRST: usize = FIRST_TASKS * PILOT / TASKS;
/// … and the operations after which more are made only where the tail raises the cap by more than this factor.
const PATIENT: f64 = 3e9;
const RAISED: f64 = 1.25;
/// Their generator: a seed that draws are unlikely to use.
const PILOT_SEED: u64 = 0x70_69_6c_6f_74;
/// Caps are this factor apart, …
const STEP: f64 = 1.02;
/// … and at most this many times the mean weight.
const MOST: f64 = 1e6;

/// Draws with weight w, kept with probability min(1, w / c).
///
/// ```text
/// ‖kept − law‖ ≤ E max(0, w − c) / E w   in total variation
/// ```
#[derive(Debug)]
pub(crate) struct CappedLaw {
    law: Arc<WeightedLaw>,
    /// ln c.
    log_cap: f64,
    /// Of a draw, to be kept, as estimated.
    acceptance: f64,
    pub(crate) pilot: WeightStatistics,
    /// The device that makes many draws, if there is one.
    batches: Option<Batches>,
}

impl ImportanceSampler {
    /// A sampler of subsets without weights, whose law differs from that of the DPP by about `law_error` in total variation,
    /// or less.
    ///
    /// A draw with weight w is kept with probability min(1, w / c). 2048 weighted draws tell the least c for which
    /// E max(0, w − c) / E w is at most `law_error`: by their own mean, and by a generalised Pareto law of the largest
    /// weights. It is an estimate, never a guarantee. Where draws take long there are fewer, from 128 on, as soon as that law, which
    /// stands for weights that were not met, raises c by a quarter at most.
    ///
    /// # Cost
    /// c weighted draws for one that is kept, with c in units of the mean weight: 2 to 10 where the weights are nearly
    /// equal.
    ///
    /// # Errors
    /// - [`Error::NotPositive`];
    /// - [`EstimateProblem::HeavyWeights`](crate::error::EstimateProblem) if the tail index k̂ of the weights is above
    ///   [`TRUSTED_PARETO_K`], `Unreachable` if a cap of 10⁶ times the mean weight does not suffice;
    /// - [`EstimateProblem::DeadEnds`](crate::error::EstimateProblem) if no draw met the quota.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, Partition, PartitionDpp, Quota};
    /// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
    /// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
    /// let dpp = PartitionDpp::new(&features, &partition, &Quota::new(&partition, [1, 1])?)?;
    /// let sampler = dpp.importance_sampler(&Engine::cpu())?.sampler(1e-3)?;
    /// assert!(sampler.law_error() <= 1e-3);
    /// println!("{}", sampler.sample_many(1, 0).subsets()[0]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Source
    /// Vehtari, Simpson, Gelman, Yao and Gabry, *Pareto smoothed importance sampling* (2024), for k̂.
    pub fn sampler(&self, law_error: f64) -> Result<Sampler> {
        if law_error.is_nan() || law_error <= 0.0 {
            return Err(Error::NotPositive { what: "the law error", value: law_error });
        }
        let included = self.dpp.ground().included();
        let Some(law) = &self.law else {
            return Ok(Sampler::new(Law::Forced, included, &self.engine, self.error));
        };
        let (weights, found) = pilot(law, law_error, &self.engine)?;
        let log_mean = weights.log_mean();
        if log_mean.value.is_infinite() {
            return Err(EstimateProblem::DeadEnds { draws: weights.draws() }.into());
        }
        if let Some(pareto_k) = weights.pareto_k().filter(|&k| k > TRUSTED_PARETO_K) {
            return Err(EstimateProblem::HeavyWeights { pareto_k, trusted: TRUSTED_PARETO_K }.into());
        }
        let (cap, excess) = found.ok_or(EstimateProblem::Unreachable { wanted: law_error })?;
        let relative = weights.relative();
        let kept = relative.iter().map(|weight| (weight / cap).min(1.0)).sum::<f64>();
        let pilot = weights.statistics(self.log_shift);
        let capped = CappedLaw {
            law: Arc::clone(law),
            log_cap: log_mean.value + cap.ln(),
            acceptance: kept / relative.len() as f64,
            pilot,
            batches: None,
        };
        Ok(Sampler::new(Law::Capped(capped), included, &self.engine, excess + self.error))
    }
}

/// Weighted draws, and the cap that follows.
fn pilot(law: &WeightedLaw, wanted: f64, engine: &Engine) -> Result<(Weights, Option<(f64, f64)>)> {
    let (mut weights, mut tasks) = (Weights::default(), 0);
    loop {
        let next = (2 * tasks).clamp(FIRST_TASKS, TASKS);
        let drawn = law.law().weigh_many((tasks..next, PILOT / TASKS), PILOT_SEED, engine)?;
        drawn.into_iter().for_each(|weighed| weights.push(weighed.log));
        tasks = next;
        let is_impatient = law.operations() * weights.draws() as f64 > PATIENT;
        if tasks < TASKS && !is_impatient {
            continue;
        }
        let relative = weights.relative();
        let found = least_cap(&relative, Tail::of(&relative), wanted);
        let seen = least_cap(&relative, None, wanted);
        let is_heavy = weights.pareto_k().is_some_and(|k| k > TRUSTED_PARETO_K);
        let is_known = found.zip(seen).is_some_and(|((found, _), (seen, _))| found <= RAISED * seen);
        if tasks == TASKS || (is_known && !is_heavy) {
            return Ok((weights, found));
        }
    }
}

/// The least cap with an excess E max(0, w − c) of at most `wanted`, and this excess, for weights in units of their mean.
fn least_cap(relative: &[f64], tail: Option<Tail>, wanted: f64) -> Option<(f64, f64)> {
    let draws = relative.len() as f64;
    let mut cap = 1.0;
    while cap <= MOST {
        let seen = relative.iter().rev().map(|weight| (weight - cap).max(0.0)).sum::<f64>() / draws;
        let fitted = tail.filter(|tail| cap >= tail.threshold()).map_or(0.0, |tail| tail.excess_above(cap));
        // Equal weights differ by rounding.
        let excess = if tail.is_none() && seen < 1e-9 { 0.0 } else { seen.max(fitted) };
        if excess <= wanted {
            return Some((cap, excess));
        }
        cap *= STEP;
    }
    None
}

impl CappedLaw {
    /// A cautious estimate of the draws kept.
    pub(crate) fn acceptance(&self) -> f64 {
        0.5 * self.acceptance
    }

    /// Average draws until one is kept, as predicted.
    pub(crate) fn proposals(&self) -> f64 {
        self.acceptance.recip()
    }

    /// Average operations until a draw is kept, as predicted.
    pub(crate) fn operations(&self) -> f64 {
        self.law.operations() * self.proposals()
    }

    /// Makes many draws on the engine's device, if it has one and they fit. Returns the error that this adds to the law.
    pub(in crate::sample) fn make_batches_on(&mut self, engine: &Engine) -> f64 {
        let draws = self.law.kept_up_to(self.log_cap);
        self.batches = draws.and_then(|draws| Batches::on(engine, &draws, self.acceptance()));
        self.batched().map_or(0.0, |batched| batched.error())
    }

    /// The law with the device that makes many draws.
    pub(in crate::sample) fn batched(&self) -> Option<Batched<'_>> {
        let (batches, draws) = (self.batches.as_ref()?, self.law.kept_up_to(self.log_cap)?);
        Some(Batched { batches, proposals: Box::new(draws), acceptance_bound: self.acceptance() })
    }

    /// Draws until one is kept.
    pub(crate) fn sample<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<Vec<u32>> {
        let mut scratch = self.law.scratch();
        loop {
            attempts.another()?;
            let log = self.law.weigh(rng, &mut scratch, || attempts.go_on()) - self.log_cap;
            attempts.check()?;
            if log >= 0.0 || rng.random::<f64>() < log.exp() {
                return Ok(scratch.items().to_vec());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::stream;

    /// Weights with a normal logarithm, ascending, in units of their mean; and this.
    fn weights(spread: f64, count: usize, seed: u64) -> (Vec<f64>, f64) {
        let mut rng = stream(seed, 0);
        let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let mut drawn: Vec<f64> = (0..count).map(|_| (spread * normal()).exp()).collect();
        drawn.sort_unstable_by(f64::total_cmp);
        let mean = drawn.iter().sum::<f64>() / count as f64;
        (drawn.into_iter().map(|weight| weight / mean).collect(), mean)
    }

    /// Few draws have met no large weight; the tail that is fitted to them makes up for it.
    #[test]
    fn caps_of_few_draws_are_enough() {
        let (wanted, seeds) = (1e-3, 200);
        for spread in [0.15, 0.5] {
            let (law, whole) = weights(spread, 400_000, seeds);
            let excess =
                |cap: f64| law.iter().map(|weight| (weight - cap).max(0.0)).sum::<f64>() / law.len() as f64;
            let enough = |is_fitted: bool| {
                let is_enough = |&seed: &u64| {
                    let (relative, mean) = weights(spread, FIRST, seed);
                    let tail = Tail::of(&relative).filter(|_| is_fitted);
                    let (cap, _) = least_cap(&relative, tail, wanted).unwrap();
                    excess(cap * mean / whole) <= wanted
                };
                (0..seeds).filter(is_enough).count() as f64 / seeds as f64
            };
            let (fitted, seen) = (enough(true), enough(false));
            assert!(fitted >= 0.95 && seen < 0.7, "{spread}: {fitted} {seen}");
        }
    }
}
