//! Core-sets: a few items of every shard whose union contains a good set.

use std::collections::{BTreeMap, BTreeSet};

use super::{Greedy, LocalSearch, Solution, Solver, Termination};
use crate::{
    Error, Features, Partition, Result,
    data::{check_partition, common_kind},
    engine::{Engine, Items},
    error::{StreamProblem, WeightProblem},
    model::{Counts, GroundSet, PartKDpp, feasibility},
};

/// The core-set of one shard: at most k items of every part, for quotas of k items in total.
///
/// ```text
/// max { det K_S : S ⊆ ∪ core-sets, S meets the quota }  ≥  (2k)^(−2k) · max { det K_S : S meets the quota }
/// ```
///
/// This holds for core-sets from local search. A locally optimal set of k items is at most 2k times flatter than its
/// whole part in any direction, so every item of the best set can be swapped, one after the other, for a core-set
/// item from the same part and shard. In practice far less is lost. Core-sets are computed shard by shard, on any
/// machine, and then united.
///
/// # Shapes
/// Every shard has features with the same n. Labels may differ; parts are united by name.
///
/// # Cost
/// For a shard with m items: 2mnk with the greedy algorithm, or the cost of [`LocalSearch`]. The union has at most
/// shards · p · k items.
///
/// # Numerics
/// Rows of core-sets are kept in f64.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Partition, PartitionDpp, Quota, map::{CoreSet, LocalSearch, Solver}};
/// let shards = [vec![1.0, 0.0, 0.9, 0.1, 0.0, 0.5], vec![0.2, 0.1, 0.1, 2.0, 1.0, 1.0]];
/// let labels = [["a", "a", "b"], ["a", "b", "b"]];
/// let mut core_sets = Vec::new();
/// for (values, labels) in shards.iter().zip(labels) {
///     let features = Features::from_rows(3, 2, values)?;
///     core_sets.push(CoreSet::by_local_search(&features, &Partition::from_labels(&labels)?, 2, &Engine::cpu())?);
/// }
/// let union = CoreSet::union(&core_sets)?;
/// let quota = Quota::each(union.partition(), 1)?;
/// let dpp = PartitionDpp::new(union.features(), union.partition(), &quota)?;
/// let best = LocalSearch::default().solve(&dpp, &Engine::cpu())?;
/// let origins: Vec<_> = best.subset.iter().map(|item| union.origin(item)).collect();
/// // Item 0 of the first shard, item 1 of the second.
/// assert_eq!(origins.iter().map(|at| (at.shard, at.item)).collect::<Vec<_>>(), [(0, 0), (1, 1)]);
/// # Ok(()) }
/// ```
///
/// # Source
/// Mahabadi, Indyk, Oveis Gharan and Rezaei, *Composable core-sets for determinant maximization: a simple
/// near-optimal algorithm* (2019), for sets of k items; under quotas the same swaps stay inside a part.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreSet {
    pub(crate) dims: usize,
    /// The number of the batch that the items come from, if any.
    pub(crate) batch: Option<u64>,
    /// The rows one after the other, as stored.
    pub(crate) rows: Vec<f64>,
    /// The logarithms of the row weights.
    pub(crate) log_weights: Vec<f64>,
    /// The item numbers in the shard.
    pub(crate) items: Vec<usize>,
    /// The name of every item's part.
    pub(crate) labels: Vec<String>,
    /// Whether the label of every item is text, if known.
    pub(crate) texts: Vec<Option<bool>>,
}

impl CoreSet {
    /// Selects items with the greedy algorithm: one pass over the shard per item and part.
    ///
    /// The guarantee is weaker than for local search: a factor of (k!)² or more.
    ///
    /// # Errors
    /// Same as [`by_local_search`](CoreSet::by_local_search).
    pub fn by_greedy(
        features: &Features,
        partition: &Partition,
        total: usize,
        engine: &Engine,
    ) -> Result<Self> {
        Self::by(features, partition, total, |part| Greedy::default().solve(part, engine))
    }

    /// The number of the batch that the items come from; 0 for features that are not a batch.
    #[must_use]
    pub fn batch(&self) -> u64 {
        self.batch.unwrap_or(0)
    }

    pub(crate) fn empty(dims: usize) -> Self {
        let (rows, log_weights, items, labels, texts) = Default::default();
        Self { dims, batch: None, rows, log_weights, items, labels, texts }
    }

    /// Selects items with local search from the greedy set.
    ///
    /// # Errors
    /// - [`Error::LabelCount`] if partition and features have different numbers of items;
    /// - [`Error::Nothing`] if the total is 0;
    /// - errors of [`LocalSearch::solve`].
    pub fn by_local_search(
        features: &Features,
        partition: &Partition,
        total: usize,
        engine: &Engine,
    ) -> Result<Self> {
        Self::by(features, partition, total, |part| LocalSearch::default().solve(part, engine))
    }

    fn by(
        features: &Features,
        partition: &Partition,
        total: usize,
        solve: impl Fn(&PartKDpp) -> Result<Solution>,
    ) -> Result<Self> {
        check_partition(features, partition)?;
        if total == 0 {
            return Err(Error::Nothing { what: "the size of the sets" });
        }
        let ground = GroundSet::new(features)?;
        let mut core = Self::empty(features.dims());
        for part in 0..partition.parts() {
            for item in best_of(&ground, partition, part, total, &solve)? {
                core.items.push(item);
                core.labels.push(partition.names()[part].clone());
                core.texts.push(None);
                core.rows.extend(features.row(item));
                core.log_weights.push(features.log_weight(item));
            }
        }
        Ok(core)
    }

