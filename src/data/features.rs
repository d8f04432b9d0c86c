//! The feature matrix A, one row per item.

use std::{fmt, sync::Arc};

use super::{
    kernel::Residual,
    partition::check_item_count,
    stored_rows::StoredRows,
    values::{Scalar, Storage, Values, with_rows},
    weights::Weights,
};
use crate::{Error, Result};

/// A, m×n, row-major: item i is the row a_i, and the kernel is K = A Aᵀ.
///
/// Rows may have weights q_i, set by [`with_scores`](Features::with_scores),
/// [`with_log_quality`](Features::with_log_quality) or [`with_unit_rows`](Features::with_unit_rows). Item i is then the
/// row q_i a_i, and K_ij = q_i ⟨a_i, a_j⟩ q_j.
///
/// Values are f16, f32 or f64. They are owned (`Vec`), shared ([`Storage::shared`]) or memory-mapped (.npy), in one
/// or several pieces ([`concatenate`](Features::concatenate)). Slices and arrays are copied once. Clones share the
/// values, and rows are converted to f64 as they are read.
///
/// # Shapes
/// `items` rows of `dims` values. m and n are at least 1; n may exceed m.
///
/// # Numerics
/// Values must be finite; any magnitude is allowed. Computations first divide by a power of two that brings the
/// largest entry into [½, 1).
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::Features;
/// let owned = Features::from_rows(2, 3, vec![1.0_f32, 0.0, 2.0, 0.0, 1.0, 1.0])?;
/// let values = [1.0_f64, 0.0, 2.0, 0.0, 1.0, 1.0];
/// let copied = Features::from_rows(2, 3, &values[..])?;
/// assert_eq!(owned.row(1), copied.row(1));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Features {
    items: usize,
    dims: usize,
    values: Values,
    /// The largest |entry| as stored.
    max_abs: f64,
    /// The factors by which rows are multiplied when they are read; `None` if all are 1.
    pub(super) weights: Option<Weights>,
    /// Set for the factor of a kernel; `None` if the features are the data.
    residual: Option<Residual>,
    /// Shared only by clones; identifies the values to engines that keep a copy.
    #[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "for engines that keep a copy"))]
    identity: Arc<()>,
}

impl Features {
    /// Takes m·n values in row-major order.
    ///
    /// # Cost
    /// One pass over the values, to check that they are finite.
    ///
    /// # Errors
    /// - [`Error::Empty`] if m = 0 or n = 0;
    /// - [`Error::Shape`] if the number of values is not m·n;
    /// - [`Error::NotFinite`] for the first NaN or infinity;
    /// - [`Error::TooManyItems`] above 2³²−1 items.
    pub fn from_rows<T: Scalar>(items: usize, dims: usize, values: impl Into<Storage<T>>) -> Result<Self> {
        if items == 0 || dims == 0 {
            return Err(Error::Empty { what: "the feature matrix" });
        }
        check_item_count(items)?;
        let values = values.into();
        let found = values.as_slice().len();
        match items.checked_mul(dims) {
            Some(expected) if expected == found => {}
            expected => {
                let expected = expected.unwrap_or(usize::MAX);
                return Err(Error::Shape { what: "the feature matrix", expected, found });
            }
        }
        let rows = StoredRows::new(dims, vec![values]);
        let not_finite =
            |(row, column)| Error::NotFinite { row, column, value: rows.row(row)[column].into() };
        let max_abs = rows.largest_magnitude().map_err(not_finite)?;
        let values = T::wrap(rows);
        Ok(Self { items, dims, values, max_abs, weights: None, residual: None, identity: Arc::new(()) })
    }

    /// The rows of several matrices as one ground set, one matrix after the other.
    ///
    /// The index of an item grows by the number of rows in the matrices before its own. Nothing is copied.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::Features;
    /// let first = Features::from_rows(2, 2, vec![1.0_f32, 0.0, 0.0, 1.0])?;
    /// let second = Features::from_rows(1, 2, vec![2.0_f32, 3.0])?;
    /// let both = Features::concatenate(&[first, second])?;
    /// assert_eq!((both.items(), both.row(2)), (3, vec![2.0, 3.0]));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// - [`Error::Empty`] if there are no matrices;
    /// - [`Error::UnlikeShards`] if they differ in the number of features or in the type of their values;
    /// - [`Error::TooManyItems`] above 2³²−1 items in total.
    pub fn concatenate(shards: &[Self]) -> Result<Self> {
        let Some(first) = shards.first() else { return Err(Error::Empty { what: "the list of shards" }) };
        let items = shards.iter().map(Self::items).sum();
        check_item_count(items)?;
        if let Some(shard) = shards.iter().position(|shard| shard.kind() != first.kind()) {
            let (found, expected) = (shards[shard].kind(), first.kind());
            return Err(Error::UnlikeShards { shard, found, expected });
        }
        let all: Vec<&Values> = shards.iter().map(|shard| &shard.values).collect();
        let Some(values) = Values::concatenate(&all) else { unreachable!("they are of one kind") };
        let max_abs = shards.iter().map(|shard| shard.max_abs).fold(0.0, f64::max);
        let residual = shards.iter().filter_map(|shard| shard.residual).reduce(Residual::max);
        let weights = Weights::concatenate(shards);
        Ok(Self { items, dims: first.dims, values, max_abs, weights, residual, identity: Arc::new(()) })
    }

    /// The length of rows and the type of their values, as text.
    fn kind(&self) -> String {
        format!("rows of {} values in {}", self.dims, self.scalar())
    }

