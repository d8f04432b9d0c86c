//! The probability that an unconstrained law meets a quota.

use super::PartCounts;
use crate::{
    Dpp, Error, Estimate, KDpp, Partition, PartitionDpp, Quota, Result,
    data::check_labels,
    engine::Engine,
    model::{GroundSet, feasibility::Dependence},
};

/// A law whose part counts are unconstrained.
struct FreeCounts<'l> {
    ground: &'l GroundSet,
    log_z: &'l dyn Fn() -> Result<Estimate<f64>>,
    table: &'l dyn Fn() -> Result<PartCounts>,
}

impl KDpp {
    /// The probability that a quota is met by chance; 0 if the quota has another total.
    ///
    /// ```text
    /// Pr(lo_l ≤ |S∩P_l| ≤ hi_l for every l) = Z / e_k(spec K)
    /// ```
    ///
    /// # Cost
    /// The cost of [`PartitionDpp::inference`]: one sum over the nodes for all counts together.
    ///
    /// # Errors
    /// The errors of [`PartitionDpp::new`] and [`PartitionDpp::inference`], except for quotas that no set can meet,
    /// whose probability is zero.
    pub fn probability_of(
        &self,
        partition: &Partition,
        quota: &Quota,
        engine: &Engine,
    ) -> Result<Estimate<f64>> {
        check_labels(self.ground.features(), partition, quota)?;
        let never = Ok(Estimate { value: 0.0, error: 0.0 });
        if quota.total().is_some_and(|total| total != self.size()) {
            return never;
        }
        let Ok(quota) = quota.clone().with_total(self.size()) else { return never };
        let law = FreeCounts {
            ground: &self.ground,
            log_z: &|| Ok(self.inference(engine)?.log_partition_function()),
            table: &|| self.part_counts(partition, engine),
        };
        law.probability_of(partition, &quota, engine)
    }
}

impl Dpp {
    /// The probability that a quota is met by chance, including its total if it has one.
    ///
    /// ```text
    /// Pr(lo_l ≤ |S∩P_l| ≤ hi_l for every l) = Z / det(I + K)
    /// ```
    ///
    /// # Errors
    /// The errors of [`KDpp::probability_of`].
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Dpp, Engine, Features, Partition, Quota};
    /// let features = Features::from_rows(2, 2, vec![1.0, 0.0, 0.0, 2.0])?;
    /// let partition = Partition::from_labels(&["a", "b"])?;
    /// let quota = Quota::new(&partition, [0..=1, 1..=1])?;
    /// // Orthogonal rows are chosen independently, with probability ½ and ⅘.
    /// let chance = Dpp::new(&features)?.probability_of(&partition, &quota, &Engine::cpu())?;
    /// assert!((chance.value - 0.8).abs() < 1e-12);
    /// # Ok(()) }
    /// ```
    pub fn probability_of(
        &self,
        partition: &Partition,
        quota: &Quota,
        engine: &Engine,
    ) -> Result<Estimate<f64>> {
        check_labels(self.ground.features(), partition, quota)?;
        let law = FreeCounts {
            ground: &self.ground,
            log_z: &|| Ok(self.inference(engine)?.log_partition_function()),
            table: &|| self.part_counts(partition, engine),
        };
        law.probability_of(partition, quota, engine)
    }
}

impl FreeCounts<'_> {
    /// Z under the quota, divided by Z of the law.
    fn probability_of(&self, partition: &Partition, quota: &Quota, engine: &Engine) -> Result<Estimate<f64>> {
        let dpp = match PartitionDpp::over(self.ground.clone(), partition, quota, dependence(self.ground)) {
            Err(error) if is_impossible(&error) => return self.never(),
            // All items of a part are forced, but the factor of the kernel cannot distinguish them.
            Err(error @ Error::DependentItems { .. }) => return self.tabulated(quota, error),
            dpp => dpp?,
        };
        let met = match dpp.log_partition_function(engine) {
            Err(error @ (Error::SizeAboveRank { .. } | Error::IllConditioned { .. })) => {
                return self.tabulated(quota, error);
            }
            met => met?,
        };
        let all = (self.log_z)()?;
        let value = (met.value - all.value).exp().min(1.0);
        Ok(Estimate { value, error: value * (met.error + all.error) })
    }

    /// The probability from the table of all counts, for sets so unlikely that their own law cannot be computed;
    /// returns `error` if there is no table.
    fn tabulated(&self, quota: &Quota, error: Error) -> Result<Estimate<f64>> {
        match (self.table)() {
            Ok(table) => Ok(from_table(&table, quota)),
            Err(ended @ Error::Ended(_)) => Err(ended),
            Err(_) => Err(error),
        }
    }

    /// Probability 0. Its error covers dimensions of the kernel that the factor leaves out.
    fn never(&self) -> Result<Estimate<f64>> {
        let is_factor = self.ground.given().residual().is_some();
        let error = if is_factor { (self.log_z)()?.error.min(1.0) } else { 0.0 };
        Ok(Estimate { value: 0.0, error })
    }
}

fn from_table(table: &PartCounts, quota: &Quota) -> Estimate<f64> {
    let (value, terms) = match quota.exact_counts() {
        Some(counts) => (table.probability(counts), 1),
        None => (table.probability_within(quota), table.entries().len()),
    };
    Estimate { value, error: terms as f64 * table.error() }
}

/// Whether no set has such counts, or every such set has determinant zero.
pub(super) fn is_impossible(error: &Error) -> bool {
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

/// Exact dependence of a kernel factor's rows does not imply dependence in the kernel.
pub(super) fn dependence(ground: &GroundSet) -> Dependence {
    if ground.given().residual().is_some() { Dependence::Numerical } else { Dependence::Exact }
}
