//! How likely a law meets a quota, or ranges, that it does not know of.

use super::PartCounts;
use crate::{
    Dpp, Error, Estimate, KDpp, Partition, PartitionDpp, Quota, RangeDpp, RangeQuota, Result,
    data::{GroundSet, check_labels, check_partition},
    engine::Engine,
    polynomial::feasibility::Dependence,
};

/// A law whose part counts are free.
pub(super) trait FreeCounts<'a> {
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

/// Z of the quota over that of the law.
pub(super) fn of_quota<'a>(
    law: &impl FreeCounts<'a>,
    partition: &'a Partition,
    quota: &'a Quota,
    engine: &'a dyn Engine,
) -> Result<Estimate<f64>> {
    let ground = law.ground();
    check_labels(ground.features(), partition, quota)?;
    let dpp = match PartitionDpp::over(ground.clone(), partition, quota, dependence(ground)) {
        Err(error) if is_impossible(&error) => return never(law, engine),
        dpp => dpp?,
    };
    let met = dpp.inference(engine).map(|inference| inference.log_partition_function());
    let from_table = |table: PartCounts| (table.probability(quota.counts()), 1);
    share(law, met, partition, engine, from_table)
}

/// Z of the ranges over that of the law.
pub(super) fn of_ranges<'a>(
    law: &impl FreeCounts<'a>,
    partition: &'a Partition,
    quota: &RangeQuota,
    engine: &'a dyn Engine,
) -> Result<Estimate<f64>> {
    let ground = law.ground();
    check_partition(ground.features(), partition)?;
    quota.check(partition)?;
    let dpp = match RangeDpp::over(ground.clone(), partition, quota, dependence(ground)) {
        Err(error) if is_impossible(&error) => return never(law, engine),
        dpp => dpp?,
    };
    let met = dpp.inference(engine).map(|inference| inference.log_partition_function());
    let from_table = |table: PartCounts| (table.probability_within(quota), table.entries().len());
    share(law, met, partition, engine, from_table)
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

fn share<'a>(
    law: &impl FreeCounts<'a>,
    met: Result<Estimate<f64>>,
    partition: &Partition,
    engine: &'a dyn Engine,
    from_table: impl FnOnce(PartCounts) -> (f64, usize),
) -> Result<Estimate<f64>> {
    let met = match met {
        Err(error @ (Error::SizeAboveRank { .. } | Error::IllConditioned { .. })) => {
            // Sets that are hardly there have no law of their own, but a probability next to nothing.
            return match law.table(partition, engine) {
                Ok(table) => {
                    let each = table.error();
                    let (value, terms) = from_table(table);
                    Ok(Estimate { value, error: terms as f64 * each })
                }
                Err(ended @ Error::Ended(_)) => Err(ended),
                Err(_) => Err(error),
            };
        }
        met => met?,
    };
    let all = law.log_z(engine)?;
    let value = (met.value - all.value).exp().min(1.0);
    Ok(Estimate { value, error: value * (met.error + all.error) })
}

/// Probability 0; for the factor of a kernel as far as what it leaves out allows.
fn never<'a>(law: &impl FreeCounts<'a>, engine: &'a dyn Engine) -> Result<Estimate<f64>> {
    let is_factor = law.ground().given().residual().is_some();
    let error = if is_factor { law.log_z(engine)?.error.min(1.0) } else { 0.0 };
    Ok(Estimate { value: 0.0, error })
}
