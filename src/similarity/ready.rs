//! Ready-made kernels over the rows of a feature matrix.

use std::fmt;

use super::{
    Bandwidth,
    exponential::exponentials,
    function::{ColumnRange, KernelFunction},
    rows::{RowReader, squared_distances},
};
use crate::{Features, Result, data::check_ridge, engine::row_kernels::CHUNK, parallel::map_ordered};

/// The kernel of the features themselves, K_ij = a_i·a_j, of rank at most n.
///
/// # Numerics
/// Inner products are in f64, to about nε‖a_i‖‖a_j‖. A determinant of entries of K loses twice as many digits as one
/// of rows. For k ≤ n, [`PartitionDpp`](crate::PartitionDpp) is more accurate.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, similarity::{DotKernel, KernelFunction}};
/// let features = Features::from_rows(2, 2, vec![1.0, 2.0, 3.0, 4.0])?;
/// let mut column = [0.0; 2];
/// DotKernel::new(&features).with_ridge(0.5)?.column(0, &[0, 1], &mut column);
/// assert_eq!(column, [5.5, 11.0]);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct DotKernel {
    rows: RowReader,
}

impl DotKernel {
    /// The kernel of these features.
    #[must_use]
    pub fn new(features: &Features) -> Self {
        Self { rows: RowReader::plain(features) }
    }

    /// K + δI: see [`Ridge`].
    ///
    /// # Errors
    /// [`Error::NotPositive`](crate::Error::NotPositive) if δ is not positive and finite.
    pub fn with_ridge(self, delta: f64) -> Result<Ridge<Self>> {
        Ridge::new(self, delta)
    }
}

impl fmt::Debug for DotKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DotKernel({:?})", self.rows.features())
    }
}

impl KernelFunction for DotKernel {
    fn items(&self) -> usize {
        self.rows.features().items()
    }

    fn diagonal(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.rows.norms());
    }

    fn rank_at_most(&self) -> usize {
        self.items().min(self.rows.features().dims())
    }

    fn width(&self) -> usize {
        self.rows.width()
    }

    fn prepare(&self, item: usize, out: &mut Vec<[f64; CHUNK]>) {
        self.rows.push(item, out);
    }

    fn entries(
        &self,
        item: usize,
        columns: ColumnRange<'_>,
        buffer: &mut Vec<[f64; CHUNK]>,
        out: &mut [f64],
    ) {
        self.rows.dots(item, columns.vectors, buffer, out);
    }

    fn prefetch(&self, item: usize) {
        self.rows.prefetch(item);
    }
}

/// The Gaussian kernel (radial basis function) of the rows, with bandwidth h.
///
/// ```text
/// K_ij = exp(−‖a_i − a_j‖² / (2h²))
/// ```
///
/// It is positive definite for distinct rows, so any number of items can be chosen.
///
/// # Cost
/// 3n operations per entry.
///
/// # Numerics
/// In f64. Rows are subtracted before anything is squared, so a distance is accurate to a few ε of itself, however
/// far the rows are from the origin and from each other. No entry is off by more than (n/5 + 4)ε. Weighted rows are
/// first rounded to f64. Equal rows have distance 0.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, similarity::{Bandwidth, KernelFunction, RbfKernel}};
/// let features = Features::from_rows(3, 1, vec![0.0, 1.0, 3.0])?;
/// let kernel = RbfKernel::new(&features, Bandwidth::Exactly(0.5_f64.sqrt()))?;
/// let mut column = [0.0; 3];
/// kernel.column(1, &[0, 1, 2], &mut column);
/// assert!((column[0] - (-1.0_f64).exp()).abs() < 1e-15 && column[1] == 1.0);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct RbfKernel {
    rows: RowReader,
    bandwidth: f64,
    /// −1/(2h²) in the scale of the rows.
    factor: f64,
}

impl RbfKernel {
    /// The kernel of these features with this bandwidth.
    ///
    /// # Errors
    /// The errors of the [`Bandwidth`].
    pub fn new(features: &Features, bandwidth: Bandwidth) -> Result<Self> {
        let bandwidth = bandwidth.of(features)?;
        let rows = RowReader::in_units_of(features, bandwidth);
        let scaled = bandwidth * rows.scale();
        // For a bandwidth below all distances, rounding and overflow leave the identity.
        let factor = -(0.5 / scaled / scaled).min(f64::MAX);
        Ok(Self { rows, bandwidth, factor })
    }

