//! Storage of feature values: f16, f32 or f64; owned, shared or memory-mapped.

use std::{borrow::Cow, sync::Arc};

#[cfg(feature = "npy")]
use super::mapped::Mapped;
use super::{shared::Shared, stored_rows::StoredRows};

pub(super) mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The element types that [`Features`](crate::Features) stores: f32, f64 and, with .npy files, `half::f16`.
///
/// Arithmetic is in f64 for all of them.
pub trait Scalar: sealed::Sealed + bytemuck::Pod + Into<f64> + Send + Sync + std::fmt::Debug {
    #[doc(hidden)]
    const NAME: &'static str;
    #[doc(hidden)]
    fn wrap(rows: StoredRows<Self>) -> Values;
    /// The value in f64, if it is finite.
    #[doc(hidden)]
    fn wide(self) -> f64;
    #[doc(hidden)]
    fn is_finite(self) -> bool;
    /// The largest |value|; `None` if a value is not finite.
    #[doc(hidden)]
    fn largest_magnitude(values: &[Self]) -> Option<f64>;
    /// Writes a scaled row in f32; returns its squared length.
    #[doc(hidden)]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    fn narrow(row: &[Self], scale: f64, out: &mut [f32]) -> f32 {
        out.iter_mut().zip(row).for_each(|(narrow, &value)| *narrow = (value.wide() * scale) as f32);
        sum_of_squares(&out[..row.len()])
    }
    /// A row in f64: the stored row itself, or a copy converted into the buffer.
    #[doc(hidden)]
    #[inline]
    fn widen<'r>(row: &'r [Self], buffer: &'r mut [f64]) -> &'r [f64] {
        buffer.iter_mut().zip(row).for_each(|(wide, &value)| *wide = value.wide());
        buffer
    }
}

/// Combines all lanes with `of`, one half with the other at each step. A sequential fold would make each operation
/// wait for the previous one.
#[inline]
pub(crate) fn fold_lanes<T: Copy, const LANES: usize>(mut lanes: [T; LANES], of: impl Fn(T, T) -> T) -> T {
    const { assert!(LANES.is_power_of_two()) };
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = of(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Σ x², in lanes.
fn sum_of_squares(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0_f32; 8];
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, value)| *lane += value * value);
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|value| value * value).sum::<f32>()
}

macro_rules! scalar {
    ($type:ty, $name:literal, $variant:ident $(, $widen:item)?) => {
        impl Scalar for $type {
            const NAME: &'static str = $name;

            fn wrap(rows: StoredRows<Self>) -> Values {
                Values::$variant(rows)
            }

            #[inline]
            fn wide(self) -> f64 {
                self.into()
            }

            #[inline]
            fn is_finite(self) -> bool {
                <$type>::is_finite(self)
            }

            fn largest_magnitude(values: &[Self]) -> Option<f64> {
                const LANES: usize = 16;
                let (head, tail) = values.as_chunks::<LANES>();
                // x·0 is zero unless x is infinite or NaN; lanes let the loop be vectorised.
                let (mut max, mut zero) = ([0.0; LANES], [0.0; LANES]);
                for chunk in head {
                    for lane in 0..LANES {
                        let x = chunk[lane].abs();
                        max[lane] = if x > max[lane] { x } else { max[lane] };
                        zero[lane] += x * 0.0;
                    }
                }
                let max = fold_lanes(max, |max, x| if x > max { x } else { max });
                let max = tail.iter().fold(max, |max, x| max.max(x.abs()));
                let zero = fold_lanes(zero, |zero, x| zero + x);
                let zero = tail.iter().fold(zero, |zero, x| zero + x * 0.0);
                (zero == 0.0).then_some(max.into())
            }

            $($widen)?
        }
    };
}
scalar!(f32, "f32", F32);
scalar!(
    f64,
    "f64",
    F64,
    #[inline]
    fn widen<'r>(row: &'r [Self], _: &'r mut [f64]) -> &'r [f64] {
        row
    }
);

/// A buffer of values.
///
/// A `Vec` of values, or of rows as arrays, is taken over. An `Arc` of values, or a buffer of another owner
/// ([`shared`](Storage::shared)), is shared. Slices and arrays are copied.
#[derive(Clone, Debug)]
pub struct Storage<T: Scalar>(Inner<T>);

#[derive(Clone, Debug)]
enum Inner<T: Scalar> {
    Owned(Arc<Vec<T>>),
    Shared(Shared<T>),
    #[cfg(feature = "npy")]
    Mapped(Mapped<T>),
}

