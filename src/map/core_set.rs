//! Core-sets: a few items of every shard whose union contains a good set.

use super::{Candidates, Greedy, LocalSearch, Objective, Solution, Solver, Termination};
use crate::{
    Error, Features, Partition, Result,
    data::check_partition,
    engine::Engine,
    model::{Counts, FreeItems, GroundSet},
    sealed::Sealed,
    stream::Batch,
};

/// The core-set of one shard: at most k items of every part, for quotas of k items in all.
///
/// ```text
/// max { det K_S : S ⊆ ∪ core-sets, S meets the quota }  ≥  (2k)^(−2k) · max { det K_S : S meets the quota }
/// ```
///
/// for core-sets by local search: a locally optimal set of k items is at most 2k times flatter than its whole part in
/// any direction, so every item of the best set can be swapped for one of its own part and shard, one after the other.
/// In practice far less is lost. Core-sets are computed shard by shard, on any machine, and then united.
///
/// # Shapes
/// Every shard has features of the same n. Labels may differ; parts are united by name.
///
/// # Cost
/// For a shard with m items: 2mnk by greedy, that of [`LocalSearch`] by local search. The union has at most shards · p · k items.
///
/// # Numerics
/// Rows of core-sets are kept in f64.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, Partition, PartitionDpp, Quota, engine::Cpu, map::{CoreSet, LocalSearch, Solver}};
/// let shards = [vec![1.0, 0.0, 0.9, 0.1, 0.0, 0.5], vec![0.2, 0.1, 0.1, 2.0, 1.0, 1.0]];
/// let labels = [["a", "a", "b"], ["a", "b", "b"]];
/// let mut core_sets = Vec::new();
/// for (values, labels) in shards.iter().zip(labels) {
///     let features = Features::from_rows(3, 2, values)?;
///     core_sets.push(CoreSet::by_local_search(&features, &Partition::from_labels(&labels)?, 2, &Cpu)?);
/// }
/// let union = CoreSet::union(&core_sets)?;
/// let quota = Quota::each(union.partition(), 1)?;
/// let dpp = PartitionDpp::new(union.features(), union.partition(), &quota)?;
/// let best = LocalSearch::default().solve(&dpp, &Cpu)?;
/// let origins: Vec<_> = best.subset.iter().map(|item| union.origin(item)).collect();
/// // Item 0 of the first shard, item 1 of the second.
/// assert_eq!(origins.iter().map(|at| (at.shard, at.item)).collect::<Vec<_>>(), [(0, 0), (1, 1)]);
/// # Ok(()) }
/// ```
///
/// # Source
/// Mahabadi, Indyk, Oveis Gharan and Rezaei, *Composable core-sets for determinant maximization: a simple near-optimal
/// algorithm* (2019), for sets of k items; under quotas the same swaps stay inside a part.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreSet {
    pub(crate) dims: usize,
    /// The number of the batch, if it is of one.
    pub(crate) batch: u64,
    /// One row after the other, as stored.
    pub(crate) rows: Vec<f64>,
    /// ln of their weights.
    pub(crate) log_weights: Vec<f64>,
    /// Item numbers in the shard.
    pub(crate) items: Vec<usize>,
    /// The name of every item's part.
    pub(crate) labels: Vec<String>,
}

impl CoreSet {
    /// Selects items by the greedy algorithm: one pass over the shard per item and part. The guarantee is weaker than that
    /// of local search, a factor of (k!)² or more.
    ///
    /// # Errors
    /// As [`by_local_search`](CoreSet::by_local_search).
    pub fn by_greedy(
        features: &Features<'_>,
        partition: &Partition,
        total: usize,
        engine: &dyn Engine,
    ) -> Result<Self> {
        Self::by(features, partition, total, |part| Greedy::default().solve(part, engine))
    }

