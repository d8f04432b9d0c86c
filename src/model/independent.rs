//! Independent k-DPPs on the parts: the baseline that ignores similarity between parts.

use super::{Conditions, Counts, FreeItems, GroundSet, Left, feasibility};
use crate::{Error, Features, Partition, Quota, Result, data::check_labels, engine::Items};

/// Independent κ_l-DPPs on the parts.
///
/// ```text
/// Pr(S) = Π_l det(K_{S∩P_l}) / e_{κ_l}(spec K_{P_l}),   |S∩P_l| = κ_l
/// ```
///
/// Sets are diverse only within each part. The law may choose near-duplicates from two parts, which a
/// [`PartitionDpp`](crate::PartitionDpp) avoids.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, IndependentKDpps, Method, Partition, Quota};
/// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
/// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
/// let quota = Quota::new(&partition, &[1, 1])?;
/// let model = IndependentKDpps::new(&features, &partition, &quota)?;
/// let subset = &model.sampler(Method::Auto, &Engine::cpu())?.sample_many(1, 0).subsets()[0].clone();
/// assert_eq!(subset.part_counts(&partition), [1, 1]);
/// # Ok(()) }
/// ```
///
/// # Source
/// Kathuria and Deshpande (2016), § 4, second baseline.
#[derive(Clone, Debug)]
pub struct IndependentKDpps {
    /// The ground set without conditions.
    pub(crate) ground: GroundSet,
    partition: Partition,
    quota: Quota,
    pub(crate) conditions: Conditions,
    pub(crate) parts: Vec<PartKDpp>,
}

/// The k-DPP of one part of an [`IndependentKDpps`], with its conditions; solvers maximise it part by part.
#[derive(Clone, Debug)]
pub struct PartKDpp {
    pub(crate) ground: GroundSet,
    pub(crate) items: FreeItems,
    pub(crate) count: usize,
}

impl IndependentKDpps {
    /// Builds one κ_l-DPP per part, with kernel A Aᵀ.
    ///
    /// # Errors
    /// - [`Error::LabelCount`] if the partition and the features have different numbers of items;
    /// - [`Error::QuotaLength`], [`Error::QuotaOfOtherParts`] if the quota belongs to another partition;
    /// - [`Error::CountsNotExact`] if the quota has ranges;
    /// - [`Error::Infeasible`] if the rank of a part is below its quota.
    pub fn new(features: &Features, partition: &Partition, quota: &Quota) -> Result<Self> {
        check_labels(features, partition, quota)?;
        if quota.exact_counts().is_none() {
            return Err(Error::CountsNotExact { what: "a k-DPP for every part" });
        }
        let (ground, conditions) = (GroundSet::new(features)?, Conditions::none(features.items()));
        let (partition, quota) = (partition.clone(), quota.clone());
        Self { ground, partition, quota, conditions, parts: Vec::new() }.checked()
    }

    /// The k-DPP of every part, in the order of [`Partition::names`].
    ///
    /// The best set is the union of the best sets of all parts ([`Solution::union`](crate::map::Solution::union)).
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, IndependentKDpps, Partition, Quota};
    /// use partition_dpp::map::{BranchAndBound, Solution, Solver};
    /// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
    /// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
    /// let quota = Quota::new(&partition, [1, 1])?;
    /// let model = IndependentKDpps::new(&features, &partition, &quota)?;
    /// let solver = BranchAndBound::default();
    /// let parts = model.parts().iter().map(|part| solver.solve(part, &Engine::cpu())).collect::<Result<Vec<_>, _>>()?;
    /// let best = Solution::union(parts).expect("there are two parts");
    /// assert_eq!(best.subset.as_slice(), [0, 3]);
    /// assert!((best.log_det - 2_f64.ln()).abs() < 1e-12);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn parts(&self) -> &[PartKDpp] {
        &self.parts
    }

    /// Conditions on the set containing these items, in addition to those required before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::DependentItems`] if the items of one part have determinant zero;
    /// - [`Error::QuotaBelowIncluded`] if they exceed the quota of a part.
    pub fn including(mut self, items: &[usize]) -> Result<Self> {
        self.conditions.include(items)?;
        self.checked()
    }

    /// Conditions on the set not containing these items, in addition to those excluded before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::QuotaAbovePartSize`], [`Error::Infeasible`] if too few items of a part are left.
    pub fn excluding(mut self, items: &[usize]) -> Result<Self> {
        self.conditions.exclude(items)?;
        self.checked()
    }

    /// Sets up the parts; returns an error if the conditions have probability zero.
    fn checked(mut self) -> Result<Self> {
        self.parts.clear();
        for left in Left::of_quota(&self.partition, &self.quota, &self.conditions)?.parts {
            let (part, count) = (left.part, left.low);
            let conditions = self.conditions.of_part(&self.partition, part);
            let ground = self.ground.under(&conditions)?;
            let items = conditions.free_members(&self.partition, part);
            let rank = feasibility::part_basis(&ground, Items::from(&items), count).len();
            if rank < count {
                let parts = vec![self.partition.names()[part].clone()];
                let (rank, quota) = (rank + conditions.included().len(), self.quota.low()[part]);
                return Err(Error::Infeasible { parts, rank, quota });
            }
            let ground = ground.for_choices(std::slice::from_ref(&items), &Counts::exactly(&[count]))?;
            self.parts.push(PartKDpp { ground, items, count });
        }
        Ok(self)
    }
}
