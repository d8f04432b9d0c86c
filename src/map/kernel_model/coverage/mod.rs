//! Sets that cover all items.

mod greedy;
mod regions;
mod swaps;

use self::{greedy::pick, regions::Regions, swaps::improve};
use super::{
    super::{Solution, Solver, Stats, Termination},
    KernelModel,
};
use crate::{Error, Partition, Result, engine::Engine, sealed::Sealed};

/// The most items of a set whose ln det is computed.
const MOST_IN_DET: usize = 4096;

/// Searches for the set to which all items are most similar: greedily, then by swaps if requested.
///
/// ```text
/// max  Σ_i max(0, max_{s∈S} K_is) + 2 Σ_{s∈S} ln q_s,   S as the model allows
/// ```
///
/// The chosen item most similar to an item covers it: an item of the same part ([`within`](Self::within)), or any
/// ([`of_all`](Self::of_all), facility location). Sets also cover excluded items. With
/// [scores](KernelModel::with_scores) the objective is (1 − d) Σ_{s∈S} r_s + d Σ_i max(0, max_s K_is), divided by d.
///
/// Unlike the determinant, coverage requires no rank, and it rewards diversity only as far as covering does.
/// [`Solution::covered`] gives the coverage of the set. [`Solution::log_det`] belongs to the same set, and is NaN for
/// more than 4096 items.
///
/// # Guarantee
/// With greedy picks, and no negative ln q among the items that can be chosen, the objective is at least 1 − 1/e of
/// the largest. This holds for sets of k items, and within the parts of a quota whose counts do not depend on each
/// other. Under any other quota the fraction is 1/2. Swaps improve the objective.
///
/// # Cost
/// Every item is compared with all others of its part once, Σ_l m_l² entries of the kernel, and again if its last
/// known gain is among the largest. A round of swaps costs as much; there are at least one and usually two to five.
/// Memory: 56 bytes per item, and for swaps 64 numbers per chosen item of a part.
///
/// # Numerics
/// f64. Sums are the same for any number of threads. A swap must improve the objective by a fraction of more than
/// 1e-12.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Partition, Quota, map::{Coverage, KernelModel, Solver}};
/// use partition_dpp::similarity::{Bandwidth, RbfKernel};
/// let features = Features::from_rows(6, 1, vec![0.0, 0.1, 0.2, 5.0, 7.0, 7.1])?;
/// let kernel = RbfKernel::new(&features, Bandwidth::Exactly(1.0))?;
/// let partition = Partition::from_labels(&["a", "a", "a", "b", "b", "b"])?;
/// let model = KernelModel::new(&kernel, &partition, &Quota::new(&partition, [1, 1])?)?;
/// let solution = Coverage::within(&partition).solve(&model, &Engine::cpu())?;
/// assert_eq!(solution.subset.as_slice(), [1, 4]);
/// assert!(solution.covered.is_some_and(|covered| covered.total > 5.0));
/// # Ok(()) }
/// ```
///
/// # Source
/// Nemhauser, Wolsey and Fisher, *An analysis of approximations for maximizing submodular set functions* (1978), and
/// part II of it for 1/2; Minoux, *Accelerated greedy algorithms for maximizing submodular set functions* (1978);
/// Schubert and Rousseeuw, *Fast and eager k-medoids clustering* (2021), for swaps; Bae, Noh and Sutherland,
/// *Generalized coverage for more robust low-budget active learning* (2024).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Coverage {
    /// Items cover the items of the same part; without a partition, all items.
    #[cfg_attr(feature = "serde", serde(default))]
    partition: Option<Partition>,
    #[cfg_attr(feature = "serde", serde(default))]
    swaps: bool,
}

/// The coverage of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Covered {
    /// Σ_i max(0, max_{s∈S} K_is).
    pub total: f64,
    /// The proven fraction of the largest objective that the greedy picks reach at least.
    ///
    /// `None` if items with a negative ln q can be chosen, and for a run that was stopped while it picked.
    pub guarantee: Option<f64>,
}

