//! The most probable set for a kernel that is a function of two items.

mod coverage;
mod explained;
mod gains;
mod greedy;
mod local_search;
mod quality;
mod ranking;
mod swaps;
mod visits;

pub use self::coverage::{Coverage, Covered};
use self::quality::Quality;
use super::Place;
use crate::{
    Error, Partition, Quota, Result,
    data::log_quality_of_scores,
    model::{Conditions, Counts, Left, OpenPart, Sets},
    similarity::{Factor, KernelFunction, NextRow, checked_diagonal},
};

/// The fraction of K_jj below which a residual K_jj − ‖L⁻¹ K_{S,j}‖² is rounding: the item depends on the chosen
/// ones.
const NOTHING: f64 = 1e-12;

/// A kernel function with a quota and conditions.
///
/// [`Greedy`](super::Greedy) and [`LocalSearch`](super::LocalSearch) maximise its determinant without features.
/// [`Coverage`] searches the same sets with another objective.
///
/// ```text
/// max  det K_S   over all S with lo_l ≤ |S∩P_l| ≤ hi_l, and |S| = k if the quota has a total
/// ```
///
/// K is computed entry by entry, as solvers need it; k may exceed the number of features behind the kernel. With
/// [qualities](Self::with_log_quality) the kernel is q_i K_ij q_j.
///
/// # Numerics
/// Solvers compute on the CPU in f64. The residual that the chosen items leave of K_jj is computed by subtraction, so
/// residuals below 1e-12 K_jj count as zero. (With features, [`PartitionDpp`](crate::PartitionDpp) resolves residuals
/// down to 1e-24.)
///
/// It is not known in advance whether a quota can be met with a positive determinant. A solver that finds no more
/// independent items ends with [`Termination::RankExhausted`](super::Termination::RankExhausted). With an RBF kernel
/// of distinct rows, or a ridge, any quota can be met.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Partition, Quota, map::{Greedy, KernelModel, Solver}};
/// use partition_dpp::similarity::{Bandwidth, RbfKernel};
/// let features = Features::from_rows(5, 1, vec![0.0, 0.1, 2.0, 2.1, 5.0])?;
/// let kernel = RbfKernel::new(&features, Bandwidth::Exactly(1.0))?;
/// let partition = Partition::from_labels(&["a", "a", "a", "b", "b"])?;
/// let quota = Quota::new(&partition, [2, 1])?;
/// let solution = Greedy::default().solve(&KernelModel::new(&kernel, &partition, &quota)?, &Engine::cpu())?;
/// assert_eq!(solution.subset.as_slice(), [0, 2, 4]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct KernelModel<'a> {
    kernel: &'a dyn KernelFunction,
    /// The K_ii, without qualities.
    diagonal: Vec<f64>,
    /// The qualities; `None` if all are 1.
    quality: Option<Quality>,
    sets: Sets,
    conditions: Conditions,
    /// The free items of every part that may have more.
    groups: Vec<Vec<u32>>,
    /// The numbers of items to choose from the groups.
    counts: Counts,
}

impl<'a> KernelModel<'a> {
    /// Creates the model of sets that meet a quota.
    ///
    /// # Cost
    /// The diagonal of the kernel.
    ///
    /// # Errors
    /// - [`Error::LabelCount`] if partition and kernel have different numbers of items;
    /// - [`Error::QuotaLength`], [`Error::QuotaOfOtherParts`] if the quota belongs to another partition;
    /// - [`Error::Kernel`] if the diagonal is negative or not finite.
    pub fn new(kernel: &'a dyn KernelFunction, partition: &Partition, quota: &Quota) -> Result<Self> {
        Self::over(kernel, &Sets::Quota(partition.clone(), quota.clone()))
    }

    /// Creates the model of sets of k items.
    ///
    /// # Errors
    /// - [`Error::Nothing`] if k = 0, [`Error::SizeAboveItems`] if k > m;
    /// - [`Error::Kernel`] if the diagonal is negative or not finite.
    pub fn of_size(kernel: &'a dyn KernelFunction, k: usize) -> Result<Self> {
        Self::over(kernel, &Sets::OfSize(k))
    }

