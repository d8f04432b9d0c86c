//! The probability that an unconstrained law meets a quota of many parts, estimated by weighted draws.

use super::by_chance::{dependence, is_impossible};
use crate::{
    Dpp, Estimate, KDpp, MonteCarlo, Partition, PartitionDpp, Quota, Result, Watch,
    data::check_labels,
    engine::Engine,
    model::GroundSet,
    sample::{EstimateOptions, WeightStatistics},
    watch::Ended,
};

/// The probability that a quota is met by chance, estimated from weighted draws.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct EstimatedProbability {
    /// The probability and its standard error.
    pub probability: MonteCarlo<f64>,
    /// Statistics of the draws that estimate ln Z under the quota; `None` if no set can meet the quota.
    pub statistics: Option<WeightStatistics>,
    /// The reason why there are fewer draws than the requested standard error needs, if a [`Watch`] ended them.
    pub ended: Option<Ended>,
}

impl KDpp {
    /// The probability that a quota is met by chance, with any number of parts, from weighted draws.
    ///
    /// # Errors
    /// The errors of [`probability_of`](KDpp::probability_of), except for node budgets, and the errors of
    /// [`ImportanceSampler::inference`](crate::ImportanceSampler::inference).
    pub fn estimated_probability_of(
        &self,
        partition: &Partition,
        quota: &Quota,
        options: EstimateOptions,
        engine: &Engine,
        watch: &Watch,
    ) -> Result<EstimatedProbability> {
        check_labels(self.ground.features(), partition, quota)?;
        if quota.total().is_some_and(|total| total != self.size()) {
            return Ok(NEVER);
        }
        let Ok(quota) = quota.clone().with_total(self.size()) else { return Ok(NEVER) };
        let all = self.inference(engine)?.log_partition_function();
        estimated(&self.ground, (partition, &quota), all, options, (engine, watch))
    }
}

impl Dpp {
    /// The probability that a quota is met by chance, with any number of parts, from weighted draws.
    ///
    /// # Errors
    /// The errors of [`KDpp::estimated_probability_of`].
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Dpp, Engine, Features, Partition, Quota, Watch, sample::EstimateOptions};
    /// let features = Features::from_rows(2, 2, vec![1.0, 0.0, 0.0, 2.0])?;
    /// let partition = Partition::from_labels(&["a", "b"])?;
    /// let quota = Quota::new(&partition, [0..=1, 1..=1])?;
    /// // Orthogonal rows are chosen independently, with probability ½ and ⅘.
    /// let (options, watch) = (EstimateOptions::default(), Watch::default());
    /// let chance = Dpp::new(&features)?.estimated_probability_of(&partition, &quota, options, &Engine::cpu(), &watch)?;
    /// let found = chance.probability;
    /// assert!((found.value - 0.8).abs() < 5.0 * found.standard_error);
    /// # Ok(()) }
    /// ```
    pub fn estimated_probability_of(
        &self,
        partition: &Partition,
        quota: &Quota,
        options: EstimateOptions,
        engine: &Engine,
        watch: &Watch,
    ) -> Result<EstimatedProbability> {
        check_labels(self.ground.features(), partition, quota)?;
        let all = self.inference(engine)?.log_partition_function();
        estimated(&self.ground, (partition, quota), all, options, (engine, watch))
    }
}

const NEVER: EstimatedProbability = EstimatedProbability {
    probability: MonteCarlo { value: 0.0, standard_error: 0.0 },
    statistics: None,
    ended: None,
};

/// The estimate of Z under the quota, divided by Z of the law.
fn estimated(
    ground: &GroundSet,
    (partition, quota): (&Partition, &Quota),
    all: Estimate<f64>,
    options: EstimateOptions,
    (engine, watch): (&Engine, &Watch),
) -> Result<EstimatedProbability> {
    let dpp = match PartitionDpp::over(ground.clone(), partition, quota, dependence(ground)) {
        Err(error) if is_impossible(&error) => return Ok(NEVER),
        dpp => dpp?,
    };
    let met = dpp.importance_sampler(engine)?.inference(options, watch)?;
    let log_z = met.log_partition_function();
    let value = (log_z.value - all.value).exp().min(1.0);
    let probability = MonteCarlo { value, standard_error: value * (log_z.standard_error + all.error) };
    Ok(EstimatedProbability { probability, statistics: Some(met.statistics()), ended: met.ended() })
}
