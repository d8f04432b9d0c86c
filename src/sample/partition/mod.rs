//! The Partition-DPP: a DPP conditioned on its part counts.

mod tilted_rejection;

pub(crate) use tilted_rejection::TiltedRejection;
pub use tilted_rejection::expected_proposals;

use super::{Law, Projection, Sampler};
use crate::{
    Error, Features, Partition, Quota, Result,
    data::{check_labels, compress_if_wide},
    engine::{Engine, Items},
    polynomial::feasibility::{self, Violation},
};

/// Proposals per sample that [`Method::Auto`] accepts to promise, on average.
pub const DEFAULT_PROPOSAL_BUDGET: f64 = 1e7;

/// How to draw from a Partition-DPP. Every method is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Tilted rejection, refused if it promises to need more proposals than the budget. Never
    /// turns approximate.
    #[default]
    Auto,
    /// Tilted rejection, whatever it costs.
    Rejection,
}

/// A DPP under quotas: κ_l items of part l, as diverse as possible.
///
/// ```text
/// Pr(S) = det(K_S) / Z_κ   over all S with |S∩P_l| = κ_l,   K = A Aᵀ
/// ```
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, Method, Partition, PartitionDpp, Quota, engine};
/// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
/// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
/// let quota = Quota::new(&partition, &[1, 1])?;
/// let dpp = PartitionDpp::new(&features, &partition, &quota)?;
/// let sampler = dpp.sampler(Method::Auto, &engine::Cpu)?;
/// let samples = sampler.sample_many(1000, 0);
/// assert!(samples.subsets().iter().all(|subset| subset.part_counts(&partition) == [1, 1]));
/// assert!(samples.acceptance_observed() > 0.4);
/// # Ok(()) }
/// ```
///
/// # Source
/// Kathuria and Deshpande, *On sampling and greedy MAP inference of constrained determinantal
/// point processes* (2016), definition 3.
#[derive(Clone, Debug)]
pub struct PartitionDpp<'a> {
    features: Features<'a>,
    partition: &'a Partition,
    quota: &'a Quota,
    projection: Projection,
    proposal_budget: f64,
}

impl<'a> PartitionDpp<'a> {
    /// The law over sets that meet the quota, with kernel A Aᵀ.
    ///
    /// # Cost
    /// A few rows of every part, unless a part spans fewer dimensions than k: then all its rows.
    ///
    /// # Errors
    /// - [`Error::LabelCount`] if partition and features have different numbers of items;
    /// - [`Error::QuotaLength`], [`Error::QuotaOfOtherParts`] if the quota belongs to another partition;
    /// - [`Error::Infeasible`] if every set with the quota has determinant zero, naming the
    ///   parts whose joint rank is below what the quota asks of them.
    pub fn new(features: &Features<'a>, partition: &'a Partition, quota: &'a Quota) -> Result<Self> {
        check_labels(features, partition, quota)?;
        let features = compress_if_wide(features)?;
        let active: Vec<usize> = active_parts(quota).collect();
        let bases: Vec<_> = active
            .iter()
            .map(|&part| {
                feasibility::part_basis(&features, Items::Listed(partition.members(part)), quota.total())
            })
            .collect();
        let counts: Vec<usize> = active.iter().map(|&part| quota.counts()[part]).collect();
        feasibility::check(&bases, &counts, features.dims()).map_err(
            |Violation { parts, rank, quota }| {
                let parts = parts.into_iter().map(|at| partition.names()[active[at]].clone()).collect();
                Error::Infeasible { parts, rank, quota }
            },
        )?;
        Ok(Self {
            features,
            partition,
            quota,
            projection: Projection::default(),
            proposal_budget: DEFAULT_PROPOSAL_BUDGET,
        })
    }

    /// Chooses how items are picked once the eigenvectors are chosen.
    #[must_use]
    pub fn with_projection(self, projection: Projection) -> Self {
        Self { projection, ..self }
    }

    /// Sets the proposals per sample that [`Method::Auto`] may promise to need, on average
    /// ([`DEFAULT_PROPOSAL_BUDGET`] unless set).
    #[must_use]
    pub fn with_proposal_budget(self, proposal_budget: f64) -> Self {
        Self { proposal_budget, ..self }
    }

    /// Set-up of an exact sampler.
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each; two more for every six digits that A is worse conditioned
    /// than 1e3), O(pn³)
    /// per step of the tilt, 24 bytes per item. Per draw: [`expected_proposals`] on average at
    /// most, each O(k·n·r) whatever the number of items.
    ///
    /// # Errors
    /// - [`Error::ProposalBudget`] from [`Method::Auto`], with the number of proposals;
    /// - [`Error::Eigen`], [`Error::SizeAboveRank`] where the rank shows only at f64's accuracy,
    ///   and those of the engine.
    pub fn sampler(&self, method: Method, engine: &dyn Engine) -> Result<Sampler<'a>> {
        let (expected, budget) = (expected_proposals(self.quota), self.proposal_budget);
        if method == Method::Auto && expected > budget {
            return Err(Error::ProposalBudget { expected, budget });
        }
        let law = TiltedRejection::new(engine, &self.features, self.partition, self.quota, self.projection)?;
        let error = law.error;
        Ok(Sampler::new(Law::TiltedRejection(law), engine.info(), error))
    }
}

/// Parts that the quota asks something of.
pub(super) fn active_parts(quota: &Quota) -> impl Iterator<Item = usize> {
    quota.counts().iter().enumerate().filter(|(_, count)| **count > 0).map(|(part, _)| part)
}
