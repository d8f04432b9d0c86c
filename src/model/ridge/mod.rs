//! The Partition-DPP of a kernel with a ridge, without explicit features for the ridge.

mod fill;
mod free;
mod symmetric_tree;

use std::sync::Arc;

pub(crate) use fill::Fill;
use fill::PartFill;
pub(crate) use free::{DrawnDpp, FreeRidge, log_probability};

use super::{Conditions, Left, OpenPart, PartitionDpp};
use crate::{
    Error, Features, Partition, Quota, Result,
    data::{check_labels, check_log_quality, check_ridge, log_quality_of_scores},
    error::WeightProblem,
};

/// A DPP under a quota with the kernel K + δI: diverse sets with any number of items, even above the rank of K.
///
/// ```text
/// Pr(S) ∝ det((Q (A Aᵀ + δI) Q)_S) over all S that meet the quota;   Q = diag(q), ones unless set
///
/// det((K + δI)_S) = Σ_{T⊆S} δ^{|S∖T|} det K_T
/// ```
///
/// A set is drawn in two steps. First T is drawn from the determinantal law of K with weighted part counts c. The
/// weights are Π_l Σ_s C(m_l − c_l, s − c_l) δ^(s − c_l) over the counts s that the quota allows. Then items are
/// added to T, uniformly from the rest.
///
/// With qualities, the binomials become elementary symmetric polynomials of the q² of a part, and items are added
/// with weights q². These exceed the polynomials of the items not in T; an additional acceptance step corrects for
/// this. Included items form a separate part, in which each item not in T contributes a factor δ.
///
/// The law is exact, and a draw costs as much as a draw from K, however many items there are. Features can also have
/// a ridge ([`Features::with_ridge`]), at O(m³): then all models, methods and solvers apply.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Partition, Quota, RidgeDpp, SamplerOptions};
/// // Four of six items with two features.
/// let values = vec![1.0, 0.0, 0.9, 0.1, 0.5, 0.5, 0.0, 1.0, 0.1, 0.9, 0.7, 0.7];
/// let features = Features::from_rows(6, 2, values)?;
/// let partition = Partition::from_labels(&["a", "a", "a", "b", "b", "b"])?;
/// let quota = Quota::new(&partition, [2, 2])?;
/// let dpp = RidgeDpp::new(&features, 0.01, &partition, &quota)?;
/// let sampler = dpp.sampler(SamplerOptions::default(), &Engine::cpu())?;
/// assert_eq!(sampler.sample_many(1, 0).subsets()[0].part_counts(&partition), [2, 2]);
/// # Ok(()) }
/// ```
///
/// # Source
/// Kulesza and Taskar, *Determinantal point processes for machine learning* (2012), § 2.2, for the expansion.
#[derive(Clone, Debug)]
pub struct RidgeDpp {
    features: Features,
    delta: f64,
    /// ln q_i.
    log_quality: Option<Arc<[f64]>>,
    partition: Partition,
    quota: Quota,
    conditions: Conditions,
    left: Left,
}

/// The law of T, and the items added to it.
#[derive(Debug)]
pub(crate) struct RidgeLaw {
    pub(crate) drawn: PartitionDpp,
    pub(crate) fill: Fill,
}

impl RidgeDpp {
    /// The distribution over sets that meet the quota, with kernel A Aᵀ + δI. Row weights are part of A.
    ///
    /// # Errors
    /// - [`Error::NotPositive`] if δ is not a positive number;
    /// - [`Error::LabelCount`], [`Error::QuotaLength`], [`Error::QuotaOfOtherParts`], [`Error::QuotaAbovePartSize`].
    pub fn new(features: &Features, delta: f64, partition: &Partition, quota: &Quota) -> Result<Self> {
        check_ridge(delta)?;
        check_labels(features, partition, quota)?;
        let (features, partition, quota) = (features.clone(), partition.clone(), quota.clone());
        let conditions = Conditions::none(features.items());
        let left = Left::of_quota(&partition, &quota, &conditions)?;
        Ok(Self { features, delta, log_quality: None, partition, quota, conditions, left })
    }

