//! The feature matrix A, one row per item.

use std::{fmt, sync::Arc};

use prefetch_index::prefetch_index;

use super::{
    partition::check_item_count,
    values::{Scalar, Storage, Values, with_slice},
};
use crate::{Error, Result, parallel::map_ordered};

/// A, m×n, row-major: item i is the row a_i, and the kernel is K = A Aᵀ.
///
/// Values are f32 or f64; owned (`Vec`), borrowed (slice) or memory-mapped (.npy). They are
/// never copied: cloning is cheap, arithmetic converts rows to f64 as they are read.
///
/// # Shapes
/// `items` rows of `dims` values. m and n at least 1; n may exceed m.
///
/// # Numerics
/// Every value is finite, of any magnitude: whoever computes from A first divides by a power of
/// two that brings the largest entry into [½, 1).
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::Features;
/// let owned = Features::from_rows(2, 3, vec![1.0_f32, 0.0, 2.0, 0.0, 1.0, 1.0])?;
/// let values = [1.0_f64, 0.0, 2.0, 0.0, 1.0, 1.0];
/// let borrowed = Features::from_rows(2, 3, &values[..])?;
/// assert_eq!(owned.row(1), borrowed.row(1));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Features<'a> {
    items: usize,
    dims: usize,
    values: Values<'a>,
    max_abs: f64,
    /// Shared by clones alone: engines that keep a copy know the values by it.
    #[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "for engines that keep a copy"))]
    identity: Arc<()>,
}

impl<'a> Features<'a> {
    /// Takes m·n values in row-major order.
    ///
    /// # Cost
    /// One pass over the values, to see that they are finite.
    ///
    /// # Errors
    /// - [`Error::Empty`] for m = 0 or n = 0;
    /// - [`Error::Shape`] for another number of values than m·n;
    /// - [`Error::NotFinite`] for the first NaN or infinity;
    /// - [`Error::TooManyItems`] above 2³²−1 items.
    pub fn from_rows<T: Scalar>(
        items: usize,
        dims: usize,
        values: impl Into<Storage<'a, T>>,
    ) -> Result<Self> {
        Self::from_values(items, dims, T::wrap(values.into()))
    }

    pub(crate) fn from_values(items: usize, dims: usize, values: Values<'a>) -> Result<Self> {
        if items == 0 || dims == 0 {
            return Err(Error::Empty { what: "the feature matrix" });
        }
        check_item_count(items)?;
        let found = with_slice!(&values, slice => slice.len());
        match items.checked_mul(dims) {
            Some(expected) if expected == found => {}
            expected => {
                let expected = expected.unwrap_or(usize::MAX);
                return Err(Error::Shape { what: "the feature matrix", expected, found });
            }
        }
        let max_abs = with_slice!(&values, slice => largest_magnitude(slice, dims))?;
        Ok(Self { items, dims, values, max_abs, identity: Arc::new(()) })
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

    /// The row of an item, in f64.
    ///
    /// # Panics
    /// If there is no such item.
    #[must_use]
    pub fn row(&self, item: usize) -> Vec<f64> {
        let mut row = vec![0.0; self.dims];
        self.read_row(item, 1.0, &mut row);
        row
    }

    /// Writes `scale · a_item` to `out`.
    pub(crate) fn read_row(&self, item: usize, scale: f64, out: &mut [f64]) {
        with_slice!(&self.values, slice => {
            let row = &slice[item * self.dims..(item + 1) * self.dims];
            for (out, &value) in out.iter_mut().zip(row) {
                *out = f64::from(value) * scale;
            }
        });
    }

    /// The same for clones, and for no other features while it is held.
    #[cfg(feature = "gpu")]
    pub(crate) fn identity(&self) -> &Arc<()> {
        &self.identity
    }

    /// The values as they are stored.
    pub(crate) fn values(&self) -> &Values<'a> {
        &self.values
    }

    /// Bytes of a row as it is stored.
    pub(crate) fn row_bytes(&self) -> usize {
        self.dims * with_slice!(&self.values, slice => size_of_val(&slice[0]))
    }

    /// Largest |entry|.
    pub(crate) fn max_abs(&self) -> f64 {
        self.max_abs
    }

    /// Largest |entry| of some rows.
    pub(crate) fn max_abs_of(&self, items: &[u32]) -> f64 {
        with_slice!(&self.values, slice => {
            let of_row = |&item: &u32| {
                let start = item as usize * self.dims;
                Scalar::largest_magnitude(&slice[start..start + self.dims]).unwrap_or(f64::INFINITY)
            };
            items.iter().map(of_row).fold(0.0, f64::max)
        })
    }

    /// Asks the processor to fetch a row into its cache, without waiting for it.
    #[inline]
    pub(crate) fn prefetch_row(&self, item: usize) {
        with_slice!(&self.values, slice => {
            let (start, line) = (item * self.dims, 64 / size_of_val(&slice[0]));
            // Rows need not begin at a cache line: their last value may lie on one more.
            for offset in (0..self.dims).step_by(line).chain([self.dims - 1]) {
                prefetch_index(slice, start + offset);
            }
        });
    }
}

#[cfg(feature = "npy")]
impl Features<'static> {
    /// Opens a two-dimensional .npy file of any integer or floating-point type.
    ///
    /// Little-endian f32 and f64 in C order are memory-mapped: nothing is copied, and rows are
    /// read from the file when they are needed. Other types are converted (to f32 where that is
    /// exact, else to f64). The file must not be truncated or rewritten while it is in use.
    ///
    /// # Cost
    /// One pass over the file, to see that every value is finite.
    ///
    /// # Errors
    /// - [`Error::Io`] if the file cannot be read;
    /// - [`Error::Npy`] if it is not a real matrix, or truncated;
    /// - those of [`Features::from_rows`].
    pub fn open_npy(path: impl AsRef<std::path::Path>) -> Result<Self> {
        let matrix = super::npy::read_matrix(path.as_ref())?;
        Self::from_values(matrix.rows, matrix.columns, matrix.values)
    }
}

/// Largest |value|, or the first value that is not finite. One pass, no branch per value.
fn largest_magnitude<T: Scalar>(values: &[T], dims: usize) -> Result<f64> {
    const CHUNK: usize = 1 << 18;
    let chunks = values.len().div_ceil(CHUNK);
    let maxima = map_ordered(chunks, |chunk| {
        T::largest_magnitude(&values[chunk * CHUNK..values.len().min((chunk + 1) * CHUNK)])
    });
    let Some(bad) = maxima.iter().position(Option::is_none) else {
        return Ok(maxima.into_iter().flatten().fold(0.0, f64::max));
    };
    let finite = |value: &T| Into::<f64>::into(*value).is_finite();
    let at = bad * CHUNK + values[bad * CHUNK..].iter().position(|value| !finite(value)).unwrap_or_default();
    Err(Error::NotFinite { row: at / dims, column: at % dims, value: values[at].into() })
}

impl fmt::Debug for Features<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scalar = match self.values {
            Values::F32(_) => "f32",
            Values::F64(_) => "f64",
        };
        write!(f, "Features({}×{} {scalar})", self.items, self.dims)
    }
}
