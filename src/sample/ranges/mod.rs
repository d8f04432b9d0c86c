//! The DPP whose part counts lie in ranges.

mod bound;
mod open_parts;
mod rejection;

pub(crate) use rejection::RangeRejection;

use super::{DEFAULT_PROPOSAL_BUDGET, Law, Projection, Sampler};
use crate::{
    Features, Partition, RangeQuota, Result,
    data::{FreeItems, GroundSet, accurately, check_partition},
    engine::{Engine, Group, Items, Rows, in_double},
    inference::default_node_budget,
    polynomial::{
        ConditionalBernoulli, accurate,
        count_ranges::CountRanges,
        feasibility::Dependence,
        spectrum::{Spectrum, TiltedSpectrum, keep_probabilities},
        tilt::{Tilt, homogeneous_tilt, ranged_tilt},
    },
};

/// A DPP conditioned on its part counts lying in ranges, and on its size if that is fixed.
///
/// ```text
/// Pr(S) ∝ det(K_S)   over all S with lo_l ≤ |S∩P_l| ≤ hi_l, |S| = k if k is given;   K = A Aᵀ
/// ```
///
/// Unlike under exact quotas the scale of K matters, the more so the wider the ranges: the larger K, the larger the
/// sets; the larger the rows of a part, the more items of it.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, Partition, RangeDpp, RangeQuota, engine};
/// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
/// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
/// let quota = RangeQuota::new(&partition, &[1..=2, 0..=1])?;
/// let dpp = RangeDpp::new(&features, &partition, &quota)?;
/// let samples = dpp.sampler(&engine::Cpu)?.sample_many(1000, 0);
/// assert!(samples.subsets().iter().all(|subset| quota.allows(&subset.part_counts(&partition))));
/// # Ok(()) }
/// ```
///
/// # Source
/// Celis, Deshpande, Kathuria, Straszak and Vishnoi, *On the complexity of constrained determinantal point processes*
/// (2017), for laws with constraints on counts; proposals weighted by part and corrected by count are this library's.
#[derive(Clone, Debug)]
pub struct RangeDpp<'a> {
    /// As the user conditioned it, …
    asked: GroundSet<'a>,
    /// … and with the items of parts included of which all are needed.
    pub(super) ground: GroundSet<'a>,
    partition: &'a Partition,
    quota: RangeQuota,
    dependence: Dependence,
    pub(super) parts: Vec<OpenPart<'a>>,
    /// What is left of the total, if that is known.
    pub(super) total: Option<usize>,
    /// An upper bound on the probability of sets that the ranges allow, but not the rank of a kernel's factor.
    beyond_rank: f64,
    pub(super) projection: Projection,
    proposal_budget: f64,
    /// As set by the user.
    node_budget: Option<f64>,
}

/// A part that something may be chosen from.
#[derive(Clone, Debug)]
pub(super) struct OpenPart<'a> {
    part: usize,
    pub(super) items: FreeItems<'a>,
    /// Least and most to choose, besides what is included.
    low: usize,
    high: usize,
}

impl<'a> RangeDpp<'a> {
    /// The law over sets that the ranges allow, with kernel A Aᵀ.
    ///
    /// # Errors
    /// - [`Error::LabelCount`](crate::Error::LabelCount) if partition and features have different numbers of items;
    /// - [`Error::QuotaOfOtherParts`](crate::Error::QuotaOfOtherParts) if the quota belongs to another partition;
    /// - [`Error::Infeasible`](crate::Error::Infeasible) if every set with the least counts has determinant zero,
    ///   naming the parts;
    /// - [`Error::SizeAboveRank`](crate::Error::SizeAboveRank) if every set with the total has.
    pub fn new(features: &Features<'a>, partition: &'a Partition, quota: &RangeQuota) -> Result<Self> {
        check_partition(features, partition)?;
        Self::over(GroundSet::new(features)?, partition, quota, Dependence::Numerical)
    }

    /// The law over a ground set that may be conditioned already.
    pub(crate) fn over(
        ground: GroundSet<'a>,
        partition: &'a Partition,
        quota: &RangeQuota,
        dependence: Dependence,
    ) -> Result<Self> {
        check_partition(ground.features(), partition)?;
        quota.check(partition)?;
        let dpp = Self {
            asked: ground.clone(),
            ground,
            partition,
            quota: quota.clone(),
            dependence,
            parts: Vec::new(),
            total: None,
            beyond_rank: 0.0,
            projection: Projection::default(),
            proposal_budget: DEFAULT_PROPOSAL_BUDGET,
            node_budget: None,
        };
        dpp.checked()
    }

