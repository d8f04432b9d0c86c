//! Shards of a ground set, whose rows may be on another machine.

use std::fmt;

use faer::{Mat, MatRef};

use super::{Engine, Group, Items, RowMap, Rows, in_double};
use crate::{Error, Features, Result};

/// Consecutive items of a ground set, with an implementation that computes over their rows in f64.
///
/// Implement it to distribute set-up: send the arguments to the machine with the rows, compute there with a
/// [`LocalShard`], and send the answer back. Arguments and answers are plain numbers. Every pass sends the index of
/// every item of the shard that may be chosen; the answers are p·n² numbers for Gram matrices, and one per item for the
/// table of trials. A factor adds n·r.
pub trait Shard: fmt::Debug + Send + Sync {
    /// Number of items.
    fn items(&self) -> usize;

    /// Number of features per item.
    fn dims(&self) -> usize;

    /// As [`Engine::part_grams`], over rows of this shard: n² values per group, or r² with a map, column by column.
    ///
    /// # Errors
    /// Those of the implementation.
    fn part_grams(&self, rows: &ShardRows, map: Option<&ShardMap<'_>>) -> Result<Vec<Vec<f64>>>;

    /// As [`Engine::row_forms`], over rows of this shard.
    ///
    /// # Errors
    /// Those of the implementation.
    fn row_forms(&self, rows: &ShardRows, factors: &[ShardFactor<'_>]) -> Result<Vec<f64>>;
}

/// Groups of rows of a shard, counted from its first row.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardRows {
    /// For every group, its rows and their scale.
    pub groups: Vec<(Vec<u32>, f64)>,
}

impl ShardRows {
    /// These rows of the features of the shard.
    #[must_use]
    pub fn of<'a>(&'a self, features: &'a Features) -> Rows<'a> {
        let group =
            |(items, scale): &'a (Vec<u32>, f64)| Group { items: Items::Listed(items), scale: *scale };
        Rows::with_scales(features, self.groups.iter().map(group).collect())
    }
}

/// A matrix F as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShardFactor<'a> {
    /// Number of rows: the features of the shard.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// F_ij at j·rows + i, column by column.
    pub values: &'a [f64],
}

impl ShardFactor<'_> {
    fn matrix(&self) -> Result<Mat<f64>> {
        check_size("the values of a factor", self.rows.saturating_mul(self.columns), self.values.len())?;
        Ok(MatRef::from_column_major_slice(self.values, self.rows, self.columns).to_owned())
    }
}

/// The linear map a_i ↦ w_l Fᵀ a_i, as [`RowMap`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShardMap<'a> {
    /// w_l, one per group.
    pub weights: &'a [f64],
    /// F.
    pub factor: ShardFactor<'a>,
}

/// A shard whose rows are on this machine.
///
/// Refuses factors whose number of values is not rows · columns with [`Error::Shape`].
#[derive(Clone, Debug)]
pub struct LocalShard<'a> {
    /// Its rows.
    pub features: Features,
    /// The engine; the CPU replaces one that does not compute in f64.
    pub engine: &'a dyn Engine,
}

impl Shard for LocalShard<'_> {
    fn items(&self) -> usize {
        self.features.items()
    }

    fn dims(&self) -> usize {
        self.features.dims()
    }

    fn part_grams(&self, rows: &ShardRows, map: Option<&ShardMap<'_>>) -> Result<Vec<Vec<f64>>> {
        let factor = map.map(|map| map.factor.matrix()).transpose()?;
        let map = map.zip(factor.as_ref());
        let map = map.map(|(map, factor)| RowMap { weights: map.weights, factor: factor.as_ref() });
        let grams = in_double(self.engine).part_grams(&rows.of(&self.features), map.as_ref())?;
        Ok(grams.iter().map(|gram| numbers(gram.as_ref())).collect())
    }

    fn row_forms(&self, rows: &ShardRows, factors: &[ShardFactor<'_>]) -> Result<Vec<f64>> {
        let factors = factors.iter().map(ShardFactor::matrix).collect::<Result<Vec<_>>>()?;
        let factors: Vec<_> = factors.iter().map(Mat::as_ref).collect();
        in_double(self.engine).row_forms(&rows.of(&self.features), &factors)
    }
}

/// The entries of a matrix, column by column.
pub(super) fn numbers(matrix: MatRef<'_, f64>) -> Vec<f64> {
    matrix.col_iter().flat_map(|column| column.iter().copied()).collect()
}

/// Refuses a wrong number of values.
pub(super) fn check_size(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
}
