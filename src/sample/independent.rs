//! One k-DPP per part, independent of each other: the baseline that ignores similarity across
//! parts.

use super::{Law, Projection, Sampler, k_dpp::KDppLaw};
use crate::{
    Error, Features, Partition, Quota, Result, Subset,
    data::{FreeItems, GroundSet, check_labels},
    engine::{Engine, Items},
    polynomial::feasibility,
};

/// Independent κ_l-DPPs on the parts.
///
/// ```text
/// Pr(S) = Π_l det(K_{S∩P_l}) / e_{κ_l}(spec K_{P_l}),   |S∩P_l| = κ_l
/// ```
///
/// Diverse inside each part, blind across parts: it may choose near-duplicates from two parts,
/// which a [`PartitionDpp`](crate::PartitionDpp) avoids.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, IndependentKDpps, Partition, Quota, engine};
/// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
/// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
/// let quota = Quota::new(&partition, &[1, 1])?;
/// let model = IndependentKDpps::new(&features, &partition, &quota)?;
/// let subset = &model.sampler(&engine::Cpu)?.sample_many(1, 0).subsets()[0].clone();
/// assert_eq!(subset.part_counts(&partition), [1, 1]);
/// # Ok(()) }
/// ```
///
/// # Source
/// Kathuria and Deshpande (2016), § 4, the second baseline.
#[derive(Clone, Debug)]
pub struct IndependentKDpps<'a> {
    /// Without conditions.
    pub(super) ground: GroundSet<'a>,
    partition: &'a Partition,
    quota: &'a Quota,
    included: Vec<usize>,
    excluded: Vec<usize>,
    pub(super) parts: Vec<Part<'a>>,
    pub(super) projection: Projection,
}

/// What is left to choose from one part.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    pub(super) ground: GroundSet<'a>,
    pub(super) items: FreeItems<'a>,
    pub(super) count: usize,
}

impl<'a> IndependentKDpps<'a> {
    /// One κ_l-DPP per part, with kernel A Aᵀ.
    ///
    /// # Errors
    /// - [`Error::LabelCount`] if partition and features have different numbers of items;
    /// - [`Error::QuotaLength`], [`Error::QuotaOfOtherParts`] if the quota belongs to another partition;
    /// - [`Error::Infeasible`] for a part whose rank is below its quota.
    pub fn new(features: &Features<'a>, partition: &'a Partition, quota: &'a Quota) -> Result<Self> {
        check_labels(features, partition, quota)?;
        let ground = GroundSet::new(features)?;
        let (included, excluded, parts) = (Vec::new(), Vec::new(), Vec::new());
        let projection = Projection::default();
        Self { ground, partition, quota, included, excluded, parts, projection }.checked()
    }

    /// Conditions on these items being in the set, besides those required before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::DependentItems`] if those of one part have determinant zero;
    /// - [`Error::QuotaBelowIncluded`] if they are more than the quota of a part.
    pub fn including(mut self, items: &[usize]) -> Result<Self> {
        Subset::new(items.to_vec(), self.partition.items())?;
        self.included.extend_from_slice(items);
        self.included.sort_unstable();
        self.included.dedup();
        self.checked()
    }

    /// Conditions on these items not being in the set, besides those excluded before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::QuotaAbovePartSize`], [`Error::Infeasible`] if too little of a part is left.
    pub fn excluding(mut self, items: &[usize]) -> Result<Self> {
        Subset::new(items.to_vec(), self.partition.items())?;
        self.excluded.extend_from_slice(items);
        self.excluded.sort_unstable();
        self.excluded.dedup();
        self.checked()
    }

    /// Sets up the parts and refuses what has probability zero.
    fn checked(mut self) -> Result<Self> {
        self.parts.clear();
        for part in 0..self.partition.parts() {
            let of_part = |item: &&usize| self.partition.part_of(**item) == part;
            let included: Vec<usize> = self.included.iter().filter(of_part).copied().collect();
            let excluded: Vec<usize> = self.excluded.iter().filter(of_part).copied().collect();
            let mut ground = self.ground.clone();
            ground.include(&included)?;
            ground.exclude(&excluded)?;
            let items = ground.free_members(self.partition.members(part));
            let quota = self.quota.counts()[part];
            let count =
                super::partition::free_count(self.partition, part, quota, included.len(), items.len())?;
            let rank = feasibility::part_basis(&ground, Items::from(&items), count).len();
            if rank < count {
                let parts = vec![self.partition.names()[part].clone()];
                return Err(Error::Infeasible { parts, rank: rank + included.len(), quota });
            }
            self.parts.push(Part { ground, items, count });
        }
        Ok(self)
    }

    /// Chooses how items are picked once the eigenvectors are chosen.
    #[must_use]
    pub fn with_projection(self, projection: Projection) -> Self {
        Self { projection, ..self }
    }

    /// Set-up of the exact sampler.
    ///
    /// # Cost
    /// As one [`KDpp`](crate::KDpp) per part; with leverage trials 24 bytes per item.
    ///
    /// # Errors
    /// Those of [`KDpp::sampler`](crate::KDpp::sampler).
    pub fn sampler(&self, engine: &'a dyn Engine) -> Result<Sampler<'a>> {
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let included: Vec<u32> = self.included.iter().map(|&item| item as u32).collect();
        if self.parts.iter().all(|part| part.count == 0) {
            return Ok(Sampler::settled(&included, engine));
        }
        let open = self.parts.iter().filter(|part| part.count > 0);
        let law =
            |part: &Part<'a>| KDppLaw::new(engine, &part.ground, &part.items, part.count, self.projection);
        let laws = open.map(law).collect::<Result<Vec<_>>>()?;
        let error = laws.iter().map(|law| law.error).sum();
        Ok(Sampler::new(Law::Independent(laws), &included, engine, error))
    }
}