    /// h.
    #[must_use]
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// K + δI: see [`Ridge`].
    ///
    /// # Errors
    /// [`Error::NotPositive`](crate::Error::NotPositive) if δ is not positive and finite.
    pub fn with_ridge(self, delta: f64) -> Result<Ridge<Self>> {
        Ridge::new(self, delta)
    }

    /// Turns squared distances into entries.
    pub(super) fn entries_of_squares(&self, squares: &mut [f64]) {
        squares.iter_mut().for_each(|square| *square *= self.factor);
        exponentials(squares);
    }

    /// All entries, row by row, and their rank in exact arithmetic: the number of distinct rows.
    pub(super) fn dense(&self) -> (Vec<f64>, usize) {
        let (items, width) = (self.items(), self.width());
        let mut rows = Vec::new();
        (0..items).for_each(|item| self.prepare(item, &mut rows));
        let of_row = |item: usize| {
            let mut entries = vec![0.0; items];
            squared_distances([&rows[item * width..(item + 1) * width]], &rows, [&mut entries]);
            let is_new = entries[..item].iter().all(|&square| square > 0.0);
            self.entries_of_squares(&mut entries);
            (entries, is_new)
        };
        let (entries, are_new): (Vec<_>, Vec<_>) = map_ordered(items, of_row).into_iter().unzip();
        (entries.concat(), are_new.into_iter().filter(|is_new| *is_new).count())
    }

    /// The largest possible error of an entry.
    #[must_use]
    pub fn entry_error(&self) -> f64 {
        (0.2 * self.rows.features().dims() as f64 + 4.0) * f64::EPSILON
    }
}

impl fmt::Debug for RbfKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RbfKernel({:?}, bandwidth {})", self.rows.features(), self.bandwidth)
    }
}

impl KernelFunction for RbfKernel {
    fn items(&self) -> usize {
        self.rows.features().items()
    }

    fn diagonal(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.items(), "one value for every item");
        out.fill(1.0);
    }

    fn width(&self) -> usize {
        self.rows.width()
    }

    fn prepare(&self, item: usize, out: &mut Vec<[f64; CHUNK]>) {
        self.rows.push(item, out);
    }

    fn entries(
        &self,
        item: usize,
        columns: ColumnRange<'_>,
        buffer: &mut Vec<[f64; CHUNK]>,
        out: &mut [f64],
    ) {
        self.rows.squared_distances(item, columns.vectors, buffer, out);
        self.entries_of_squares(out);
    }

    fn prefetch(&self, item: usize) {
        self.rows.prefetch(item);
    }
}

/// K + δI for another kernel K, of full rank, so that any number of items can be chosen.
///
/// ```text
/// det (K + δI)_S = Σ_{T ⊆ S} δ^{|S∖T|} det K_T
/// ```
#[derive(Clone, Debug)]
pub struct Ridge<K> {
    kernel: K,
    delta: f64,
}

impl<K> Ridge<K> {
    pub(super) fn new(kernel: K, delta: f64) -> Result<Self> {
        check_ridge(delta)?;
        Ok(Self { kernel, delta })
    }

    /// δ.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.delta
    }
}

impl<K: KernelFunction> KernelFunction for Ridge<K> {
    fn items(&self) -> usize {
        self.kernel.items()
    }

    fn diagonal(&self, out: &mut [f64]) {
        self.kernel.diagonal(out);
        out.iter_mut().for_each(|value| *value += self.delta);
    }

    fn width(&self) -> usize {
        self.kernel.width()
    }

    fn prepare(&self, item: usize, out: &mut Vec<[f64; CHUNK]>) {
        self.kernel.prepare(item, out);
    }

    fn entries(
        &self,
        item: usize,
        columns: ColumnRange<'_>,
        buffer: &mut Vec<[f64; CHUNK]>,
        out: &mut [f64],
    ) {
        self.kernel.entries(item, columns, buffer, out);
        let same = out.iter_mut().zip(columns.items).filter(|(_, column)| **column as usize == item);
        same.for_each(|(entry, _)| *entry += self.delta);
    }

    fn prefetch(&self, item: usize) {
        self.kernel.prefetch(item);
    }
}
