//! One k-DPP per part, independent of each other: the baseline that ignores similarity across
//! parts.

use super::{Law, Projection, Sampler, k_dpp::KDppLaw};
use crate::{
    Error, Features, Partition, Quota, Result,
    data::{check_labels, compress_if_wide},
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
    features: Features<'a>,
    partition: &'a Partition,
    quota: &'a Quota,
    projection: Projection,
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
        let features = compress_if_wide(features)?;
        for (part, &count) in quota.counts().iter().enumerate() {
            let items = Items::Listed(partition.members(part));
            let rank = feasibility::part_basis(&features, items, count).len();
            if rank < count {
                let parts = vec![partition.names()[part].clone()];
                return Err(Error::Infeasible { parts, rank, quota: count });
            }
        }
        Ok(Self { features, partition, quota, projection: Projection::default() })
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
    pub fn sampler(&self, engine: &dyn Engine) -> Result<Sampler<'a>> {
        let mut laws = Vec::new();
        for (part, &count) in self.quota.counts().iter().enumerate().filter(|(_, count)| **count > 0) {
            let items = Items::Listed(self.partition.members(part));
            laws.push(KDppLaw::new(engine, &self.features, items, count, self.projection)?);
        }
        let error = laws.iter().map(|law| law.error).sum();
        Ok(Sampler::new(Law::Independent(laws), engine.info(), error))
    }
}
