//! How likely a law meets a quota that it does not know of.

use super::PartCounts;
use crate::{
    Dpp, Error, Estimate, KDpp, Partition, PartitionDpp, Quota, Result,
    data::check_labels,
    engine::Engine,
    model::{GroundSet, feasibility::Dependence},
};

/// A law whose part counts are free.
trait FreeCounts<'a> {
    fn ground(&self) -> &GroundSet<'a>;
    fn log_z(&self, engine: &'a dyn Engine) -> Result<Estimate<f64>>;
    fn table(&self, partition: &Partition, engine: &dyn Engine) -> Result<PartCounts>;
}

impl<'a> FreeCounts<'a> for Dpp<'a> {
    fn ground(&self) -> &GroundSet<'a> {
        &self.ground
    }

    fn log_z(&self, engine: &'a dyn Engine) -> Result<Estimate<f64>> {
        Ok(self.inference(engine)?.log_partition_function())
    }

    fn table(&self, partition: &Partition, engine: &dyn Engine) -> Result<PartCounts> {
        self.part_counts(partition, engine)
    }
}

impl<'a> FreeCounts<'a> for KDpp<'a> {
    fn ground(&self) -> &GroundSet<'a> {
        &self.ground
    }

    fn log_z(&self, engine: &'a dyn Engine) -> Result<Estimate<f64>> {
        Ok(self.inference(engine)?.log_partition_function())
    }

    fn table(&self, partition: &Partition, engine: &dyn Engine) -> Result<PartCounts> {
        self.part_counts(partition, engine)
    }
}

impl<'a> KDpp<'a> {
    /// Probability that a quota is met by chance; 0 where it asks for another total.
    ///
    /// ```text
    /// Pr(lo_l ≤ |S∩P_l| ≤ hi_l for every l) = Z / e_k(spec K)
    /// ```
    ///
    /// # Cost
    /// That of [`PartitionDpp::inference`]: one sum over the nodes for all counts together.
    ///
    /// # Errors
    /// Those of [`PartitionDpp::new`] but for quotas that no set can meet, which have probability zero, and of
    /// [`PartitionDpp::inference`].
    pub fn probability_of(
        &self,
        partition: &Partition,
        quota: &Quota,
        engine: &'a dyn Engine,
    ) -> Result<Estimate<f64>> {
        check_labels(self.ground.features(), partition, quota)?;
        let never = Ok(Estimate { value: 0.0, error: 0.0 });
        if quota.total().is_some_and(|total| total != self.size()) {
            return never;
        }
        let Ok(quota) = quota.clone().with_total(self.size()) else { return never };
        probability_of(self, partition, &quota, engine)
    }
}

impl<'a> Dpp<'a> {
    /// Probability that a quota is met by chance, and its total if it has one.
    ///
    /// ```text
    /// Pr(lo_l ≤ |S∩P_l| ≤ hi_l for every l) = Z / det(I + K)
    /// ```
    ///
    /// # Errors
    /// Those of [`KDpp::probability_of`].
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Dpp, Features, Partition, Quota, engine};
    /// let features = Features::from_rows(2, 2, vec![1.0, 0.0, 0.0, 2.0])?;
    /// let partition = Partition::from_labels(&["a", "b"])?;
    /// let quota = Quota::new(&partition, [0..=1, 1..=1])?;
    /// // Orthogonal rows are chosen independently, with probability ½ and ⅘.
    /// let chance = Dpp::new(&features)?.probability_of(&partition, &quota, &engine::Cpu)?;
    /// assert!((chance.value - 0.8).abs() < 1e-12);
    /// # Ok(()) }
    /// ```
    pub fn probability_of(
        &self,
        partition: &Partition,
        quota: &Quota,
        engine: &'a dyn Engine,
    ) -> Result<Estimate<f64>> {
        check_labels(self.ground.features(), partition, quota)?;
        probability_of(self, partition, quota, engine)
    }
}

/// Z of the quota over that of the law.
fn probability_of<'a>(
    law: &impl FreeCounts<'a>,
    partition: &Partition,
    quota: &Quota,
    engine: &'a dyn Engine,
) -> Result<Estimate<f64>> {
    let ground = law.ground();
    let dpp = match PartitionDpp::over(ground.clone(), partition, quota, dependence(ground)) {
        Err(error) if is_impossible(&error) => return never(law, engine),
        // All items of a part, in a kernel whose factor does not tell them apart.
        Err(error @ Error::DependentItems { .. }) => {
            return next_to_nothing(law, partition, quota, engine, error);
        }
        dpp => dpp?,
    };
    let met = match dpp.inference(engine).map(|inference| inference.log_partition_function()) {
        Err(error @ (Error::SizeAboveRank { .. } | Error::IllConditioned { .. })) => {
            return next_to_nothing(law, partition, quota, engine, error);
        }
        met => met?,
    };
    let all = law.log_z(engine)?;
    let value = (met.value - all.value).exp().min(1.0);
    Ok(Estimate { value, error: value * (met.error + all.error) })
}

/// Of sets that are hardly there, and so have no law of their own, from the table of all counts; `error` where there
/// is none.
fn next_to_nothing<'a>(
    law: &impl FreeCounts<'a>,
    partition: &Partition,
    quota: &Quota,
    engine: &'a dyn Engine,
    error: Error,
) -> Result<Estimate<f64>> {
    match law.table(partition, engine) {
        Ok(table) => Ok(from_table(&table, quota)),
        Err(ended @ Error::Ended(_)) => Err(ended),
        Err(_) => Err(error),
    }
}

fn from_table(table: &PartCounts, quota: &Quota) -> Estimate<f64> {
    let (value, terms) = match quota.exact_counts() {
        Some(counts) => (table.probability(counts), 1),
        None => (table.probability_within(quota), table.entries().len()),
    };
    Estimate { value, error: terms as f64 * table.error() }
}

/// Whether no set has such counts, or none of them a determinant.
fn is_impossible(error: &Error) -> bool {
    matches!(
        error,
        Error::Infeasible { .. }
            | Error::InfeasibleBeyondIncluded { .. }
            | Error::QuotaBelowIncluded { .. }
            | Error::QuotaAbovePartSize { .. }
            | Error::SizeBelowIncluded { .. }
            | Error::SizeAboveRank { .. }
            | Error::TotalOutsideRanges { .. }
    )
}

/// When the rows of the factor of a kernel are dependent in K cannot be told from all of their digits.
fn dependence(ground: &GroundSet<'_>) -> Dependence {
    if ground.given().residual().is_some() { Dependence::Numerical } else { Dependence::Exact }
}

/// Probability 0; for the factor of a kernel as far as what it leaves out allows.
fn never<'a>(law: &impl FreeCounts<'a>, engine: &'a dyn Engine) -> Result<Estimate<f64>> {
    let is_factor = law.ground().given().residual().is_some();
    let error = if is_factor { law.log_z(engine)?.error.min(1.0) } else { 0.0 };
    Ok(Estimate { value: 0.0, error })
}
