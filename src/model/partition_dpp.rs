//! The Partition-DPP: a DPP conditioned on its part counts.

use std::sync::Arc;

use super::{Correction, CountWeights, Counts, FreeItems, GroundSet, OpenPart, feasibility::Dependence};
use crate::{
    Error, Features, Partition, Quota, Result,
    data::check_labels,
    engine::{Items, Rows},
};

/// A DPP under a quota: diverse sets with the part counts that the quota allows.
///
/// ```text
/// Pr(S) = det(K_S) / Z   over all S with lo_l ≤ |S∩P_l| ≤ hi_l, and |S| = k if the quota has a total;   K = A Aᵀ
/// ```
///
/// Under exact counts, the scale of K and of every part's rows does not matter. Under ranges it does: a larger K
/// makes larger sets more likely, and longer rows make more items of their part likely.
///
/// If the quota leaves no choice in a part, its items are forced: `new` conditions on them.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Method, Partition, PartitionDpp, Quota};
/// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
/// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
/// let quota = Quota::new(&partition, [1, 1])?;
/// let dpp = PartitionDpp::new(&features, &partition, &quota)?;
/// let samples = dpp.sampler(Method::Auto, &Engine::cpu())?.sample_many(1000, 0);
/// assert!(samples.subsets().iter().all(|subset| subset.part_counts(&partition) == [1, 1]));
///
/// let ranges = Quota::new(&partition, [1..=2, 0..=1])?;
/// let dpp = PartitionDpp::new(&features, &partition, &ranges)?;
/// let samples = dpp.sampler(Method::Auto, &Engine::cpu())?.sample_many(1000, 0);
/// assert!(samples.subsets().iter().all(|subset| ranges.allows(&subset.part_counts(&partition))));
/// # Ok(()) }
/// ```
///
/// # Source
/// Kathuria and Deshpande, *On sampling and greedy MAP inference of constrained determinantal point processes*
/// (2016), definition 3. For general constraints on counts: Celis, Deshpande, Kathuria, Straszak and Vishnoi, *On the
/// complexity of constrained determinantal point processes* (2017).
#[derive(Clone, Debug)]
pub struct PartitionDpp {
    /// The ground set with the given conditions.
    pub(super) asked: GroundSet,
    /// The ground set with the given conditions and with the forced items included.
    pub(super) ground: GroundSet,
    pub(super) partition: Partition,
    pub(super) quota: Quota,
    pub(super) dependence: Dependence,
    pub(super) parts: Vec<OpenPart>,
    /// The total left to choose, if it is known.
    pub(super) total: Option<usize>,
    /// An upper bound on the probability of sets that the ranges allow but the rank of a kernel's factor does not.
    pub(super) beyond_rank: f64,
    /// The node budget, if it was set.
    node_budget: Option<f64>,
    /// Additional weights of part counts, if any.
    count_weights: Option<Arc<CountWeights>>,
}

impl PartitionDpp {
    /// The distribution over sets that meet the quota, with kernel A Aᵀ.
    ///
    /// # Cost
    /// Reads a few rows of every part, and all rows of a part that spans fewer dimensions than k.
    ///
    /// # Errors
    /// - [`Error::LabelCount`] if the partition and the features have different numbers of items;
    /// - [`Error::QuotaLength`], [`Error::QuotaOfOtherParts`] if the quota belongs to another partition;
    /// - [`Error::Infeasible`] if every set with the smallest counts has determinant zero, with the parts whose joint
    ///   rank is below their quota;
    /// - [`Error::SizeAboveRank`] if every set with the total has determinant zero.
    pub fn new(features: &Features, partition: &Partition, quota: &Quota) -> Result<Self> {
        check_labels(features, partition, quota)?;
        Self::over(GroundSet::new(features)?, partition, quota, Dependence::Numerical)
    }

    /// The law over a ground set that may already be conditioned.
    pub(crate) fn over(
        ground: GroundSet,
        partition: &Partition,
        quota: &Quota,
        dependence: Dependence,
    ) -> Result<Self> {
        check_labels(ground.features(), partition, quota)?;
        let dpp = Self {
            asked: ground.clone(),
            ground,
            partition: partition.clone(),
            quota: quota.clone(),
            dependence,
            parts: Vec::new(),
            total: None,
            beyond_rank: 0.0,
            node_budget: None,
            count_weights: None,
        };
        dpp.checked()
    }

    /// Conditions on the set containing these items, in addition to those required before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::DependentItems`] if their determinant is zero;
    /// - [`Error::QuotaBelowIncluded`], [`Error::SizeBelowIncluded`] if they exceed the limit of a part or the total;
    /// - [`Error::InfeasibleBeyondIncluded`], [`Error::TotalOutsideRanges`], [`Error::SizeAboveRank`] if no set with
    ///   them that meets the quota has a positive determinant.
    pub fn including(mut self, items: &[usize]) -> Result<Self> {
        if items.is_empty() {
            return Ok(self);
        }
        self.asked.include(items)?;
        self.checked()
    }

