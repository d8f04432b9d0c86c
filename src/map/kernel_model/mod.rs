//! The most probable set for a kernel that is a function of two items.

mod gains;
mod greedy;
mod local_search;
mod swaps;
mod visits;

use crate::{
    Error, Partition, Quota, Result,
    model::{Counts, add_sorted},
    similarity::{Factor, KernelFunction, NextRow, checked_diagonal},
};

/// Residuals K_jj − ‖L⁻¹ K_{S,j}‖² below this fraction of K_jj count as rounding: the item depends on those chosen.
const NOTHING: f64 = 1e-12;

/// A kernel function with a quota and conditions: what [`Greedy`](super::Greedy), [`LazyGreedy`](super::LazyGreedy) and
/// [`LocalSearch`](super::LocalSearch) maximise where there are no features.
///
/// ```text
/// max  det K_S   over all S with lo_l ≤ |S∩P_l| ≤ hi_l, and |S| = k if the quota has a total
/// ```
///
/// K is computed entry by entry, as solvers need it; k may exceed the number of features that it is computed from.
///
/// # Numerics
/// Solvers compute on the CPU in f64. Subtraction leaves of K_jj what is not explained by the chosen items, so residuals
/// below 1e-12 K_jj count as zero (for features, [`PartitionDpp`](crate::PartitionDpp) knows residuals down to 1e-24). Whether a quota can be met with a
/// positive determinant is not known beforehand: a solver that finds no independent items left ends with
/// [`Termination::RankExhausted`](super::Termination::RankExhausted). With an RBF kernel of distinct rows, or a ridge, any
/// quota can be met.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, Partition, Quota, engine::Cpu, map::{KernelModel, LazyGreedy, Solver}};
/// use partition_dpp::similarity::{Bandwidth, RbfKernel};
/// let features = Features::from_rows(5, 1, vec![0.0, 0.1, 2.0, 2.1, 5.0])?;
/// let kernel = RbfKernel::new(&features, Bandwidth::Exactly(1.0))?;
/// let partition = Partition::from_labels(&["a", "a", "a", "b", "b"])?;
/// let quota = Quota::new(&partition, [2, 1])?;
/// let solution = LazyGreedy::default().solve(&KernelModel::new(&kernel, &partition, &quota)?, &Cpu)?;
/// assert_eq!(solution.subset.as_slice(), [0, 2, 4]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct KernelModel<'a> {
    kernel: &'a dyn KernelFunction,
    /// K_ii.
    diagonal: Vec<f64>,
    asked: Asked,
    /// Ascending.
    included: Vec<u32>,
    /// Ascending.
    excluded: Vec<u32>,
    /// The free items of every part that may have more.
    groups: Vec<Vec<u32>>,
    /// How many of them to choose.
    counts: Counts,
}

#[derive(Clone, Debug)]
enum Asked {
    Size(usize),
    Quota(Partition, Quota),
}

impl<'a> KernelModel<'a> {
    /// Sets that meet a quota.
    ///
    /// # Cost
    /// The diagonal of the kernel.
    ///
    /// # Errors
    /// - [`Error::LabelCount`] if partition and kernel have different numbers of items;
    /// - [`Error::QuotaLength`], [`Error::QuotaOfOtherParts`] if the quota belongs to another partition;
    /// - [`Error::Kernel`] for a diagonal that is negative or not finite.
    pub fn new(kernel: &'a dyn KernelFunction, partition: &Partition, quota: &Quota) -> Result<Self> {
        let (items, labels) = (kernel.items(), partition.items());
        if items != labels {
            return Err(Error::LabelCount { items, labels });
        }
        quota.check(partition)?;
        Self::asking(kernel, Asked::Quota(partition.clone(), quota.clone()))
    }

    /// Sets of k items.
    ///
    /// # Errors
    /// - [`Error::Nothing`] for k = 0, [`Error::SizeAboveItems`] for k > m;
    /// - [`Error::Kernel`] for a diagonal that is negative or not finite.
    pub fn of_size(kernel: &'a dyn KernelFunction, k: usize) -> Result<Self> {
        if k == 0 {
            return Err(Error::Nothing { what: "k" });
        }
        Self::asking(kernel, Asked::Size(k))
    }

    fn asking(kernel: &'a dyn KernelFunction, asked: Asked) -> Result<Self> {
        let diagonal = checked_diagonal(kernel)?;
        let (included, excluded, groups, counts) = (Vec::new(), Vec::new(), Vec::new(), Counts::exactly(&[]));
        Self { kernel, diagonal, asked, included, excluded, groups, counts }.resolved()
    }

