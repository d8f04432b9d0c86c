//! The probability that part counts lie in ranges.

use super::{PartCounts, by_chance};
use crate::{Dpp, Estimate, KDpp, Partition, RangeQuota, Result, data::check_partition, engine::Engine};

impl PartCounts {
    /// Probability that the counts are any that the ranges allow.
    #[must_use]
    pub fn probability_within(&self, quota: &RangeQuota) -> f64 {
        let allowed = self.entries.iter().filter(|(counts, _)| quota.allows(counts));
        allowed.map(|(_, probability)| probability).sum::<f64>().min(1.0)
    }
}

impl<'a> KDpp<'a> {
    /// Probability that ranges are met by chance; 0 where they ask for another total.
    ///
    /// ```text
    /// Pr(lo_l ≤ |S∩P_l| ≤ hi_l for every l) = Z / e_k(spec K)
    /// ```
    ///
    /// # Cost
    /// That of [`RangeDpp::inference`](crate::RangeDpp::inference): one sum over the nodes for all counts together.
    ///
    /// # Errors
    /// Those of [`RangeDpp::new`](crate::RangeDpp::new) but for ranges that no set can meet, which have probability
    /// zero, and of [`RangeDpp::inference`](crate::RangeDpp::inference).
    pub fn range_probability(
        &self,
        partition: &'a Partition,
        quota: &RangeQuota,
        engine: &'a dyn Engine,
    ) -> Result<Estimate<f64>> {
        check_partition(self.ground.features(), partition)?;
        quota.check(partition)?;
        let never = Ok(Estimate { value: 0.0, error: 0.0 });
        if quota.total().is_some_and(|total| total != self.size()) {
            return never;
        }
        let Ok(quota) = quota.clone().with_total(self.size()) else { return never };
        by_chance::of_ranges(self, partition, &quota, engine)
    }
}

impl<'a> Dpp<'a> {
    /// Probability that ranges are met by chance, and the total if they have one.
    ///
    /// ```text
    /// Pr(lo_l ≤ |S∩P_l| ≤ hi_l for every l) = Z / det(I + K)
    /// ```
    ///
    /// # Errors
    /// Those of [`KDpp::range_probability`].
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Dpp, Features, Partition, RangeQuota, engine};
    /// let features = Features::from_rows(2, 2, vec![1.0, 0.0, 0.0, 2.0])?;
    /// let partition = Partition::from_labels(&["a", "b"])?;
    /// let quota = RangeQuota::new(&partition, &[0..=1, 1..=1])?;
    /// // Orthogonal rows are chosen independently, with probability ½ and ⅘.
    /// let chance = Dpp::new(&features)?.range_probability(&partition, &quota, &engine::Cpu)?;
    /// assert!((chance.value - 0.8).abs() < 1e-12);
    /// # Ok(()) }
    /// ```
    pub fn range_probability(
        &self,
        partition: &'a Partition,
        quota: &RangeQuota,
        engine: &'a dyn Engine,
    ) -> Result<Estimate<f64>> {
        by_chance::of_ranges(self, partition, quota, engine)
    }
}
