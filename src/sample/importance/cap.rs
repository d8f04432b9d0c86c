//! Unweighted draws from weighted ones.

use std::{ops::Range, sync::Arc};

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

/// Weighted draws that set the cap, and the number of tasks that make them.
pub(super) const PILOT: usize = 2048;
const TASKS: usize = 64;
/// The tasks that are always run, even past the deadline.
const FIRST_TASKS: usize = 4;
pub(super) const FIRST: usize = FIRST_TASKS * PILOT / TASKS;
/// Draws of more operations are dear. They end once the tail raises the cap by at most the factor `RAISED`, and they
/// are worth at least `ALIVE` draws from the law.
const DEAR: f64 = 3e9;
const RAISED: f64 = 1.25;
const ALIVE: f64 = 64.0;
/// The seed of the pilot run, which draws are unlikely to use.
const PILOT_SEED: u64 = 0x70_69_6c_6f_74;
/// The ratio of successive caps that are tried.
const STEP: f64 = 1.02;
/// The largest cap, in units of the mean weight.
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
    /// The estimated probability that a draw is kept.
    acceptance: f64,
    pub(crate) pilot: WeightStatistics,
    /// The device that makes many draws, if any.
    batches: Option<Batches>,
}

impl ImportanceSampler {
    /// A sampler of unweighted subsets, whose distribution differs from the DPP by an estimated `law_error` at most.
    ///
    /// The error is in total variation. It is an estimate, never a guarantee.
    ///
    /// A draw with weight w is kept with probability min(1, w / c). A pilot run of 2048 weighted draws sets the cap
    /// c: the smallest c for which E max(0, w − c) / E w is at most `law_error`. This mean is estimated both by the
    /// average over the draws and by a generalised Pareto distribution fitted to the largest weights, which stands
    /// for weights not met.
    ///
    /// If draws take long, the pilot run is shorter, but has at least 128 draws. It ends as soon as the fitted
    /// distribution raises c by at most a quarter. Under a deadline ([`Engine::watched`](crate::Engine::watched)),
    /// all draws after the first 128 end once half of the time left is used. The other half is left for the draws
    /// themselves.
    ///
    /// # Cost
    /// c weighted draws per draw kept, with c in units of the mean weight: 2 to 10 if the weights are nearly equal.
    ///
    /// # Errors
    /// - [`Error::NotPositive`] if `law_error` is not positive;
    /// - [`EstimateProblem::HeavyWeights`](crate::error::EstimateProblem) if the tail index k̂ of the weights is
    ///   above [`TRUSTED_PARETO_K`];
    /// - `EstimateProblem::Unreachable` if a cap of 10⁶ times the mean weight does not suffice;
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

/// The weights of the pilot run, and the cap and its excess that follow from them.
fn pilot(law: &WeightedLaw, wanted: f64, engine: &Engine) -> Result<(Weights, Option<(f64, f64)>)> {
    let in_time = engine.apart().1.first_half();
    let draw = |tasks: Range<usize>| {
        let is_first = tasks.start == 0;
        let go_on = || is_first || in_time();
        let drawn = law.law().weigh_while((tasks, PILOT / TASKS), PILOT_SEED, engine, go_on)?;
        Ok(drawn.into_iter().map(|weighed| weighed.log).collect())
    };
    grown(draw, law.operations(), wanted, || !in_time())
}

/// Runs tasks, doubling their number until all are run or the time is up. If draws are dear, it also ends once the
/// cap is known.
fn grown(
    mut draw: impl FnMut(Range<usize>) -> Result<Vec<f64>>,
    operations: f64,
    wanted: f64,
    is_late: impl Fn() -> bool,
) -> Result<(Weights, Option<(f64, f64)>)> {
    let (mut weights, mut tasks) = (Weights::default(), 0);
    loop {
        let next = (2 * tasks).clamp(FIRST_TASKS, TASKS);
        draw(tasks..next)?.into_iter().for_each(|log| weights.push(log));
        tasks = next;
        let is_last = tasks == TASKS || is_late();
        if !is_last && !are_dear(tasks * (PILOT / TASKS), operations) {
            continue;
        }
        let relative = weights.relative();
        let found = least_cap(&relative, Tail::of(&relative), wanted);
        if is_last || is_known(&weights, found.zip(least_cap(&relative, None, wanted))) {
            return Ok((weights, found));
        }
    }
}

/// Whether this many draws take long.
pub(super) fn are_dear(draws: usize, operations: f64) -> bool {
    operations * draws as f64 > DEAR
}

/// Whether more draws would barely change the cap. `caps` are the caps with and without the fitted tail.
fn is_known(weights: &Weights, caps: Option<((f64, f64), (f64, f64))>) -> bool {
    let is_near = caps.is_some_and(|((found, _), (seen, _))| found <= RAISED * seen);
    let is_light = weights.pareto_k().is_none_or(|k| k <= TRUSTED_PARETO_K);
    let alive = weights.statistics(0.0).effective_share * weights.draws() as f64;
    // This is false for NaN, which comes from dead ends alone.
    is_near && is_light && alive >= ALIVE
}

/// The least cap with an excess E max(0, w − c) of at most `wanted`, and its excess, for weights in units of their
/// mean.
fn least_cap(relative: &[f64], tail: Option<Tail>, wanted: f64) -> Option<(f64, f64)> {
    let draws = relative.len() as f64;
    let mut cap = 1.0;
    while cap <= MOST {
        let seen = relative.iter().rev().map(|weight| (weight - cap).max(0.0)).sum::<f64>() / draws;
        let fitted = tail.filter(|tail| cap >= tail.threshold()).map_or(0.0, |tail| tail.excess_above(cap));
        // Equal weights may differ by rounding.
        let excess = if tail.is_none() && seen < 1e-9 { 0.0 } else { seen.max(fitted) };
        if excess <= wanted {
            return Some((cap, excess));
        }
        cap *= STEP;
    }
    None
}

impl CappedLaw {
    /// A cautious estimate of the share of draws kept.
    pub(crate) fn acceptance(&self) -> f64 {
        0.5 * self.acceptance
    }

