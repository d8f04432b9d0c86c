//! Confidence intervals of ln Z with exact coverage.

mod log_gammas;

use rand::RngExt;

use self::log_gammas::LogGammas;
use super::{Attempts, SamplerOptions, rejection::Rejection, stream};
use crate::{
    Error, PartitionDpp, Result, engine::Engine, error::EstimateProblem, estimate::accurate, model::within,
    parallel::map_ordered, watch::Step,
};

/// Acceptances per task.
const STEPS: usize = 64;
const TASK: u64 = STEPS as u64;
/// Acceptances of each half per acceptance of a whole proposal: halves are cheap, and add little to the width.
const OF_HALVES: u64 = 16;
/// Separates the random numbers of trials from draws of the same seed.
const SEED: u64 = 0x69_6e_74_65_72_76_61_6c;
/// The most acceptances; with more, rounding exceeds the width.
const MOST: f64 = 1e10;
/// The default of the most operations: a few minutes on one core.
const OPERATIONS: f64 = 3e12;

/// The width of an interval of ln Z, and its budget.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct IntervalOptions {
    within: f64,
    confidence: f64,
    most_operations: f64,
    seed: u64,
}

impl IntervalOptions {
    /// An interval at most 2·`within` wide, plus the error from rounding. The confidence is 0.95, the budget 3·10¹² operations,
    /// the seed 0.
    #[must_use]
    pub fn new(within: f64) -> Self {
        Self { within, confidence: 0.95, most_operations: OPERATIONS, seed: 0 }
    }

    /// Sets the probability that the interval covers ln Z.
    #[must_use]
    pub fn with_confidence(self, confidence: f64) -> Self {
        Self { confidence, ..self }
    }

    /// Sets the most operations of all proposals, as predicted.
    #[must_use]
    pub fn with_most_operations(self, most_operations: f64) -> Self {
        Self { most_operations, ..self }
    }

    /// Sets the seed of the proposals.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}

/// An interval of ln Z, made by [`PartitionDpp::log_partition_interval`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct LogInterval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The probability that the interval covers ln Z.
    pub confidence: f64,
    /// Accepted proposals.
    pub acceptances: u64,
    /// Proposals made until then.
    pub proposals: u64,
}

impl PartitionDpp {
    /// Computes a confidence interval of ln Z with exact coverage.
    ///
    /// It makes proposals until k are accepted. The relative error of the resulting estimate has a known
    /// distribution, which does not depend on Z.
    ///
    /// With N proposals for k acceptances under a bound W, and R ~ Gamma(N, 1):
    ///
    /// ```text
    /// G = R · Z / W ~ Gamma(k, 1), whatever Z is:   ln Z ∈ ln W − ln R + [q_{α/2}, q_{1−α/2}](ln G)
    /// ```
    ///
    /// Under [`Bound::Halves`](crate::sample::Bound::Halves), Z / W is the product of the acceptances of all halves,
    /// and ln G is the sum of that many independent variables. The error of the law from rounding widens the interval
    /// at both ends.
    ///
    /// # Cost
    /// About k = (1.96 / `within`)² draws at a confidence of 0.95, which is 38 464 for 0.01. With halves, it takes a
    /// sixteenth more for each of them.
    ///
    /// # Errors
    /// - [`Error::NotPositive`] if the width or the most operations are not positive;
    /// - [`Error::Estimate`] if the confidence is not between 0 and 1;
    /// - [`EstimateProblem::IntervalBudget`], with the predicted number of proposals, if they take too many
    ///   operations;
    /// - the errors of [`sampler`](PartitionDpp::sampler).
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, Partition, PartitionDpp, Quota, sample::IntervalOptions};
    /// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
    /// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
    /// let dpp = PartitionDpp::new(&features, &partition, &Quota::new(&partition, [1, 1])?)?;
    /// let interval = dpp.log_partition_interval(IntervalOptions::new(0.1), &Engine::cpu())?;
    /// // Z = det K over {0,2}, {0,3}, {1,2}, {1,3} = 1 + 1 + ¼ + 0.
    /// assert!(interval.low < 2.25_f64.ln() && 2.25_f64.ln() < interval.high);
    /// assert!(interval.high - interval.low <= 0.2);
    /// # Ok(()) }
    /// ```
    ///
    /// # Source
    /// Huber, *A Bernoulli mean estimate with known relative error distribution* (2017).
    pub fn log_partition_interval(&self, options: IntervalOptions, engine: &Engine) -> Result<LogInterval> {
        let IntervalOptions { within: half, confidence, most_operations, .. } = options;
        for (what, value) in [("the width", half), ("the most operations", most_operations)] {
            if value.is_nan() || value <= 0.0 {
                return Err(Error::NotPositive { what, value });
            }
        }
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(EstimateProblem::Confidence { confidence }.into());
        }
        let included = self.ground().log_det_included();
        if self.open().is_empty() {
            let error = accurate(self.beyond_rank())? + included.error;
            let (low, high) = (included.value - error, included.value + error);
            return Ok(LogInterval { low, high, confidence, acceptances: 0, proposals: 0 });
        }
        let sampler = SamplerOptions::default().one_by_one();
        let new = |dpp: &Self| Rejection::new(dpp, None, sampler, engine);
        let lowered = |(law, error): &(Rejection, f64)| law.error_of_coordinates(*error);
        let (law, error) = within(sampler.law_error, self, |dpp| dpp.graded(engine), new, lowered)?;
        Trials { law: &law, options, engine }.interval(error + included.error)
    }
}

/// Makes proposals until enough are accepted.
#[derive(Clone, Copy, Debug)]
struct Trials<'l> {
    law: &'l Rejection,
    options: IntervalOptions,
    engine: &'l Engine,
}

