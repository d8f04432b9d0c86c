//! The Partition-DPP: a DPP conditioned on its part counts.

mod conditionals;
mod interpolation;
mod item_nodes;
mod per_candidate;
mod plan;
mod row_nodes;
mod stage;
mod tilted_rejection;

pub use conditionals::Conditionals;
pub(crate) use interpolation::Interpolation;
pub(crate) use per_candidate::PerCandidate;
pub use plan::{Choice, Method, Plan};
pub use tilted_rejection::expected_proposals;
pub(crate) use tilted_rejection::{TiltedRejection, expected_proposals_of};

use super::{Law, McmcOptions, Projection, Sampler, mcmc::UNKNOWN_ERROR};
use crate::{
    Error, Features, Partition, Quota, Result,
    data::{FreeItems, GroundSet, accurately, check_labels},
    engine::{Cpu, Engine, Items, Rows},
    inference::default_node_budget,
    linalg::Grading,
    polynomial::{
        feasibility::{self, Dependence, Violation},
        spectrum::TiltedSpectrum,
        tilt::homogeneous_tilt,
    },
};

/// Proposals per sample that [`Method::Auto`] accepts to promise, on average.
pub const DEFAULT_PROPOSAL_BUDGET: f64 = 1e7;

/// A DPP under quotas: κ_l items of part l, as diverse as possible.
///
/// ```text
/// Pr(S) = det(K_S) / Z_κ   over all S with |S∩P_l| = κ_l,   K = A Aᵀ
/// ```
///
/// Parts whose every item the quota asks for are settled when the model is made: their items are
/// included, and the law conditioned on them.
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
    /// As the user conditioned it, …
    asked: GroundSet<'a>,
    /// … and with the items of full parts included.
    ground: GroundSet<'a>,
    partition: &'a Partition,
    quota: &'a Quota,
    dependence: Dependence,
    parts: Vec<OpenPart<'a>>,
    projection: Projection,
    proposal_budget: f64,
    /// As set by the user.
    node_budget: Option<f64>,
}