impl Covered {
    /// The coverage of two sets of disjoint parts together.
    pub(in super::super) fn and(self, other: Self) -> Self {
        let guarantee = self.guarantee.zip(other.guarantee).map(|(one, other)| one.min(other));
        Self { total: self.total + other.total, guarantee }
    }
}

impl Coverage {
    /// Creates the solver in which items cover the items of the same part.
    #[must_use]
    pub fn within(partition: &Partition) -> Self {
        Self { partition: Some(partition.clone()), swaps: false }
    }

    /// Creates the solver in which items cover all others.
    #[must_use]
    pub fn of_all() -> Self {
        Self { partition: None, swaps: false }
    }

    /// Swaps items after the greedy picks, until no swap improves the set.
    #[must_use]
    pub fn with_swaps(self) -> Self {
        Self { swaps: true, ..self }
    }

    /// The proven fraction of the largest objective.
    fn guarantee(&self, model: &KernelModel<'_>) -> Option<f64> {
        let mut free = model.groups.iter().zip(&model.counts.high).filter(|(_, high)| **high > 0);
        let mut weighed = free.clone().flat_map(|(items, _)| items).chain(model.included());
        if weighed.any(|&item| model.log_square(item as usize) < 0.0) {
            return None;
        }
        // Whether the parts of the quota have independent counts and cover different items.
        let mut group_of: Vec<Option<usize>> =
            vec![None; self.partition.as_ref().map_or(1, Partition::parts)];
        let is_own = |(group, items): (usize, &[u32])| {
            items.iter().all(|&item| {
                let region = self.partition.as_ref().map_or(0, |own| own.part_of(item as usize));
                *group_of[region].get_or_insert(group) == group
            })
        };
        let apart = model.counts.most == model.counts.high.iter().sum::<usize>()
            && free.by_ref().map(|(items, _)| &items[..]).enumerate().all(is_own);
        Some(if apart { 1.0 - (-1.0_f64).exp() } else { 0.5 })
    }
}

impl Sealed for Coverage {}

impl Solver<KernelModel<'_>> for Coverage {
    /// Returns the set that greedy picks find, improved by swaps if requested.
    ///
    /// A time limit ends the swaps, never the picks before them. The flag of a watch ends the run, and the quota is
    /// then filled with the items whose last known gains are largest.
    ///
    /// # Errors
    /// [`Error::LabelCount`] if the partition of this solver is for another number of items; [`Error::Kernel`] if
    /// entries are not finite.
    fn solve(&self, model: &KernelModel<'_>, engine: &Engine) -> Result<Solution> {
        let (items, clock) = (model.kernel.items(), engine.apart().1.start());
        if let Some(labels) = self.partition.as_ref().map(Partition::items).filter(|&labels| labels != items)
        {
            return Err(Error::LabelCount { items, labels });
        }
        let mut stats = Stats::default();
        let mut regions = Regions::new(model.kernel, self.partition.as_ref());
        model.included().iter().try_for_each(|&item| regions.insert(item))?;
        let picked = pick(model, &mut regions, &clock, &mut stats)?;
        let is_stopped = picked.termination == Termination::Interrupted;
        let guarantee = self.guarantee(model).filter(|_| !is_stopped);
        let (mut places, mut termination) = (picked.places, picked.termination);
        stats.gains = picked.gains;
        if self.swaps && !is_stopped {
            termination = improve(model, &mut regions, &mut places, &clock, &mut stats)?;
        }
        let covered = Some(Covered { total: regions.total(), guarantee });
        let log_det = match model.included().len() + places.len() {
            // A cover may need more items than can be independent.
            size if size > model.kernel.rank_at_most() => f64::NEG_INFINITY,
            size if size > MOST_IN_DET => f64::NAN,
            _ => model.factor_of(&places)?.map_or(f64::NEG_INFINITY, |factor| model.log_det(&factor)),
        };
        Ok(Solution { covered, ..model.solution(&places, log_det, termination, stats) })
    }
}