    /// Conditions on these items being in the set, besides those required before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::DependentItems`] if their determinant is zero;
    /// - [`Error::QuotaBelowIncluded`], [`Error::SizeBelowIncluded`], [`Error::TotalOutsideRanges`] if they are more than a
    ///   part or the total allows.
    pub fn including(mut self, items: &[usize]) -> Result<Self> {
        add_sorted(&mut self.included, items, self.kernel.items())?;
        self.included_factor(0)?;
        self.resolved()
    }

    /// Conditions on these items not being in the set, besides those excluded before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::QuotaAbovePartSize`], [`Error::SizeAboveItems`], [`Error::TotalOutsideRanges`] if too little is left.
    pub fn excluding(mut self, items: &[usize]) -> Result<Self> {
        add_sorted(&mut self.excluded, items, self.kernel.items())?;
        self.resolved()
    }

    /// Finds what is left to choose.
    fn resolved(mut self) -> Result<Self> {
        let both = self.included.iter().find(|item| self.excluded.binary_search(item).is_ok());
        if let Some(&item) = both {
            return Err(Error::IncludedAndExcluded { item: item as usize });
        }
        (self.groups, self.counts) = match &self.asked {
            Asked::Size(k) => self.left_of_size(*k)?,
            Asked::Quota(partition, quota) => self.left_of_quota(partition, quota)?,
        };
        Ok(self)
    }

    fn is_free(&self, item: u32) -> bool {
        self.included.binary_search(&item).is_err() && self.excluded.binary_search(&item).is_err()
    }

    #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
    fn left_of_size(&self, k: usize) -> Result<(Vec<Vec<u32>>, Counts)> {
        let (items, included) = (self.kernel.items() - self.excluded.len(), self.included.len());
        if k > items {
            return Err(Error::SizeAboveItems { k, items });
        }
        if included > k {
            return Err(Error::SizeBelowIncluded { k, included });
        }
        let free = (0..self.kernel.items() as u32).filter(|&item| self.is_free(item)).collect();
        Ok((vec![free], Counts::exactly(&[k - included])))
    }

    fn left_of_quota(&self, partition: &Partition, quota: &Quota) -> Result<(Vec<Vec<u32>>, Counts)> {
        let mut included = vec![0; partition.parts()];
        self.included.iter().for_each(|&item| included[partition.part_of(item as usize)] += 1);
        let (mut groups, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new());
        for (part, &included) in included.iter().enumerate() {
            let (least, most) = (quota.low()[part], quota.high()[part]);
            let name = || partition.names()[part].clone();
            if included > most {
                return Err(Error::QuotaBelowIncluded { part: name(), quota: most, included });
            }
            let free = partition.members(part).iter().copied().filter(|&item| self.is_free(item));
            let free: Vec<u32> = free.collect();
            let size = free.len() + included;
            if least > size {
                return Err(Error::QuotaAbovePartSize { part: name(), quota: least, size });
            }
            low.push(least.saturating_sub(included));
            high.push((most - included).min(free.len()));
            groups.push(if most > included { free } else { Vec::new() });
        }
        let total = self.total_left(quota, &low, &high)?;
        Ok((groups, Counts::in_ranges(&low, &high, total, usize::MAX)))
    }

    /// What the total leaves beyond the included items.
    fn total_left(&self, quota: &Quota, low: &[usize], high: &[usize]) -> Result<Option<usize>> {
        let Some(total) = quota.total() else { return Ok(None) };
        let included = self.included.len();
        let Some(left) = total.checked_sub(included) else {
            return Err(Error::SizeBelowIncluded { k: total, included });
        };
        let (low, high): (usize, usize) = (low.iter().sum(), high.iter().sum());
        if !(low..=high).contains(&left) {
            return Err(Error::TotalOutsideRanges { total, low: low + included, high: high + included });
        }
        Ok(Some(left))
    }

    /// The factor of the included items, with room for more.
    fn included_factor(&self, more: usize) -> Result<Factor<'a>> {
        let mut factor = Factor::new(self.kernel, self.included.len() + more);
        let mut next = NextRow::default();
        for &item in &self.included {
            self.extend(&mut factor, item, &mut next)?
                .ok_or(Error::DependentItems { item: item as usize })?;
        }
        Ok(factor)
    }

    /// Adds an item to a factor; `None` if it depends on those before it, otherwise its residual.
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