    /// The distribution over all sets of k items, with k at most m.
    ///
    /// # Errors
    /// [`Error::NotPositive`], [`Error::SizeAboveItems`]; [`Error::Nothing`] if k = 0.
    pub fn of_size(features: &Features, delta: f64, k: usize) -> Result<Self> {
        let items = features.items();
        if k > items {
            return Err(Error::SizeAboveItems { k, items });
        }
        let partition = Partition::group(Arc::new(["all items".into()]), vec![0; items]);
        Self::new(features, delta, &partition, &Quota::new(&partition, [k])?)
    }

    /// The distribution over sets of any size: a [`Dpp`](crate::Dpp) with kernel A Aᵀ + δI.
    ///
    /// # Errors
    /// [`Error::NotPositive`].
    pub fn of_any_size(features: &Features, delta: f64) -> Result<Self> {
        let items = features.items();
        let partition = Partition::group(Arc::new(["all items".into()]), vec![0; items]);
        Self::new(features, delta, &partition, &Quota::new(&partition, [0..=items])?)
    }

    /// The law of every part alone, with its conditions, for the parts that may have items.
    ///
    /// Parts are in the order of [`Partition::names`]; [`independent_sampler`](RidgeDpp::independent_sampler) draws
    /// from these laws.
    ///
    /// # Errors
    /// [`Error::CountsNotExact`] if the quota has ranges with a total.
    pub fn parts(&self) -> Result<Vec<Self>> {
        self.refuse_total("the law of every part by itself")?;
        let parts = self.partition.parts();
        let alone = |part: usize| {
            let range = |other: usize| {
                if other == part { self.quota.low()[part]..=self.quota.high()[part] } else { 0..=0 }
            };
            let quota = Quota::new(&self.partition, (0..parts).map(range).collect::<Vec<_>>())?;
            Self { quota, conditions: self.conditions.of_part(&self.partition, part), ..self.clone() }
                .checked()
        };
        (0..parts).filter(|&part| self.quota.high()[part] > 0).map(alone).collect()
    }

    /// Rejects ranges with a total.
    fn refuse_total(&self, what: &'static str) -> Result<()> {
        if self.quota.total().is_some() && self.quota.exact_counts().is_none() {
            return Err(Error::CountsNotExact { what });
        }
        Ok(())
    }

    /// The law over all sets whose size is the total of the quota, or any size if it has no total, under the same
    /// conditions.
    pub(crate) fn without_quota(&self) -> Result<Self> {
        let items = self.features.items();
        let partition = Partition::group(Arc::new(["all items".into()]), vec![0; items]);
        let sizes = self.quota.total().map_or(0..=items, |total| total..=total);
        let quota = Quota::new(&partition, [sizes])?;
        Self { partition, quota, ..self.clone() }.checked()
    }

    /// The choices left.
    pub(crate) fn left(&self) -> &Left {
        &self.left
    }

    /// Whether every set of free items is allowed, in the parts that may grow.
    pub(crate) fn is_free(&self) -> bool {
        let is_free = |part: &OpenPart| part.low == 0 && part.high == part.items.len();
        self.left.total.is_none() && self.left.parts.iter().all(is_free)
    }

    /// Multiplies the quality of each item by q_i = e^`log_quality[i]`, which scales features and ridge alike.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of values is not m; [`WeightProblem::NotFinite`]; [`WeightProblem::TooLarge`].
    pub fn with_log_quality(mut self, log_quality: &[f64]) -> Result<Self> {
        let (expected, found) = (self.features.items(), log_quality.len());
        if found != expected {
            return Err(Error::Shape { what: "the list of scores or log-qualities", expected, found });
        }
        let known = |item: usize| self.log_quality.as_ref().map_or(0.0, |known| known[item]);
        let logs: Vec<f64> = log_quality.iter().enumerate().map(|(item, log)| known(item) + log).collect();
        check_log_quality(&logs)?;
        self.log_quality = Some(logs.into());
        Ok(self)
    }

    /// Trades scores against diversity as [`Features::with_scores`] does: the objective to maximise becomes (1 − d) Σ
    /// r_i + d ln det((A Aᵀ + δI)_S).
    ///
    /// # Errors
    /// The errors of [`Features::with_scores`].
    pub fn with_scores(self, scores: &[f64], diversity: f64) -> Result<Self> {
        self.with_log_quality(&log_quality_of_scores(scores, diversity)?)
    }

