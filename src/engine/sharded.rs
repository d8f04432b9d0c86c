//! Set-up passes over shards: each reads its own rows, here or on another machine, and the results are merged.

use std::ops::Range;

use faer::{Mat, MatRef};

use super::{
    Cpu, Engine, EngineInfo, Group, Items, Precision, RowMap, Rows, Shard, ShardFactor, ShardMap, ShardRows,
    sealed::Sealed,
    shard::{check_size, numbers},
};
use crate::{Result, parallel::map_ordered};

/// An engine that distributes passes over all rows among the shards of the ground set.
///
/// Samplers and inference set up with [`part_grams`](Engine::part_grams) and [`row_forms`](Engine::row_forms); all
/// other verbs run on the local CPU. Models still need the features, to read a few rows of every part and the rows
/// that draws try: [`Features::concatenate`](crate::Features::concatenate) of memory-mapped files suffices, and only
/// the shards read them completely.
///
/// # Numerics
/// Gram matrices are summed shard by shard. With other shards, or another order, entry (i, j) of a sum differs by a
/// small multiple of ε·√(G_ii G_jj), less than twice the number of shards and of runs of rows summed separately (8192
/// rows, or the rest of a window); log Z and probabilities differ accordingly, by about 1e-14 for well-conditioned
/// rows.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, KDpp, Method, engine::{Cpu, LocalShard, Sharded}};
/// let shard = |seed: f64| Features::from_rows(500, 4, (0..2000).map(|i| (seed * f64::from(i)).sin()).collect::<Vec<_>>());
/// let shards = [shard(1.0)?, shard(2.0)?];
/// let all = Features::concatenate(&shards)?;
/// let engine = Sharded::new(shards.map(|features| LocalShard { features, engine: &Cpu }));
/// let samples = KDpp::new(&all, 3)?.sampler(Method::Auto, &engine)?.sample_many(10, 0);
/// assert_eq!(samples.subsets().len(), 10);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Sharded<S> {
    shards: Vec<S>,
}

impl<S: Shard> Sharded<S> {
    /// The shards of a ground set, in the order of its items.
    #[must_use]
    pub fn new(shards: impl IntoIterator<Item = S>) -> Self {
        Self { shards: shards.into_iter().collect() }
    }

    /// Whether these rows are those of the shards, in order. Rows with more features than items are not: models
    /// compress them first, and the result is small.
    fn has(&self, rows: &Rows<'_>) -> bool {
        is_ascending(rows) && self.shards.iter().all(|shard| shard.dims() == rows.features().dims())
    }

    /// The rows of every group in each shard, counted from its first row, and their positions in the group.
    fn split(&self, rows: &Rows<'_>) -> Result<Vec<(ShardRows, Vec<Range<usize>>)>> {
        let found = self.shards.iter().map(Shard::items).sum();
        check_size("the list of the items of all shards", rows.features().items(), found)?;
        let mut first = 0;
        let of_shard = |shard: &S| {
            let start = first;
            first += shard.items();
            let (mut groups, mut positions) = (Vec::new(), Vec::new());
            for &Group { items, scale } in rows.groups() {
                let range = items.before(start)..items.before(first);
                #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
                let local = range.clone().map(|position| (items.at(position) - start) as u32);
                groups.push((local.collect(), scale));
                positions.push(range);
            }
            (ShardRows { groups }, positions)
        };
        Ok(self.shards.iter().map(of_shard).collect())
    }
}

/// Whether all groups are in ascending order, as those of all models are.
fn is_ascending(rows: &Rows<'_>) -> bool {
    let ascending = |group: &Group<'_>| match group.items {
        Items::All(_) => true,
        Items::Listed(items) => items.is_sorted(),
    };
    rows.groups().iter().all(ascending)
}

fn factor_of<'a>(matrix: MatRef<'_, f64>, values: &'a [f64]) -> ShardFactor<'a> {
    ShardFactor { rows: matrix.nrows(), columns: matrix.ncols(), values }
}

impl<S> Sealed for Sharded<S> {}

impl<S: Shard> Engine for Sharded<S> {
    fn info(&self) -> EngineInfo {
        let adapter = Some(format!("{} shards", self.shards.len()));
        EngineInfo { name: "sharded", adapter, precision: Precision::F64 }
    }

    fn part_grams(&self, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Result<Vec<Mat<f64>>> {
        if !self.has(rows) {
            return Cpu.part_grams(rows, map);
        }
        let split = self.split(rows)?;
        let values = map.map(|map| numbers(map.factor));
        let plain = map
            .zip(values.as_ref())
            .map(|(map, values)| ShardMap { weights: map.weights, factor: factor_of(map.factor, values) });
        let of_shard = |shard: usize| self.shards[shard].part_grams(&split[shard].0, plain.as_ref());
        let answers = map_ordered(split.len(), of_shard).into_iter().collect::<Result<Vec<_>>>()?;
        let size = map.map_or(rows.features().dims(), |map| map.factor.ncols());
        let mut sums = vec![Mat::<f64>::zeros(size, size); rows.groups().len()];
        for grams in answers {
            check_size("the Gram matrices of a shard", sums.len(), grams.len())?;
            for gram in &grams {
                check_size("a Gram matrix of a shard", size * size, gram.len())?;
            }
            for (sum, gram) in sums.iter_mut().zip(&grams) {
                *sum += MatRef::from_column_major_slice(gram, size, size);
            }
        }
        Ok(sums)
    }

    fn row_forms(&self, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Result<Vec<f64>> {
        if !self.has(rows) {
            return Cpu.row_forms(rows, factors);
        }
        let split = self.split(rows)?;
        let values: Vec<Vec<f64>> = factors.iter().map(|&factor| numbers(factor)).collect();
        let factors: Vec<ShardFactor<'_>> =
            factors.iter().zip(&values).map(|(&factor, values)| factor_of(factor, values)).collect();
        let of_shard = |shard: usize| self.shards[shard].row_forms(&split[shard].0, &factors);
        let answers = map_ordered(split.len(), of_shard).into_iter().collect::<Result<Vec<_>>>()?;
        let mut forms = vec![0.0; rows.len()];
        for ((_, positions), answer) in split.iter().zip(&answers) {
            check_size("the answer of a shard", positions.iter().map(Range::len).sum(), answer.len())?;
            let (mut group_start, mut left) = (0, &answer[..]);
            for (range, group) in positions.iter().zip(rows.groups()) {
                let (own, rest) = left.split_at(range.len());
                forms[group_start + range.start..group_start + range.end].copy_from_slice(own);
                left = rest;
                group_start += group.items.len();
            }
        }
        Ok(forms)
    }
}