/// Trials of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    made: u64,
    /// A Gamma(made, 1) variable.
    gamma: f64,
}

impl Trials<'_> {
    /// The acceptances of whole proposals and of every half, and the quantiles of ln G.
    ///
    /// # Errors
    /// [`EstimateProblem::IntervalBudget`] if the trials take too many operations.
    fn shapes(&self) -> Result<(Vec<u64>, [f64; 2])> {
        let IntervalOptions { within, confidence, most_operations, .. } = self.options;
        let halves = self.law.halves_below();
        let each = self.law.cost() + OF_HALVES as f64 * halves.iter().sum::<f64>();
        let mut tasks = 1.0;
        loop {
            let acceptances = tasks * TASK as f64;
            let (operations, budget) = (acceptances * each, most_operations);
            if operations > budget || acceptances > MOST {
                let proposals = acceptances * self.law.proposals();
                return Err(EstimateProblem::IntervalBudget { proposals, operations, budget }.into());
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most MOST")]
            let acceptances = acceptances as u64;
            let shape = |number: usize| acceptances * if number == 0 { 1 } else { OF_HALVES };
            let shapes: Vec<u64> = (0..=halves.len()).map(shape).collect();
            let law = LogGammas::new(&shapes);
            let ends = [0.5 * (1.0 - confidence), 0.5 * (1.0 + confidence)].map(|p| law.quantile(p));
            let width = 0.5 * (ends[1] - ends[0]) / within;
            if width <= 1.0 {
                return Ok((shapes, ends));
            }
            // The width falls as the square root of the number of tasks.
            tasks = f64::max(tasks + 1.0, (tasks * width * width).floor());
        }
    }

    fn interval(&self, error: f64) -> Result<LogInterval> {
        let confidence = self.options.confidence;
        let (shapes, ends) = self.shapes()?;
        let tallies = shapes.iter().enumerate().map(|(number, &shape)| self.tally(number, shape));
        let tallies = tallies.collect::<Result<Vec<_>>>()?;
        let log = self.law.log_bound() - tallies.iter().map(|tally| tally.gamma.ln()).sum::<f64>();
        let [low, high] = [log + ends[0] - error, log + ends[1] + error];
        Ok(LogInterval { low, high, confidence, acceptances: shapes[0], proposals: tallies[0].made })
    }

    /// Runs trials of whole proposals, or of one half, until `acceptances` are accepted.
    fn tally(&self, number: usize, acceptances: u64) -> Result<Tally> {
        let tasks = usize::try_from(acceptances / TASK).unwrap_or(usize::MAX);
        let of = |task: usize| {
            let mut rng = stream(self.options.seed ^ SEED, (task as u64) << 16 | number as u64);
            let mut attempts = Attempts::under(self.engine.apart().1, 0.0);
            self.law.accept(number, TASK, &mut rng, &mut attempts)?;
            self.engine.proceed_after_steps(Step::Draw, STEPS)?;
            // Add one exponential variable per trial.
            let gamma = (0..attempts.made()).map(|_| -(-rng.random::<f64>()).ln_1p()).sum();
            Ok(Tally { made: attempts.made(), gamma })
        };
        let tallies = map_ordered(tasks, of).into_iter().collect::<Result<Vec<Tally>>>()?;
        let add =
            |sum: Tally, next: Tally| Tally { made: sum.made + next.made, gamma: sum.gamma + next.gamma };
        Ok(tallies.into_iter().fold(Tally::default(), add))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Partition, Quota, sample::Bound};

    /// ln Z of one row of each part, by enumeration.
    fn log_z(rows: &[Vec<f64>], labels: &[usize], parts: usize) -> f64 {
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        for part in 0..parts {
            let own: Vec<usize> = (0..rows.len()).filter(|&item| labels[item] == part).collect();
            sets = sets.iter().flat_map(|set| own.iter().map(|&item| [&set[..], &[item]].concat())).collect();
        }
        let volume = |set: &Vec<usize>| {
            let mut columns = set.iter().flat_map(|&item| rows[item].clone()).collect::<Vec<f64>>();
            crate::linalg::span::log_volume(&mut columns, rows[0].len()).exp()
        };
        sets.iter().map(volume).sum::<f64>().ln()
    }

    /// Coverage of the combined interval.
    #[test]
    fn intervals_from_halves_cover_as_often_as_they_say() {
        use rand::RngExt;
        let (parts, dims, seeds) = (6, 7, 400);
        let mut rng = stream(3, 0);
        let rows: Vec<Vec<f64>> =
            (0..18).map(|_| (0..dims).map(|_| rng.random::<f64>() - 0.4).collect()).collect();
        let labels: Vec<usize> = (0..18).map(|item| item % parts).collect();
        let features = Features::from_rows(18, dims, rows.concat()).unwrap();
        let partition = Partition::from_labels(&labels).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &Quota::each(&partition, 1).unwrap()).unwrap();
        let options = SamplerOptions::default().with_bound(Bound::Halves);
        let (law, error) = Rejection::new(&dpp, None, options, Engine::host()).unwrap();
        assert_eq!((law.bound(), law.halves_below().len() % 2), (Bound::Halves, 0));
        let expected = log_z(&rows, &labels, parts);
        let covered = |seed: &u64| {
            let options = IntervalOptions::new(0.2).with_seed(*seed);
            let found = Trials { law: &law, options, engine: Engine::host() }.interval(error).unwrap();
            found.low <= expected && expected <= found.high
        };
        let share = (0..seeds).filter(covered).count() as f64 / seeds as f64;
        assert!((0.925..=0.975).contains(&share), "{share}");
    }
}