    /// Conditions on the set not containing these items, in addition to those excluded before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::QuotaAbovePartSize`], [`Error::Infeasible`], [`Error::InfeasibleBeyondIncluded`],
    ///   [`Error::TotalOutsideRanges`], [`Error::SizeAboveRank`] if too few items are left.
    pub fn excluding(mut self, items: &[usize]) -> Result<Self> {
        if items.is_empty() {
            return Ok(self);
        }
        self.asked.exclude(items)?;
        self.checked()
    }

    /// Sets the number of nodes that interpolation and inference may take, counting conjugates once.
    ///
    /// The default is [`DEFAULT_NODE_BUDGET`](crate::polynomial::DEFAULT_NODE_BUDGET).
    #[must_use]
    pub fn with_node_budget(self, node_budget: f64) -> Self {
        Self { node_budget: Some(node_budget), ..self }
    }

    /// The law whose sets are also weighted by their part counts, from 0 to the upper end of every part. Only
    /// rejection samplers and normalisers support these weights.
    pub(crate) fn with_count_weights(self, weights: CountWeights) -> Self {
        Self { count_weights: Some(Arc::new(weights)), ..self }
    }

    /// The count weights of the open parts, if any.
    pub(crate) fn count_weights(&self) -> Option<CountWeights> {
        let weights = self.count_weights.as_ref()?;
        Some(weights.of(self.parts.iter().map(|part| part.part), &self.counts().high))
    }

    /// The correction of proposals for these logarithms of part weights.
    pub(crate) fn correction(&self, log_weights: &[f64]) -> Correction {
        match self.count_weights() {
            Some(weights) => Correction::weighted(&weights, log_weights),
            None => Correction::new(&self.counts(), log_weights),
        }
    }

    /// Finds the choices left and includes the forced items; returns an error if the conditions have probability
    /// zero.
    fn checked(self) -> Result<Self> {
        let mut checked = self.with_forced_items()?;
        if checked.ground.given().is_weighted() {
            let (groups, counts) = (checked.groups(), checked.counts());
            checked.ground = checked.ground.for_choices(&groups, &counts)?;
        }
        Ok(checked)
    }

    fn with_forced_items(mut self) -> Result<Self> {
        self.ground = self.asked.clone();
        loop {
            self.find_open_parts()?;
            let full = self.parts.iter().filter(|part| part.items.len() == part.low);
            let forced: Vec<usize> = full.flat_map(|part| part.items.iter()).collect();
            if forced.is_empty() {
                return Ok(self);
            }
            let mut whole = self.ground.clone();
            match whole.include(&forced) {
                // Nearly dependent items stay free.
                Err(Error::DependentItems { .. }) if self.dependence == Dependence::Exact => return Ok(self),
                included => included?,
            }
            self.ground = whole;
            if self.quota.exact_counts().is_some() {
                // The remaining parts are unchanged and feasible.
                self.parts = self.left()?.open();
                self.total = Some(self.parts.iter().map(|part| part.low).sum());
                return Ok(self);
            }
        }
    }

    /// The same law in other coordinates.
    pub(crate) fn in_ground(&self, ground: GroundSet) -> Self {
        Self { ground, ..self.clone() }
    }

    /// The rows of the open parts.
    pub(crate) fn rows(&self) -> Rows<'_> {
        let items = self.parts.iter().map(|part| Items::from(&part.items)).collect();
        Rows::scaled(self.ground.features(), items)
    }

    /// The counts left to choose from the open parts.
    pub(crate) fn counts(&self) -> Counts {
        let (low, high): (Vec<usize>, Vec<usize>) =
            self.parts.iter().map(|part| (part.low, part.high)).unzip();
        Counts::in_ranges(&low, &high, self.total, self.ground.dims_left())
    }

    /// The number left to choose from each open part, under exact counts.
    ///
    /// # Errors
    /// [`Error::CountsNotExact`] under ranges; `what` names the operation that needs exact counts.
    pub(crate) fn exact_counts(&self, what: &'static str) -> Result<Vec<usize>> {
        match self.quota.exact_counts() {
            Some(_) => Ok(self.parts.iter().map(|part| part.low).collect()),
            None => Err(Error::CountsNotExact { what }),
        }
    }

    /// The parts from which something is left to choose.
    pub(crate) fn open(&self) -> &[OpenPart] {
        &self.parts
    }

    /// The free items of the open parts.
    pub(crate) fn groups(&self) -> Vec<FreeItems> {
        self.parts.iter().map(|part| part.items.clone()).collect()
    }

    pub(crate) fn beyond_rank(&self) -> f64 {
        self.beyond_rank
    }

    pub(crate) fn ground(&self) -> &GroundSet {
        &self.ground
    }

    /// The parts.
    #[must_use]
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The quota.
    #[must_use]
    pub fn quota(&self) -> &Quota {
        &self.quota
    }

    /// The node budget, if it was set.
    pub(crate) fn node_budget(&self) -> Option<f64> {
        self.node_budget
    }
}