    /// Conditions on these items being in the set, besides those required before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`](crate::Error::ItemOutOfRange),
    ///   [`Error::RepeatedItem`](crate::Error::RepeatedItem),
    ///   [`Error::IncludedAndExcluded`](crate::Error::IncludedAndExcluded);
    /// - [`Error::DependentItems`](crate::Error::DependentItems) if their determinant is zero;
    /// - [`Error::QuotaBelowIncluded`](crate::Error::QuotaBelowIncluded),
    ///   [`Error::SizeBelowIncluded`](crate::Error::SizeBelowIncluded) if they are more than a part or the total
    ///   allows;
    /// - [`Error::TotalOutsideRanges`](crate::Error::TotalOutsideRanges),
    ///   [`Error::InfeasibleBeyondIncluded`](crate::Error::InfeasibleBeyondIncluded),
    ///   [`Error::SizeAboveRank`](crate::Error::SizeAboveRank) if no set with them that the ranges allow has a
    ///   positive determinant.
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
    /// - [`Error::ItemOutOfRange`](crate::Error::ItemOutOfRange),
    ///   [`Error::RepeatedItem`](crate::Error::RepeatedItem),
    ///   [`Error::IncludedAndExcluded`](crate::Error::IncludedAndExcluded);
    /// - [`Error::QuotaAbovePartSize`](crate::Error::QuotaAbovePartSize),
    ///   [`Error::TotalOutsideRanges`](crate::Error::TotalOutsideRanges),
    ///   [`Error::Infeasible`](crate::Error::Infeasible),
    ///   [`Error::InfeasibleBeyondIncluded`](crate::Error::InfeasibleBeyondIncluded),
    ///   [`Error::SizeAboveRank`](crate::Error::SizeAboveRank) if too little is left.
    pub fn excluding(mut self, items: &[usize]) -> Result<Self> {
        if items.is_empty() {
            return Ok(self);
        }
        self.asked.exclude(items)?;
        self.checked()
    }

    /// Chooses how items are picked once the eigenvectors are chosen.
    #[must_use]
    pub fn with_projection(self, projection: Projection) -> Self {
        Self { projection, ..self }
    }

    /// Sets the proposals per sample that a sampler may be expected to need ([`DEFAULT_PROPOSAL_BUDGET`] unless set).
    #[must_use]
    pub fn with_proposal_budget(self, proposal_budget: f64) -> Self {
        Self { proposal_budget, ..self }
    }

    /// Sets the nodes that inference may take, conjugates counted once
    /// ([`DEFAULT_NODE_BUDGET`](crate::DEFAULT_NODE_BUDGET) unless set).
    #[must_use]
    pub fn with_node_budget(self, node_budget: f64) -> Self {
        Self { node_budget: Some(node_budget), ..self }
    }

