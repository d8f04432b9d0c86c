//! The probability that an unconstrained law meets a quota of many parts, by weighted draws.

use super::by_chance::{dependence, is_impossible};
use crate::{
    Dpp, Estimate, KDpp, MonteCarlo, Partition, PartitionDpp, Quota, Result, Watch, data::check_labels,
    engine::Engine, model::GroundSet, sample::EstimateOptions,
};

impl<'a> KDpp<'a> {
    /// The probability that a quota is met by chance, with any number of parts, from weighted draws.
    ///
    /// # Errors
    /// Those of [`probability_of`](KDpp::probability_of), except for budgets of nodes, and those of
    /// [`ImportanceSampler::inference`](crate::ImportanceSampler::inference).
    pub fn estimated_probability_of(
        &self,
        partition: &Partition,
        quota: &Quota,
        options: EstimateOptions,
        (engine, watch): (&'a dyn Engine, &Watch<'_>),
    ) -> Result<MonteCarlo<f64>> {
        check_labels(self.ground.features(), partition, quota)?;
        if quota.total().is_some_and(|total| total != self.size()) {
            return Ok(NEVER);
        }
        let Ok(quota) = quota.clone().with_total(self.size()) else { return Ok(NEVER) };
        let all = self.inference(engine)?.log_partition_function();
        estimated(&self.ground, (partition, &quota), all, options, (engine, watch))
    }
}

impl<'a> Dpp<'a> {
    /// The probability that a quota is met by chance, with any number of parts, from weighted draws.
    ///
    /// # Errors
    /// Those of [`KDpp::estimated_probability_of`].
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Dpp, Features, Partition, Quota, Watch, engine::Cpu, sample::EstimateOptions};
    /// let features = Features::from_rows(2, 2, vec![1.0, 0.0, 0.0, 2.0])?;
    /// let partition = Partition::from_labels(&["a", "b"])?;
    /// let quota = Quota::new(&partition, [0..=1, 1..=1])?;
    /// // Orthogonal rows are chosen independently, with probability ½ and ⅘.
    /// let (options, watch) = (EstimateOptions::default(), Watch::default());
    /// let chance = Dpp::new(&features)?.estimated_probability_of(&partition, &quota, options, (&Cpu, &watch))?;
    /// assert!((chance.value - 0.8).abs() < 5.0 * chance.standard_error);
    /// # Ok(()) }
    /// ```
    pub fn estimated_probability_of(
        &self,
        partition: &Partition,
        quota: &Quota,
        options: EstimateOptions,
        (engine, watch): (&'a dyn Engine, &Watch<'_>),
    ) -> Result<MonteCarlo<f64>> {
        check_labels(self.ground.features(), partition, quota)?;
        let all = self.inference(engine)?.log_partition_function();
        estimated(&self.ground, (partition, quota), all, options, (engine, watch))
    }
}

const NEVER: MonteCarlo<f64> = MonteCarlo { value: 0.0, standard_error: 0.0 };

/// Z of the quota, estimated, over that of the law.
fn estimated<'a>(
    ground: &GroundSet<'a>,
    (partition, quota): (&Partition, &Quota),
    all: Estimate<f64>,
    options: EstimateOptions,
    (engine, watch): (&'a dyn Engine, &Watch<'_>),
) -> Result<MonteCarlo<f64>> {
    let dpp = match PartitionDpp::over(ground.clone(), partition, quota, dependence(ground)) {
        Err(error) if is_impossible(&error) => return Ok(NEVER),
        dpp => dpp?,
    };
    let met = dpp.importance_sampler(engine)?.inference(options, watch)?.log_partition_function();
    let value = (met.value - all.value).exp().min(1.0);
    Ok(MonteCarlo { value, standard_error: value * (met.standard_error + all.error) })
}