    /// Selects items of a batch by local search, to be sent to where the union is: see
    /// [`to_bytes`](CoreSet::to_bytes). None of an empty batch.
    ///
    /// # Errors
    /// As [`by_local_search`](CoreSet::by_local_search).
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Features, Partition, engine::Cpu, map::CoreSet, stream::Batch};
    /// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 2.0, 0.0, 0.0, 1.0])?;
    /// let batch = Batch::new(7, &features, &Partition::from_labels(&["cat", "cat", "dog"])?)?;
    /// let core_set = CoreSet::from_bytes(&CoreSet::of_batch(&batch, 1, &Cpu)?.to_bytes())?;
    /// assert_eq!((core_set.batch(), core_set.items()), (7, &[1, 2][..]));
    /// # Ok(()) }
    /// ```
    pub fn of_batch(batch: &Batch<'_>, total: usize, engine: &dyn Engine) -> Result<Self> {
        let core = match batch.content() {
            Some((features, partition)) => Self::by_local_search(features, partition, total, engine)?,
            None => Self::empty(0),
        };
        Ok(Self { batch: batch.number(), ..core })
    }

    /// The number of the batch that it is of; 0 for features that are no batch.
    #[must_use]
    pub fn batch(&self) -> u64 {
        self.batch
    }

    fn empty(dims: usize) -> Self {
        let (rows, log_weights, items, labels) = Default::default();
        Self { dims, batch: 0, rows, log_weights, items, labels }
    }

    /// Selects items by local search from the greedy set.
    ///
    /// # Errors
    /// - [`Error::LabelCount`] if partition and features have different numbers of items;
    /// - [`Error::Nothing`] for a total of 0;
    /// - those of [`LocalSearch::solve`].
    pub fn by_local_search(
        features: &Features<'_>,
        partition: &Partition,
        total: usize,
        engine: &dyn Engine,
    ) -> Result<Self> {
        Self::by(features, partition, total, |part| LocalSearch::default().solve(part, engine))
    }

    fn by(
        features: &Features<'_>,
        partition: &Partition,
        total: usize,
        solve: impl Fn(&OnePart<'_>) -> Result<Solution>,
    ) -> Result<Self> {
        check_partition(features, partition)?;
        if total == 0 {
            return Err(Error::Nothing { what: "the size of the sets" });
        }
        let ground = GroundSet::new(features)?;
        let mut core = Self::empty(features.dims());
        for part in 0..partition.parts() {
            let members = ground.free_members(partition, part);
            let size = total.min(members.len());
            let mut own = OnePart { ground: &ground, members, size };
            let mut found = solve(&own)?;
            if found.termination == Termination::RankExhausted && !found.subset.is_empty() {
                // Solve again for as many items as are independent.
                own.size = found.subset.len();
                found = solve(&own)?;
            }
            for item in &found.subset {
                core.items.push(item);
                core.labels.push(partition.names()[part].clone());
                core.rows.extend(features.row(item));
                core.log_weights.push(features.log_weight(item));
            }
        }
        Ok(core)
    }

    /// The items by their numbers in the shard, part after part.
    #[must_use]
    pub fn items(&self) -> &[usize] {
        &self.items
    }

    /// Unites the core-sets of all shards into one ground set.
    ///
    /// # Errors
    /// - [`Error::Empty`] if there are none, or no item in any;
    /// - [`Error::Shape`] if they have different numbers of features.
    pub fn union(core_sets: &[CoreSet]) -> Result<CoreSetUnion> {
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
    features: Features<'static>,
    partition: Partition,
    origins: Vec<Origin>,
}

/// The origin of an item of a union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The position of its core-set in the list.
    pub shard: usize,
    /// Its number in that shard.
    pub item: usize,
}

impl CoreSetUnion {
    /// One row per item.
    #[must_use]
    pub fn features(&self) -> &Features<'static> {
        &self.features
    }

    /// The parts of all shards, ordered by name.
    #[must_use]
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The origin of an item.
    ///
    /// # Panics
    /// If there is no such item.
    #[must_use]
    pub fn origin(&self, item: usize) -> Origin {
        self.origins[item]
    }
}

/// A model of the sets of `size` items of one part.
struct OnePart<'a> {
    ground: &'a GroundSet<'a>,
    members: FreeItems,
    size: usize,
}

impl Sealed for OnePart<'_> {}

impl Objective for OnePart<'_> {
    fn candidates(&self) -> Candidates<'_> {
        self.candidates_below(self.ground)
    }

    fn candidates_below<'a>(&'a self, above: &'a GroundSet<'a>) -> Candidates<'a> {
        let (groups, counts) = (vec![self.members.clone()], Counts::exactly(&[self.size]));
        Candidates { features: self.ground.given(), ground: above, groups, counts }
    }
}
