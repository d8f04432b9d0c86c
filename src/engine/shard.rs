//! A shard of a ground set, whose rows may be on another machine: what it is asked, and one that answers here.

use std::fmt;

use faer::{Mat, MatRef};

use super::{Engine, Group, Items, RowMap, Rows, in_double};
use crate::{Error, Features, Result};

/// Consecutive items of a ground set, with whatever computes with their rows in f64.
///
/// Implement it to have set-up done elsewhere: send the arguments to where the rows are, let a [`LocalShard`] answer there,
/// send the answer back. Arguments and answers are plain numbers: with every pass the index of every item of the shard
/// that may be chosen; then p·n² for Gram matrices, and one for each of these items for the table of trials. A factor has
/// n·r more.
pub trait Shard: fmt::Debug + Send + Sync {
    /// Number of items.
    fn items(&self) -> usize;

    /// Number of features of each.
    fn dims(&self) -> usize;

    /// As [`Engine::part_grams`], over rows of this shard: of every group n² values, or r² under a map, column after
    /// column.
    ///
    /// # Errors
    /// Those of whoever computes.
    fn part_grams(&self, rows: &ShardRows, map: Option<&ShardMap<'_>>) -> Result<Vec<Vec<f64>>>;

    /// As [`Engine::row_forms`], over rows of this shard.
    ///
    /// # Errors
    /// Those of whoever computes.
    fn row_forms(&self, rows: &ShardRows, factors: &[ShardFactor<'_>]) -> Result<Vec<f64>>;
}

/// Groups of the rows of a shard, counted from its first.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardRows {
    /// For every group, its rows and their scale.
    pub groups: Vec<(Vec<u32>, f64)>,
}

impl ShardRows {
    /// These rows of the features of the shard.
    #[must_use]
    pub fn of<'a>(&'a self, features: &'a Features<'a>) -> Rows<'a> {
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
    /// F_ij at j·rows + i: column after column.
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

/// A shard whose rows are at hand.
///
/// Factors with another number of values than their rows and columns make are refused as
/// [`Error::Shape`].
#[derive(Clone, Debug)]
pub struct LocalShard<'a> {
    /// Its rows.
    pub features: Features<'a>,
    /// What computes; the CPU where that does not in f64.
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

/// The entries of a matrix, column after column.
pub(super) fn numbers(matrix: MatRef<'_, f64>) -> Vec<f64> {
    matrix.col_iter().flat_map(|column| column.iter().copied()).collect()
}

/// Refuses numbers of another count than asked for.
pub(super) fn check_size(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
}