    /// The predicted average number of weighted draws per draw kept.
    pub(crate) fn proposals(&self) -> f64 {
        self.acceptance.recip()
    }

    /// The predicted average number of operations per draw kept.
    pub(crate) fn operations(&self) -> f64 {
        self.law.operations() * self.proposals()
    }

    /// Makes many draws on the engine's device, if it has one and they fit. Returns the error that this adds to the
    /// law.
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

    /// Draws until a draw is kept.
    pub(crate) fn sample<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<Vec<u32>> {
        self.law.law().lend(|scratch| {
            loop {
                attempts.another()?;
                let log = self.law.weigh(rng, scratch, || attempts.go_on()) - self.log_cap;
                attempts.check()?;
                if log >= 0.0 || rng.random::<f64>() < log.exp() {
                    return Ok(scratch.items().to_vec());
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::stream;

    /// Weights with normally distributed logarithms, ascending, in units of their mean; and this mean.
    fn weights(spread: f64, count: usize, seed: u64) -> (Vec<f64>, f64) {
        let mut rng = stream(seed, 0);
        let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let mut drawn: Vec<f64> = (0..count).map(|_| (spread * normal()).exp()).collect();
        drawn.sort_unstable_by(f64::total_cmp);
        let mean = drawn.iter().sum::<f64>() / count as f64;
        (drawn.into_iter().map(|weight| weight / mean).collect(), mean)
    }

    /// Few draws rarely meet a large weight. The fitted tail makes up for this, even if it ends the pilot run.
    #[test]
    fn caps_of_few_draws_are_enough() {
        let (wanted, seeds) = (1e-3, 200);
        for (spread, least) in [(0.1, 0.95), (0.15, 0.95), (0.3, 0.85)] {
            let (law, whole) = weights(spread, 400_000, seeds);
            let excess =
                |cap: f64| law.iter().map(|weight| (weight - cap).max(0.0)).sum::<f64>() / law.len() as f64;
            let enough = |is_fitted: bool| {
                let mut few = 0.0;
                let mut is_enough = |seed: u64| {
                    let (mut drawn, mean) = weights(spread, PILOT, seed);
                    if is_fitted {
                        // An order unrelated to the size of the weights.
                        drawn.sort_unstable_by_key(|weight| {
                            weight.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15)
                        });
                        let of_task = PILOT / TASKS;
                        let draw = |tasks: Range<usize>| {
                            let own = &drawn[tasks.start * of_task..tasks.end * of_task];
                            Ok(own.iter().map(|weight| weight.ln()).collect())
                        };
                        let (found, cap) = grown(draw, DEAR, wanted, || false).unwrap();
                        few += f64::from(u8::from(found.draws() < PILOT as u64));
                        return excess(cap.unwrap().0 * found.log_mean().value.exp() * mean / whole)
                            <= wanted;
                    }
                    let (relative, mean) = weights(spread, FIRST, seed);
                    excess(least_cap(&relative, None, wanted).unwrap().0 * mean / whole) <= wanted
                };
                let enough = (0..seeds).filter(|&seed| is_enough(seed)).count() as f64;
                [enough / seeds as f64, few / seeds as f64]
            };
            let ([fitted, few], [seen, _]) = (enough(true), enough(false));
            assert!(fitted >= least && few > 0.5 && seen < 0.7, "{spread}: {fitted} {few} {seen}");
        }
    }

    #[test]
    fn dead_ends_do_not_end_a_pilot() {
        let draw = |tasks: Range<usize>| {
            let alive = |at: usize| if at % 100 == 99 { 0.0 } else { f64::NEG_INFINITY };
            Ok((tasks.start * PILOT / TASKS..tasks.end * PILOT / TASKS).map(alive).collect())
        };
        assert_eq!(grown(draw, DEAR, 0.1, || false).unwrap().0.draws(), PILOT as u64);
        let dead = |tasks: Range<usize>| Ok(vec![f64::NEG_INFINITY; tasks.len() * PILOT / TASKS]);
        assert_eq!(grown(dead, DEAR, 0.1, || false).unwrap().0.draws(), PILOT as u64);
        let alike = |tasks: Range<usize>| Ok(vec![1.0; tasks.len() * PILOT / TASKS]);
        assert_eq!(grown(alike, DEAR, 0.1, || false).unwrap().0.draws(), FIRST as u64);
        assert_eq!(grown(alike, 1.0, 0.1, || false).unwrap().0.draws(), PILOT as u64);
        assert_eq!(grown(alike, 1.0, 0.1, || true).unwrap().0.draws(), FIRST as u64);
    }
}
