//! Kernels as functions of two items.

use std::fmt;

use super::{DotKernel, RbfKernel, Ridge};
use crate::{
    Error, Result, data::check_item_count, engine::row_kernels::CHUNK, error::KernelProblem,
    parallel::map_ordered, sealed::Sealed,
};

/// Items per task.
const TASK: usize = 4096;

/// A positive semidefinite kernel K whose entries are computed when they are needed.
///
/// [`KernelFn`], [`DotKernel`] and [`RbfKernel`] are such kernels, each with or without a [`Ridge`]. The solvers of a
/// [`KernelModel`](crate::map::KernelModel) take them.
///
/// The trait is sealed: [`KernelFn`] makes a kernel from any closure.
pub trait KernelFunction: Sealed + fmt::Debug + Sync {
    /// The number of items, m.
    fn items(&self) -> usize;

    /// Writes K_ii for all items.
    ///
    /// # Panics
    /// If `out` does not have a value for every item.
    fn diagonal(&self, out: &mut [f64]);

    /// Writes K_ij for one item j and the listed items i.
    ///
    /// # Cost
    /// One entry per item, on all threads. Ready-made kernels take 2n operations and read one row per entry.
    ///
    /// # Panics
    /// If an item does not exist, or `out` does not have one value per item.
    fn column(&self, item: usize, items: &[u32], out: &mut [f64]) {
        assert_eq!(items.len(), out.len(), "one value for every item");
        let mut columns = Columns::new(self.width());
        columns.push(self, item);
        let of_task = |task: usize| {
            let items = &items[task * TASK..items.len().min((task + 1) * TASK)];
            let mut buffer = Vec::new();
            let entry = |&item: &u32| {
                let mut entry = [0.0];
                self.entries(item as usize, columns.range(0, 1), &mut buffer, &mut entry);
                entry[0]
            };
            items.iter().map(entry).collect::<Vec<f64>>()
        };
        out.copy_from_slice(&map_ordered(items.len().div_ceil(TASK), of_task).concat());
    }

    /// The rank that K cannot exceed.
    #[doc(hidden)]
    fn rank_at_most(&self) -> usize {
        self.items()
    }

    /// The number of chunks that [`prepare`](Self::prepare) appends.
    #[doc(hidden)]
    fn width(&self) -> usize {
        0
    }

    /// Appends the data of one column that [`entries`](Self::entries) needs.
    #[doc(hidden)]
    fn prepare(&self, _item: usize, _out: &mut Vec<[f64; CHUNK]>) {}

    /// Writes the entries of one item in some columns.
    #[doc(hidden)]
    fn entries(&self, item: usize, columns: ColumnRange<'_>, buffer: &mut Vec<[f64; CHUNK]>, out: &mut [f64]);

    /// Starts to fetch the data of one item.
    #[doc(hidden)]
    fn prefetch(&self, _item: usize) {}
}

/// Prepared columns of a kernel.
#[derive(Debug)]
pub(crate) struct Columns {
    width: usize,
    items: Vec<u32>,
    vectors: Vec<[f64; CHUNK]>,
}

/// A range of prepared columns.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ColumnRange<'a> {
    pub(super) items: &'a [u32],
    pub(super) vectors: &'a [[f64; CHUNK]],
}

impl Columns {
    pub(crate) fn new(width: usize) -> Self {
        Self { width, items: Vec::new(), vectors: Vec::new() }
    }

    #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
    pub(crate) fn push<K: KernelFunction + ?Sized>(&mut self, kernel: &K, item: usize) {
        kernel.prepare(item, &mut self.vectors);
        self.items.push(item as u32);
    }

    pub(crate) fn items(&self) -> &[u32] {
        &self.items
    }

    pub(crate) fn range(&self, start: usize, end: usize) -> ColumnRange<'_> {
        let vectors = &self.vectors[start * self.width..end * self.width];
        ColumnRange { items: &self.items[start..end], vectors }
    }
}

/// A kernel from a closure, K_ij = f(i, j).
///
/// The closure must be symmetric and positive semidefinite. Neither is checked: an item whose gain is negative is not
/// chosen. An entry that is not finite, or a negative one on the diagonal, gives [`Error::Kernel`] once it is
/// computed.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, map::{Greedy, KernelModel, Solver}, similarity::KernelFn};
/// let at = [0.0_f64, 0.1, 3.0, 5.0];
/// let kernel = KernelFn::new(4, |i, j| (-(at[i] - at[j]).abs()).exp())?;
/// let solution = Greedy::default().solve(&KernelModel::of_size(&kernel, 2)?, &Engine::cpu())?;
/// assert_eq!(solution.subset.as_slice(), [0, 3]);
/// # Ok(()) }
/// ```
pub struct KernelFn<F> {
    items: usize,
    entry: F,
}

impl<F: Fn(usize, usize) -> f64 + Sync> KernelFn<F> {
    /// A kernel over this many items.
    ///
    /// # Errors
    /// [`Error::Empty`] without items; [`Error::TooManyItems`] above 2³²−1.
    pub fn new(items: usize, entry: F) -> Result<Self> {
        if items == 0 {
            return Err(Error::Empty { what: "the kernel" });
        }
        check_item_count(items)?;
        Ok(Self { items, entry })
    }

    /// K + δI: see [`Ridge`].
    ///
    /// # Errors
    /// [`Error::NotPositive`] if δ is not positive and finite.
    pub fn with_ridge(self, delta: f64) -> Result<Ridge<Self>> {
        Ridge::new(self, delta)
    }
}

impl<F> fmt::Debug for KernelFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KernelFn({} items)", self.items)
    }
}

impl<F> Sealed for KernelFn<F> {}
impl Sealed for DotKernel {}
impl Sealed for RbfKernel {}
impl<K> Sealed for Ridge<K> {}

impl<F: Fn(usize, usize) -> f64 + Sync> KernelFunction for KernelFn<F> {
    fn items(&self) -> usize {
        self.items
    }

    fn diagonal(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.items, "one value for every item");
        out.iter_mut().enumerate().for_each(|(item, out)| *out = (self.entry)(item, item));
    }

    fn entries(&self, item: usize, columns: ColumnRange<'_>, _: &mut Vec<[f64; CHUNK]>, out: &mut [f64]) {
        let entry = |&column: &u32| (self.entry)(item, column as usize);
        out.iter_mut().zip(columns.items.iter().map(entry)).for_each(|(out, entry)| *out = entry);
    }
}

/// The diagonal of a kernel; an error if an entry is negative or not finite.
pub(crate) fn checked_diagonal(kernel: &dyn KernelFunction) -> Result<Vec<f64>> {
    let mut diagonal = vec![0.0; kernel.items()];
    kernel.diagonal(&mut diagonal);
    for (item, &value) in diagonal.iter().enumerate() {
        check_finite(item, item, value)?;
        if value < 0.0 {
            return Err(KernelProblem::NegativeDiagonal { item, value }.into());
        }
    }
    Ok(diagonal)
}

/// Returns an error if an entry is not finite.
pub(crate) fn check_finite(row: usize, column: usize, value: f64) -> Result<()> {
    if value.is_finite() { Ok(()) } else { Err(KernelProblem::NotFinite { row, column, value }.into()) }
}