impl<T: Scalar> Storage<T> {
    /// Values in the buffer of another owner, such as an array of another library or a memory-mapped file.
    ///
    /// Nothing is copied, and the owner is kept alive as long as any features use the buffer.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use std::sync::Arc;
    /// use partition_dpp::{Features, data::Storage};
    /// let values: Arc<[f32]> = Arc::from([1.0, 0.0, 0.0, 1.0]);
    /// let features = Features::from_rows(2, 2, Storage::shared(Arc::clone(&values)))?;
    /// assert_eq!((features.row(1), Arc::strong_count(&values)), (vec![0.0, 1.0], 2));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn shared(owner: impl AsRef<[T]> + Send + Sync + 'static) -> Self {
        Self(Inner::Shared(Shared::new(owner)))
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[T] {
        match &self.0 {
            Inner::Owned(values) => values,
            Inner::Shared(values) => values.as_slice(),
            #[cfg(feature = "npy")]
            Inner::Mapped(mapped) => mapped.as_slice(),
        }
    }

    /// Whether the values stay in a file.
    pub(crate) fn is_mapped(&self) -> bool {
        match &self.0 {
            Inner::Owned(_) | Inner::Shared(_) => false,
            #[cfg(feature = "npy")]
            Inner::Mapped(_) => true,
        }
    }
}

impl<T: Scalar> From<Vec<T>> for Storage<T> {
    fn from(values: Vec<T>) -> Self {
        Self(Inner::Owned(Arc::new(values)))
    }
}

impl<T: Scalar> From<Arc<Vec<T>>> for Storage<T> {
    fn from(values: Arc<Vec<T>>) -> Self {
        Self(Inner::Owned(values))
    }
}

impl<T: Scalar, const N: usize> From<Vec<[T; N]>> for Storage<T> {
    fn from(rows: Vec<[T; N]>) -> Self {
        rows.into_flattened().into()
    }
}

impl<T: Scalar> From<Cow<'_, [T]>> for Storage<T> {
    fn from(values: Cow<'_, [T]>) -> Self {
        values.into_owned().into()
    }
}

impl<T: Scalar> From<Box<[T]>> for Storage<T> {
    fn from(values: Box<[T]>) -> Self {
        values.into_vec().into()
    }
}

impl<T: Scalar> From<Arc<[T]>> for Storage<T> {
    fn from(values: Arc<[T]>) -> Self {
        Self::shared(values)
    }
}

impl<T: Scalar, const N: usize> From<[T; N]> for Storage<T> {
    fn from(values: [T; N]) -> Self {
        values.to_vec().into()
    }
}

impl<T: Scalar> From<&[T]> for Storage<T> {
    fn from(values: &[T]) -> Self {
        values.to_vec().into()
    }
}

impl<T: Scalar> From<&Vec<T>> for Storage<T> {
    fn from(values: &Vec<T>) -> Self {
        values.clone().into()
    }
}

#[cfg(feature = "npy")]
impl<T: Scalar> From<Mapped<T>> for Storage<T> {
    fn from(mapped: Mapped<T>) -> Self {
        Self(Inner::Mapped(mapped))
    }
}

/// Rows of values of any supported type.
#[derive(Clone, Debug)]
pub enum Values {
    #[doc(hidden)]
    #[cfg(feature = "npy")]
    F16(StoredRows<half::f16>),
    #[doc(hidden)]
    F32(StoredRows<f32>),
    #[doc(hidden)]
    F64(StoredRows<f64>),
}

impl Values {
    /// The rows of several matrices; `None` if their types differ.
    pub(crate) fn concatenate(all: &[&Self]) -> Option<Self> {
        /// The shards of all matrices with the type of the first.
        macro_rules! concatenate {
            ($variant:ident) => {{
                let rows = all.iter().map(|values| match values {
                    Values::$variant(rows) => Some(rows),
                    _ => None,
                });
                rows.collect::<Option<Vec<_>>>().map(|rows| Values::$variant(StoredRows::concatenate(&rows)))
            }};
        }
        match all.first()? {
            #[cfg(feature = "npy")]
            Values::F16(_) => concatenate!(F16),
            Values::F32(_) => concatenate!(F32),
            Values::F64(_) => concatenate!(F64),
        }
    }
}

/// Runs a body for rows of any type, with `$rows` bound to the [`StoredRows`].
macro_rules! with_rows {
    ($values:expr, $rows:ident => $body:expr) => {
        match $values {
            #[cfg(feature = "npy")]
            $crate::data::values::Values::F16($rows) => $body,
            $crate::data::values::Values::F32($rows) => $body,
            $crate::data::values::Values::F64($rows) => $body,
        }
    };
}
pub(crate) use with_rows;