    /// Set-up of the exact sampler: a DPP with weighted parts (a k-DPP where the total is fixed) proposes, and what the
    /// weights favour is corrected.
    ///
    /// ```text
    /// accept S with counts c in the ranges with probability exp(min_c' Σ c'_l t_l − Σ c_l t_l),
    /// t minimises ln det(I + Σ e^(t_l) G_l) + Σ max(−lo_l t_l, −hi_l t_l)
    /// ```
    ///
    /// Where every count is fixed, draws are those of [`PartitionDpp`](crate::PartitionDpp) by
    /// [`Method::Rejection`](crate::Method::Rejection).
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each; two more for every six digits that A is worse conditioned than 1e3),
    /// O(pn³) per step of the tilt. Per draw 1 / [`acceptance_bound`](Sampler::acceptance_bound) proposals on average
    /// at most, each as a draw of the DPP. The bound is that of the single most typical vector of counts (Gurvits 2008).
    /// For many parts with wide ranges that is far too low: where it promises no more than the budget, a trial of up to
    /// 131072 proposals measures the acceptance instead, and the bound is a quarter of what it finds (wrong once in 1e5).
    ///
    /// # Errors
    /// - [`Error::RangeProposalBudget`](crate::Error::RangeProposalBudget) where neither the bound nor the trial
    ///   tells that the budget is enough;
    /// - [`Error::Eigen`](crate::Error::Eigen), [`Error::SizeAboveRank`](crate::Error::SizeAboveRank) where the rank
    ///   shows only at f64's accuracy, and those of the engine.
    pub fn sampler(&self, engine: &'a dyn Engine) -> Result<Sampler<'a>> {
        if self.parts.is_empty() {
            let error = accurate(self.beyond_rank)?;
            return Ok(Sampler::new(Law::Settled, self.ground.included(), engine, error));
        }
        let (law, error) = accurately(
            self,
            |dpp| dpp.graded(engine),
            |dpp| RangeRejection::new(dpp, engine),
            |(_, error)| *error,
        )?;
        Ok(Sampler::new(Law::Ranges(Box::new(law)), self.ground.included(), engine, error))
    }

    /// The same law in coordinates that are graded for the weights that its tilt gives the parts.
    pub(crate) fn graded(&self, engine: &dyn Engine) -> Result<Option<Self>> {
        let groups = self.parts.iter().map(|part| Group { items: Items::from(&part.items), scale: 1.0 });
        let rows = Rows::with_scales(self.ground.features(), groups.collect());
        let Some(ground) = self.ground.graded(&rows)? else { return Ok(None) };
        let alike = Self { ground, ..self.clone() }.narrowed();
        if alike.parts.len() < self.parts.len() {
            // Rank, known exactly now, leaves some parts nothing: the others may be graded for.
            if alike.parts.is_empty() {
                return Ok(Some(alike));
            }
            return Self { ground: self.ground.clone(), ..alike }.graded(engine);
        }
        if self.parts.is_empty() {
            return Ok(Some(alike));
        }
        let tilt = alike.tilt(engine)?;
        if tilt.are_alike() {
            return Ok(Some(alike));
        }
        let weighted = self.ground.graded(&rows.weighted(&tilt.log_weights))?;
        Ok(weighted.map(|ground| Self { ground, ..self.clone() }.narrowed()))
    }

    /// Weights of the rows as given.
    fn tilt(&self, engine: &dyn Engine) -> Result<Tilt> {
        let rows = self.rows();
        let grams = in_double(engine).part_grams(&rows, None)?;
        let offsets: Vec<f64> = rows.scales().iter().map(|scale| -2.0 * scale.ln()).collect();
        let mut tilt = ranged_tilt(engine, &grams, &offsets, &self.ranges())?;
        tilt.log_weights.iter_mut().zip(&offsets).for_each(|(weight, offset)| *weight -= offset);
        Ok(tilt)
    }

    /// Finds what is left to choose, refuses what has probability zero, settles full parts.
    fn checked(mut self) -> Result<Self> {
        self.ground = self.asked.clone();
        loop {
            self.find_open_parts()?;
            let full = self.parts.iter().filter(|part| part.items.len() == part.low);
            let settled: Vec<usize> = full.flat_map(|part| Items::from(&part.items).iter()).collect();
            if settled.is_empty() {
                return Ok(self);
            }
            let mut whole = self.ground.clone();
            match whole.include(&settled) {
                // Nearly dependent ones are left to be chosen.
                Err(crate::Error::DependentItems { .. }) if self.dependence == Dependence::Exact => {
                    return Ok(self);
                }
                included => included?,
            }
            self.ground = whole;
        }
    }

    /// Tilt and spectrum at which proposals are accepted most often.
    pub(crate) fn spectrum(&self, engine: &dyn Engine, rows: &Rows<'_>) -> Result<TiltedSpectrum> {
        let ranges = self.ranges();
        // A scaled row is s_l times what it was: weights e^w of scaled rows are e^(w + 2 ln s_l) of the rows as given.
        let offsets: Vec<f64> = rows.scales().iter().map(|scale| -2.0 * scale.ln()).collect();
        let tilt = |grams: &[_], grading| match ranges.exact() {
            Some(counts) => homogeneous_tilt(engine, grams, counts, grading),
            None => ranged_tilt(engine, grams, &offsets, &ranges),
        };
        let usage = |values: &[f64]| match ranges.total() {
            Some(k) => Ok(ConditionalBernoulli::new(values, k)?.inclusion_probabilities()),
            None => Ok(keep_probabilities(values, 0.0)),
        };
        let mut found = Spectrum::resolve(engine, rows, &self.ground, tilt, usage)?;
        found.spectrum.error = accurate(found.spectrum.error + self.beyond_rank)?;
        Ok(found)
    }

    /// The rows of the open parts.
    pub(crate) fn rows(&self) -> Rows<'_> {
        let items = self.parts.iter().map(|part| Items::from(&part.items)).collect();
        Rows::scaled(self.ground.features(), items)
    }

    /// What is left to choose from the open parts.
    pub(crate) fn ranges(&self) -> CountRanges {
        let (low, high): (Vec<usize>, Vec<usize>) =
            self.parts.iter().map(|part| (part.low, part.high)).unzip();
        CountRanges::new(&low, &high, self.total, self.ground.dims_left())
    }

    /// The free items of the open parts.
    pub(crate) fn groups(&self) -> Vec<FreeItems<'a>> {
        self.parts.iter().map(|part| part.items.clone()).collect()
    }

    pub(crate) fn beyond_rank(&self) -> f64 {
        self.beyond_rank
    }

    pub(crate) fn ground(&self) -> &GroundSet<'a> {
        &self.ground
    }

    pub(crate) fn partition(&self) -> &'a Partition {
        self.partition
    }

    pub(crate) fn quota(&self) -> &RangeQuota {
        &self.quota
    }

    pub(crate) fn node_budget(&self) -> f64 {
        self.node_budget.unwrap_or_else(|| default_node_budget(self.ground.dims_left()))
    }
}