    /// Conditions on the set containing these items, in addition to those required before. They may be dependent.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// [`Error::QuotaBelowIncluded`], [`Error::SizeBelowIncluded`], [`Error::TotalOutsideRanges`] if they exceed the
    /// limit of a part or the total.
    pub fn including(mut self, items: &[usize]) -> Result<Self> {
        self.conditions.include(items)?;
        self.checked()
    }

    /// Conditions on the set not containing these items, in addition to those excluded before.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// [`Error::QuotaAbovePartSize`], [`Error::TotalOutsideRanges`] if too few items are left.
    pub fn excluding(mut self, items: &[usize]) -> Result<Self> {
        self.conditions.exclude(items)?;
        self.checked()
    }

    /// Finds the choices left; returns an error if the conditions leave no set.
    fn checked(mut self) -> Result<Self> {
        // For sets of a fixed size there is a single part, whose name the caller does not know.
        let (included, total) = (self.included().len(), self.quota.total());
        if let Some(k) = total.filter(|&k| k < included) {
            return Err(Error::SizeBelowIncluded { k, included });
        }
        self.left = Left::of_quota(&self.partition, &self.quota, &self.conditions)?;
        Ok(self)
    }

    /// The law of T, and the items added to it.
    pub(crate) fn law(&self) -> Result<RidgeLaw> {
        self.refuse_total("a ridge under a total")?;
        // The kernel that was factored may have a larger rank.
        let rank = if self.features.residual().is_some() { usize::MAX } else { self.features.dims() };
        let log_delta = self.delta.ln();
        let part = |part: &OpenPart| {
            PartFill::new(
                part.items.clone(),
                [part.low, part.high],
                rank,
                log_delta,
                self.log_quality.as_deref(),
            )
        };
        let parts: Vec<PartFill> = self.left.parts.iter().map(part).collect();
        let partition = self.partition_of_drawn();
        let included = (!self.included().is_empty()).then_some(self.included().len());
        let ranges: Vec<_> =
            parts.iter().map(|part| part.most).chain(included).map(|high| 0..=high).collect();
        let quota = Quota::new(&partition, ranges)?;
        let fill =
            Fill { partition: partition.clone(), parts, included: self.included().to_vec(), log_delta };
        let excluded: Vec<usize> = self.conditions.excluded().iter().map(|&item| item as usize).collect();
        let drawn =
            PartitionDpp::new(&self.features_of_drawn()?, &partition, &quota)?.excluding(&excluded)?;
        if drawn.ground().is_narrowed() {
            // The relevant sets of T alone are not the relevant sets after items are added.
            return Err(WeightProblem::Spread.into());
        }
        Ok(RidgeLaw { drawn: drawn.with_count_weights(fill.count_weights()), fill })
    }

    /// The parts, followed by one for any included items.
    fn partition_of_drawn(&self) -> Partition {
        if self.included().is_empty() {
            return self.partition.clone();
        }
        let mut part_of = self.partition.part_of_items().to_vec();
        let names: Vec<String> =
            self.partition.names().iter().cloned().chain(["included items".into()]).collect();
        #[expect(clippy::cast_possible_truncation, reason = "fewer parts than items")]
        self.included().iter().for_each(|&item| part_of[item as usize] = self.partition.parts() as u32);
        Partition::group(names.into(), part_of)
    }

    /// The rows with their quality. Included items get none: it is a factor of every set.
    fn features_of_drawn(&self) -> Result<Features> {
        let Some(logs) = &self.log_quality else { return Ok(self.features.clone()) };
        let mut logs = logs.to_vec();
        self.included().iter().for_each(|&item| logs[item as usize] = 0.0);
        self.features.with_log_quality(&logs)
    }

    pub(crate) fn included(&self) -> &[u32] {
        self.conditions.included()
    }

    pub(crate) fn excludes(&self, item: usize) -> bool {
        self.conditions.excludes(item)
    }

    /// ln q_i.
    pub(crate) fn log_quality(&self, item: usize) -> f64 {
        self.log_quality.as_ref().map_or(0.0, |logs| logs[item])
    }

    /// A Aᵀ.
    pub(crate) fn features(&self) -> &Features {
        &self.features
    }

    /// δ.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.delta
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
}