/// A part that something is left to choose from.
#[derive(Clone, Debug)]
pub(crate) struct OpenPart<'a> {
    pub(crate) part: usize,
    pub(crate) items: FreeItems<'a>,
    pub(crate) count: usize,
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
        Self::over(GroundSet::new(features)?, partition, quota, Dependence::Numerical)
    }

    /// The law over a ground set that may be conditioned already.
    pub(crate) fn over(
        ground: GroundSet<'a>,
        partition: &'a Partition,
        quota: &'a Quota,
        dependence: Dependence,
    ) -> Result<Self> {
        check_labels(ground.features(), partition, quota)?;
        let dpp = Self {
            asked: ground.clone(),
            ground,
            partition,
            quota,
            dependence,
            parts: Vec::new(),
            projection: Projection::default(),
            proposal_budget: DEFAULT_PROPOSAL_BUDGET,
            node_budget: None,
        };
        dpp.checked()
    }

    /// Conditions on these items being in the set, besides those required before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::DependentItems`] if their determinant is zero;
    /// - [`Error::QuotaBelowIncluded`] if they are more than the quota of a part;
    /// - [`Error::InfeasibleBeyondIncluded`] if no set with them and the quota has a positive determinant.
    pub fn including(mut self, items: &[usize]) -> Result<Self> {
        if items.is_empty() {
            return Ok(self);
        }
        self.asked.include(items)?;
        self.checked()
    }

    /// Conditions on these items not being in the set, besides those excluded before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::QuotaAbovePartSize`], [`Error::Infeasible`], [`Error::InfeasibleBeyondIncluded`] if too
    ///   little is left.
    pub fn excluding(mut self, items: &[usize]) -> Result<Self> {
        if items.is_empty() {
            return Ok(self);
        }
        self.asked.exclude(items)?;
        self.checked()
    }

    /// Finds what is left to choose, refuses what has probability zero, settles full parts.
    fn checked(mut self) -> Result<Self> {
        self.ground = self.asked.clone();
        self.parts = self.open_parts()?;
        let limit = self.parts.iter().map(|part| part.count).sum();
        let basis =
            |part: &OpenPart<'_>| feasibility::part_basis(&self.ground, Items::from(&part.items), limit);
        let bases: Vec<_> = self.parts.iter().map(basis).collect();
        let check = feasibility::check(&bases, &self.free_counts(), self.ground.dims_left());
        if let Err(violation) = check
            && (self.dependence == Dependence::Numerical || self.is_exact(&violation))
        {
            return Err(self.infeasible(violation));
        }
        let full = self.parts.iter().filter(|part| part.items.len() == part.count);
        let settled: Vec<usize> = full.flat_map(|part| Items::from(&part.items).iter()).collect();
        let mut whole = self.ground.clone();
        match whole.include(&settled) {
            // Nearly dependent ones are left to be chosen.
            Err(Error::DependentItems { .. }) if self.dependence == Dependence::Exact => {}
            included => {
                included?;
                self.ground = whole;
                self.parts = self.open_parts()?;
            }
        }
        Ok(self)
    }

    fn open_parts(&self) -> Result<Vec<OpenPart<'a>>> {
        let included = self.ground.included_by(self.partition);
        let mut parts = Vec::new();
        for (part, &quota) in self.quota.counts().iter().enumerate() {
            let items = self.ground.free_members(self.partition.members(part));
            let count = free_count(self.partition, part, quota, included[part], items.len())?;
            if count > 0 {
                parts.push(OpenPart { part, items, count });
            }
        }
        Ok(parts)
    }

    /// Whether parts span too little in exact arithmetic, too.
    fn is_exact(&self, violation: &Violation) -> bool {
        let items = violation.parts.iter().flat_map(|&at| Items::from(&self.parts[at].items).iter());
        self.ground.exact_rank_beyond(items) < violation.quota
    }

    fn infeasible(&self, violation: Violation) -> Error {
        violation.into_error(&self.ground, |at| self.partition.names()[self.parts[at].part].clone())
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

    /// Sets the nodes that interpolation and inference may take, conjugates counted once
    /// ([`DEFAULT_NODE_BUDGET`](crate::DEFAULT_NODE_BUDGET) unless set).
    #[must_use]
    pub fn with_node_budget(self, node_budget: f64) -> Self {
        Self { node_budget: Some(node_budget), ..self }
    }

    /// Set-up of a sampler: exact by every method but [`Method::Mcmc`].
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each; two more for every six digits that A is worse conditioned
    /// than 1e3), O(pn³) per step of the tilt, 24 bytes per item. Per draw by rejection: [`expected_proposals`]
    /// on average at most, each O(k·n·r) whatever the number of items. By interpolation: O(r²) per pick and
    /// node and O(r³ + m_l·n·r) per pick, a new grid (8r³ per node) for every part but the first; 8r³
    /// operations and 16r² bytes per node before the first draw, and as many bytes in every thread. About
    /// 8√k + 10 nodes for the total, times κ_l + 1 for every part but one, halved. By MCMC see [`Chains`](crate::Chains).
    ///
    /// # Errors
    /// - [`Error::ProposalBudget`] from [`Method::Auto`], with the numbers of proposals and nodes;
    /// - [`Error::NodeBudget`] from the methods by interpolation, with the number of nodes;
    /// - [`Error::Eigen`], [`Error::SizeAboveRank`] where the rank shows only at f64's accuracy,
    ///   and those of the engine.
    pub fn sampler(&self, method: Method, engine: &'a dyn Engine) -> Result<Sampler<'a>> {
        let Some(plan) = self.plan(method)? else {
            return Ok(Sampler::settled(self.ground.included(), engine));
        };
        let graded = |dpp: &Self| dpp.graded(engine);
        let (law, error) = match plan.method {
            Method::Interpolation => {
                let law =
                    accurately(self, graded, |dpp| Interpolation::new(dpp, engine), Interpolation::error)?;
                let error = law.error();
                (Law::Interpolation(Box::new(law)), error)
            }
            Method::PerCandidate => {
                let law =
                    accurately(self, graded, |dpp| PerCandidate::new(dpp, engine), PerCandidate::error)?;
                let error = law.error();
                (Law::PerCandidate(Box::new(law)), error)
            }
            Method::Mcmc => {
                (Law::Mcmc(Box::new(self.chains(&McmcOptions::default(), engine)?)), UNKNOWN_ERROR)
            }
            Method::Rejection | Method::Auto => {
                let law = accurately(self, graded, |dpp| TiltedRejection::new(dpp, engine), |law| law.error)?;
                let error = law.error;
                (Law::TiltedRejection(law), error)
            }
        };
        Ok(Sampler::new(law, self.ground.included(), engine, error).planned(plan))
    }

    /// The same law in coordinates that are graded for the weights that its tilt gives the parts.
    pub(crate) fn graded(&self, engine: &dyn Engine) -> Result<Option<Self>> {
        let rows = self.rows();
        let Some(ground) = self.ground.graded(&rows)? else { return Ok(None) };
        let graded = Self { ground, ..self.clone() };
        if self.parts.len() < 2 {
            return Ok(Some(graded));
        }
        let rows = graded.rows();
        engine.proceed()?;
        let grams = Cpu.part_grams(&rows, None)?;
        let tilt = homogeneous_tilt(engine, &grams, &self.free_counts(), Grading::Descending)?;
        if tilt.are_alike() {
            return Ok(Some(graded));
        }
        let weighted = self.ground.graded(&self.rows().weighted(&tilt.log_weights))?;
        Ok(weighted.map(|ground| Self { ground, ..self.clone() }))
    }

    /// The conditional probabilities that the paper's algorithm 2 draws from, to be followed pick by pick
    /// without drawing: [`Method::PerCandidate`] literally, every other method by shared evaluation.
    ///
    /// # Errors
    /// Those of [`sampler`](PartitionDpp::sampler) for [`Method::Interpolation`]; [`Error::Nothing`] if
    /// nothing is left to choose.
    pub fn conditionals(&self, method: Method, engine: &'a dyn Engine) -> Result<Conditionals<'a>> {
        if self.parts.is_empty() {
            return Err(Error::Nothing { what: "the quota beyond the included items" });
        }
        accurately(
            self,
            |dpp| dpp.graded(engine),
            |dpp| Conditionals::new(dpp, method, engine),
            Conditionals::error,
        )
    }

    /// Tilt and spectrum at which proposals meet the quota most often.
    pub(crate) fn spectrum(&self, engine: &dyn Engine, rows: &Rows<'_>) -> Result<TiltedSpectrum> {
        TiltedSpectrum::for_quota(engine, rows, &self.ground, &self.free_counts())
    }

    /// The rows of the open parts.
    pub(crate) fn rows(&self) -> Rows<'_> {
        let items = self.parts.iter().map(|part| Items::from(&part.items)).collect();
        Rows::scaled(self.ground.features(), items)
    }

    /// What is left to choose from each open part.
    pub(crate) fn free_counts(&self) -> Vec<usize> {
        self.parts.iter().map(|part| part.count).collect()
    }

    /// The parts that something is left to choose from.
    pub(crate) fn open(&self) -> &[OpenPart<'a>] {
        &self.parts
    }

    pub(crate) fn projection(&self) -> Projection {
        self.projection
    }

    pub(crate) fn groups(&self) -> Vec<FreeItems<'a>> {
        self.parts.iter().map(|part| part.items.clone()).collect()
    }

    pub(crate) fn ground(&self) -> &GroundSet<'a> {
        &self.ground
    }

    pub(crate) fn partition(&self) -> &'a Partition {
        self.partition
    }

    pub(crate) fn quota(&self) -> &'a Quota {
        self.quota
    }

    pub(crate) fn node_budget(&self) -> f64 {
        self.node_budget.unwrap_or_else(|| default_node_budget(self.ground.dims_left()))
    }
}

/// What is left of a part's quota, if it can be met.
pub(super) fn free_count(
    partition: &Partition,
    part: usize,
    quota: usize,
    included: usize,
    free: usize,
) -> Result<usize> {
    let name = || partition.names()[part].clone();
    match quota.checked_sub(included) {
        None => Err(Error::QuotaBelowIncluded { part: name(), quota, included }),
        Some(count) if count > free => {
            Err(Error::QuotaAbovePartSize { part: name(), quota, size: free + included })
        }
        Some(count) => Ok(count),
    }
}