    /// The numbers of the items in the shard, part by part.
    #[must_use]
    pub fn items(&self) -> &[usize] {
        &self.items
    }

    /// Unites the core-sets of all shards into one ground set.
    ///
    /// # Errors
    /// - [`Error::Empty`] if there are no core-sets, or none has items;
    /// - [`StreamProblem::RepeatedBatch`] if two core-sets come from batches with the same number;
    /// - [`StreamProblem::MixedLabels`] if a label is text in one core-set and not in another;
    /// - [`Error::Shape`] if they have different numbers of features.
    pub fn union(core_sets: &[CoreSet]) -> Result<CoreSetUnion> {
        let mut numbers = BTreeSet::new();
        if let Some(number) = core_sets.iter().filter_map(|core| core.batch).find(|&own| !numbers.insert(own))
        {
            return Err(StreamProblem::RepeatedBatch { number }.into());
        }
        let mut kinds = BTreeMap::new();
        for (label, &kind) in core_sets.iter().flat_map(|core| core.labels.iter().zip(&core.texts)) {
            let known = kinds.entry(label).or_insert(kind);
            *known = common_kind(label, [*known, kind])?;
        }
        let with_items = || core_sets.iter().filter(|core| !core.items.is_empty());
        let Some(first) = with_items().next() else {
            return Err(Error::Empty { what: "the list of core-sets" });
        };
        if let Some(other) = with_items().find(|core| core.dims != first.dims) {
            return Err(Error::Shape {
                what: "a row of a core-set",
                found: other.dims,
                expected: first.dims,
            });
        }
        let numbered = core_sets.iter().enumerate();
        let origins: Vec<Origin> = numbered
            .flat_map(|(shard, core)| core.items.iter().map(move |&item| Origin { shard, item }))
            .collect();
        let labels: Vec<&String> = core_sets.iter().flat_map(|core| &core.labels).collect();
        let rows: Vec<f64> = core_sets.iter().flat_map(|core| &core.rows).copied().collect();
        let partition = Partition::from_labels(&labels)?;
        let log_weights: Vec<f64> = core_sets.iter().flat_map(|core| &core.log_weights).copied().collect();
        let features = Features::from_rows(origins.len(), first.dims, rows)?;
        let is_weighted = log_weights.iter().any(|&log| log != 0.0);
        let features = if is_weighted { features.with_log_quality(&log_weights)? } else { features };
        Ok(CoreSetUnion { features, partition, origins })
    }
}

/// The core-sets of all shards, as one ground set.
#[derive(Clone, Debug)]
pub struct CoreSetUnion {
    features: Features,
    partition: Partition,
    origins: Vec<Origin>,
}

/// The origin of an item of a union.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The position of the item's core-set in the list.
    pub shard: usize,
    /// The number of the item in its shard.
    pub item: usize,
}

impl CoreSetUnion {
    /// One row per item.
    #[must_use]
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The parts of all shards, ordered by name.
    #[must_use]
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Returns the origin of this item.
    ///
    /// # Panics
    /// If there is no such item.
    #[must_use]
    pub fn origin(&self, item: usize) -> Origin {
        self.origins[item]
    }
}

/// The best `total` items of a part, or as many as are independent.
///
/// Weights too far apart for f64 are narrowed, as in a model of the part. If they have too many levels for that, the
/// items of the upper levels are found first and included.
fn best_of(
    whole: &GroundSet,
    partition: &Partition,
    part: usize,
    total: usize,
    solve: &impl Fn(&PartKDpp) -> Result<Solution>,
) -> Result<Vec<usize>> {
    let (mut ground, mut found) = (whole.clone(), Vec::new());
    loop {
        let items = ground.conditions().free_members(partition, part);
        let groups = std::slice::from_ref(&items);
        let most = (total - found.len()).min(items.len());
        let wanted = if ground.has_narrow_weights(groups) {
            most
        } else {
            feasibility::part_basis(&ground, Items::from(&items), most).len()
        };
        if wanted == 0 {
            return Ok(found);
        }
        let mut count = wanted;
        let narrowed = loop {
            let counts = Counts::exactly(&[count]);
            match ground.clone().for_choices(groups, &counts) {
                Err(Error::Weights(WeightProblem::Spread)) if count > 1 => count /= 2,
                narrowed => break narrowed?,
            }
        };
        let mut own = PartKDpp { ground: narrowed, items, count };
        let mut best = solve(&own)?;
        if best.termination == Termination::RankExhausted && best.subset.len() > found.len() {
            // Solve again for as many items as are independent in f64.
            own.count = best.subset.len() - found.len();
            best = solve(&own)?;
        }
        let is_last = count == wanted || best.subset.len() <= found.len();
        found = best.subset.iter().collect();
        if is_last || best.termination == Termination::RankExhausted {
            return Ok(found);
        }
        ground = whole.clone();
        ground.include(&found)?;
    }
}