    /// Creates the model of sets of any size.
    ///
    /// An item is worth choosing only if it multiplies the determinant by more than 1, which takes
    /// [qualities](Self::with_log_quality) or a diagonal above 1.
    ///
    /// # Errors
    /// [`Error::Kernel`] if the diagonal is negative or not finite.
    pub fn of_any_size(kernel: &'a dyn KernelFunction) -> Result<Self> {
        Self::over(kernel, &Sets::OfAnySize)
    }

    /// Multiplies the kernel by qualities, q_i K_ij q_j with q_i = e^`log_quality[i]`, in addition to earlier
    /// qualities.
    ///
    /// ```text
    /// ln det K_S + 2 Σ_{i∈S} ln q_i
    /// ```
    ///
    /// If counts are exact, a factor common to a part does not change which set is best. Under ranges, and for sets
    /// of any size, it does.
    ///
    /// # Cost
    /// Memory: 24m bytes, and 8m for solvers.
    ///
    /// # Numerics
    /// Qualities may be as large as |ln q_i| = 2³²: solvers compare q_i² as multiples of powers of two, and entries
    /// of K do not change.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of values is not m;
    /// [`WeightProblem::NotFinite`](crate::error::WeightProblem::NotFinite) and
    /// [`TooLarge`](crate::error::WeightProblem::TooLarge).
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, map::{Greedy, KernelModel, Solver}};
    /// use partition_dpp::similarity::{Bandwidth, RbfKernel};
    /// let features = Features::from_rows(3, 1, vec![0.0, 0.1, 5.0])?;
    /// let kernel = RbfKernel::new(&features, Bandwidth::Exactly(1.0))?;
    /// let model = KernelModel::of_size(&kernel, 2)?.with_log_quality(&[0.0, 1.0, 0.0])?;
    /// assert_eq!(Greedy::default().solve(&model, &Engine::cpu())?.subset.as_slice(), [1, 2]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Source
    /// Kulesza and Taskar, *Determinantal point processes for machine learning* (2012), equation 28.
    pub fn with_log_quality(self, log_quality: &[f64]) -> Result<Self> {
        let quality = Quality::times(self.quality.as_ref(), log_quality, self.kernel.items())?;
        Ok(Self { quality: Some(quality), ..self })
    }

    /// Sets the qualities that trade scores r_i against the diversity d.
    ///
    /// Solvers then maximise (1 − d) Σ_{i∈S} r_i + d ln det K_S, as with
    /// [`Features::with_scores`](crate::Features::with_scores).
    ///
    /// # Errors
    /// [`WeightProblem::Diversity`](crate::error::WeightProblem::Diversity) if the diversity is outside (0, 1];
    /// errors of [`with_log_quality`](Self::with_log_quality).
    pub fn with_scores(self, scores: &[f64], diversity: f64) -> Result<Self> {
        self.with_log_quality(&log_quality_of_scores(scores, diversity)?)
    }

    /// Creates the model of any kind of sets.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new), [`of_size`](Self::of_size) and [`of_any_size`](Self::of_any_size).
    pub fn over(kernel: &'a dyn KernelFunction, sets: &Sets) -> Result<Self> {
        match sets {
            Sets::OfSize(0) => return Err(Error::Nothing { what: "k" }),
            Sets::OfAnySize | Sets::OfSize(_) => {}
            Sets::Quota(partition, quota) => {
                let (items, labels) = (kernel.items(), partition.items());
                if items != labels {
                    return Err(Error::LabelCount { items, labels });
                }
                quota.check(partition)?;
            }
        }
        let sets = sets.clone();
        let diagonal = checked_diagonal(kernel)?;
        let (conditions, groups, counts) =
            (Conditions::none(kernel.items()), Vec::new(), Counts::exactly(&[]));
        Self { kernel, diagonal, quality: None, sets, conditions, groups, counts }.resolved()
    }

    /// Requires these items in the set, in addition to the items required before.
    ///
    /// Solvers that use determinants reject dependent items ([`Error::DependentItems`]).
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::QuotaBelowIncluded`], [`Error::SizeBelowIncluded`], [`Error::TotalOutsideRanges`] if there are more
    ///   than a part or the total allows.
    pub fn including(mut self, items: &[usize]) -> Result<Self> {
        self.conditions.include(items)?;
        self.resolved()
    }

    /// Excludes these items from the set, in addition to the items excluded before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::QuotaAbovePartSize`], [`Error::SizeAboveItems`], [`Error::TotalOutsideRanges`] if too few items are
    ///   left.
    pub fn excluding(mut self, items: &[usize]) -> Result<Self> {
        self.conditions.exclude(items)?;
        self.resolved()
    }

    /// Computes the remaining choices.
    fn resolved(mut self) -> Result<Self> {
        let Left { parts, total } = Left::of(&self.sets, &self.conditions)?;
        let (low, high): (Vec<_>, Vec<_>) = parts.iter().map(|part| (part.low, part.high)).unzip();
        self.counts = Counts::in_ranges(&low, &high, total, usize::MAX);
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let listed = |part: &OpenPart| part.items.iter().map(|item| item as u32).collect();
        self.groups = parts.iter().map(listed).collect();
        Ok(self)
    }

    fn included(&self) -> &[u32] {
        self.conditions.included()
    }

    /// The factor of the included items, with room for `more` items.
    fn included_factor(&self, more: usize) -> Result<Factor<'a>> {
        let mut factor = Factor::new(self.kernel, self.included().len() + more);
        let mut next = NextRow::default();
        for &item in self.included() {
            self.extend(&mut factor, item, &mut next)?
                .ok_or(Error::DependentItems { item: item as usize })?;
        }
        Ok(factor)
    }

    /// The included items, then the items at these places.
    fn chosen(&self, places: &[Place]) -> impl Iterator<Item = u32> {
        let added = places.iter().map(|place| self.groups[place.group][place.position]);
        self.included().iter().copied().chain(added)
    }

    /// The factor of the included items and the items at these places; `None` if they are dependent.
    fn factor_of(&self, places: &[Place]) -> Result<Option<Factor<'a>>> {
        let mut factor = Factor::new(self.kernel, self.included().len() + places.len());
        let mut next = NextRow::default();
        for item in self.chosen(places) {
            if self.extend(&mut factor, item, &mut next)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(factor))
    }

    /// The factor by which qualities change the determinant if one item enters and another leaves.
    fn factor_between(&self, entering: Option<u32>, leaving: Option<u32>) -> f64 {
        let Some(quality) = &self.quality else { return 1.0 };
        match (entering, leaving) {
            (Some(entering), Some(leaving)) => quality.ratio(entering as usize, leaving as usize),
            (Some(entering), None) => quality.scale(entering as usize, 0),
            (None, Some(leaving)) => quality.scale(leaving as usize, 0).recip(),
            (None, None) => 1.0,
        }
    }

    /// The value of ln q_i², 0 without qualities.
    fn log_square(&self, item: usize) -> f64 {
        self.quality.as_ref().map_or(0.0, |quality| quality.log_square(item))
    }

    /// The ln det of the kernel with qualities.
    fn log_det(&self, factor: &Factor<'_>) -> f64 {
        let quality: f64 = factor.items().iter().map(|&item| self.log_square(item as usize)).sum();
        factor.log_det() + quality
    }

    /// Adds an item to a factor and returns its residual; `None` if it depends on the items before it.
    fn extend(&self, factor: &mut Factor<'_>, item: u32, next: &mut NextRow) -> Result<Option<f64>> {
        let item = item as usize;
        let residual = factor.residual(item, self.diagonal[item], next)?;
        if residual <= NOTHING * self.diagonal[item] {
            return Ok(None);
        }
        factor.push(item, residual, next);
        Ok(Some(residual))
    }
}