    /// The name of the type of the values.
    pub(crate) fn scalar(&self) -> &'static str {
        with_rows!(&self.values, rows => rows.scalar())
    }

    /// Number of items, m.
    #[must_use]
    pub fn items(&self) -> usize {
        self.items
    }

    /// Number of features per item, n.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The row a_i of an item as stored, in f64, without its weight.
    ///
    /// # Panics
    /// If there is no such item.
    #[must_use]
    pub fn row(&self, item: usize) -> Vec<f64> {
        let mut row = vec![0.0; self.dims];
        self.read_stored(item, 1.0, &mut row);
        row
    }

    /// Writes `scale · q_item · a_item` to `out`.
    pub(crate) fn read_row(&self, item: usize, scale: f64, out: &mut [f64]) {
        self.read_stored(item, scale * self.weight(item), out);
    }

    /// Writes `scale · a_item` to `out`, without the row's weight.
    pub(crate) fn read_stored(&self, item: usize, scale: f64, out: &mut [f64]) {
        with_rows!(&self.values, rows => {
            for (out, &value) in out.iter_mut().zip(rows.row(item)) {
                *out = value.wide() * scale;
            }
        });
    }

    /// Writes `scale · a_item` in f32 to the start of `out`, without the row's weight; returns ‖scale · a_item‖².
    pub(crate) fn read_narrow(&self, item: usize, scale: f64, out: &mut [f32]) -> f32 {
        with_rows!(&self.values, rows => Scalar::narrow(rows.row(item), scale, out))
    }

    /// Whether both have the same stored rows, in the same memory.
    pub(crate) fn has_rows_of(&self, other: &Features) -> bool {
        let first_and_last = |features: &Features| {
            let place = |item| with_rows!(&features.values, rows => rows.row(item).as_ptr().addr());
            (features.row_bytes(), place(0), place(features.items - 1))
        };
        (self.items, self.dims) == (other.items, other.dims) && first_and_last(self) == first_and_last(other)
    }

    /// The same for clones, and different from all other features for as long as it is held.
    #[cfg(feature = "gpu")]
    pub(crate) fn identity(&self) -> &Arc<()> {
        &self.identity
    }

    /// The same values with these weights. Engines that keep a copy see them as new values.
    pub(super) fn with_weights(&self, weights: Option<Weights>) -> Self {
        Self { weights, identity: Arc::new(()), ..self.clone() }
    }

    /// The same values as stored, without weights.
    pub(crate) fn unweighted(&self) -> Self {
        self.with_weights(None)
    }

    /// Marks the features as the factor of a kernel.
    pub(crate) fn with_residual(self, residual: Option<Residual>) -> Self {
        Self { residual, ..self }
    }

    /// The error of the factor of a kernel; `None` if the features are the data.
    pub(crate) fn residual(&self) -> Option<Residual> {
        self.residual
    }

    /// The values as stored.
    pub(crate) fn values(&self) -> &Values {
        &self.values
    }

    /// The bytes of the values and weights: in memory, and in memory-mapped files.
    pub(crate) fn footprint(&self) -> (u64, u64) {
        let (held, mapped) = with_rows!(&self.values, rows => rows.footprint());
        (held + self.weights.as_ref().map_or(0, Weights::bytes), mapped)
    }

    /// The bytes of a stored row.
    pub(crate) fn row_bytes(&self) -> usize {
        with_rows!(&self.values, rows => size_of_val(rows.row(0)))
    }

    /// The largest |entry| of all weighted rows, or an upper bound within a factor of 1e80 of it.
    pub(crate) fn max_abs(&self) -> f64 {
        self.weights.as_ref().map_or(self.max_abs, Weights::largest)
    }

    /// The largest |entry| as stored.
    pub(crate) fn max_abs_stored(&self) -> f64 {
        self.max_abs
    }

    /// The largest |entry| of these items' weighted rows.
    pub(crate) fn max_abs_of(&self, items: &[u32]) -> f64 {
        let of_row = |&item: &u32| self.weight(item as usize) * self.max_abs_of_stored(item as usize);
        items.iter().map(of_row).fold(0.0, f64::max)
    }

    /// The largest |entry| of a row as stored.
    pub(crate) fn max_abs_of_stored(&self, item: usize) -> f64 {
        with_rows!(&self.values, rows => Scalar::largest_magnitude(rows.row(item)).unwrap_or(f64::INFINITY))
    }

    /// Prefetches a row into the CPU cache.
    #[inline]
    pub(crate) fn prefetch_row(&self, item: usize) {
        with_rows!(&self.values, rows => rows.prefetch(item));
    }
}

#[cfg(feature = "npy")]
impl Features {
    /// Opens a two-dimensional .npy file of booleans, integers or floating-point numbers of any size.
    ///
    /// [`NpyArray`](super::NpyArray) reads only the header.
    ///
    /// Little-endian f16, f32 and f64 in C order are memory-mapped: nothing is copied, and rows are read from the
    /// file on demand. Other types and orders are converted; integers become f32 if that is exact, and f64 otherwise.
    /// The file must not be truncated or rewritten while it is in use.
    ///
    /// # Cost
    /// One pass over the file, to check that every value is finite.
    ///
    /// # Errors
    /// - [`Error::Io`] if the file cannot be read;
    /// - [`Error::Npy`] if it is not a matrix of real numbers, is truncated, or is not a regular file;
    /// - the errors of [`Features::from_rows`].
    pub fn open_npy(path: impl AsRef<std::path::Path>) -> Result<Self> {
        super::NpyArray::open(path)?.into_features()
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Features({}×{} {})", self.items, self.dims, self.scalar())
    }
}
