//! Storage of feature values: f32 or f64; owned, borrowed or memory-mapped.

use std::sync::Arc;

#[cfg(feature = "npy")]
use super::mapped::Mapped;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The element types that [`Features`](crate::Features) stores. Arithmetic is f64 for both.
pub trait Scalar: sealed::Sealed + bytemuck::Pod + Into<f64> + Send + Sync + std::fmt::Debug {
    #[doc(hidden)]
    fn wrap(storage: Storage<'_, Self>) -> Values<'_>;
    /// Largest |value|; `None` if a value is not finite.
    #[doc(hidden)]
    fn largest_magnitude(values: &[Self]) -> Option<f64>;
    /// A row in f64: itself, or converted into the buffer.
    #[doc(hidden)]
    fn widen<'r>(row: &'r [Self], buffer: &'r mut [f64]) -> &'r [f64];
}

macro_rules! scalar {
    ($type:ty, $variant:ident, $widen:expr) => {
        impl Scalar for $type {
            fn wrap(storage: Storage<'_, Self>) -> Values<'_> {
                Values::$variant(storage)
            }

            fn largest_magnitude(values: &[Self]) -> Option<f64> {
                const LANES: usize = 16;
                let (head, tail) = values.as_chunks::<LANES>();
                // x·0 is zero unless x is infinite or NaN; lanes let the loop run in vectors.
                let (mut max, mut zero) = ([0.0; LANES], [0.0; LANES]);
                for chunk in head {
                    for lane in 0..LANES {
                        let x = chunk[lane].abs();
                        max[lane] = if x > max[lane] { x } else { max[lane] };
                        zero[lane] += x * 0.0;
                    }
                }
                let max = tail.iter().chain(&max).fold(0.0, |max: $type, x| max.max(x.abs()));
                let zero: $type = tail.iter().map(|x| x * 0.0).chain(zero).sum();
                (zero == 0.0).then_some(max.into())
            }

            #[inline]
            fn widen<'r>(row: &'r [Self], buffer: &'r mut [f64]) -> &'r [f64] {
                let widen: fn(&'r [Self], &'r mut [f64]) -> &'r [f64] = $widen;
                widen(row, buffer)
            }
        }
    };
}
scalar!(f32, F32, |row, buffer| {
    buffer.iter_mut().zip(row).for_each(|(wide, &value)| *wide = value.into());
    buffer
});
scalar!(f64, F64, |row, _| row);

/// A buffer of values: made from a `Vec` (owned) or a slice (borrowed).
#[derive(Clone, Debug)]
pub struct Storage<'a, T: Scalar>(Inner<'a, T>);

#[derive(Clone, Debug)]
enum Inner<'a, T: Scalar> {
    Owned(Arc<Vec<T>>),
    Borrowed(&'a [T]),
    #[cfg(feature = "npy")]
    Mapped(Mapped<T>),
}

impl<T: Scalar> Storage<'_, T> {
    pub(crate) fn as_slice(&self) -> &[T] {
        match &self.0 {
            Inner::Owned(values) => values,
            Inner::Borrowed(values) => values,
            #[cfg(feature = "npy")]
            Inner::Mapped(mapped) => mapped.as_slice(),
        }
    }
}

impl<T: Scalar> From<Vec<T>> for Storage<'_, T> {
    fn from(values: Vec<T>) -> Self {
        Self(Inner::Owned(Arc::new(values)))
    }
}

impl<'a, T: Scalar> From<&'a [T]> for Storage<'a, T> {
    fn from(values: &'a [T]) -> Self {
        Self(Inner::Borrowed(values))
    }
}

impl<'a, T: Scalar> From<&'a Vec<T>> for Storage<'a, T> {
    fn from(values: &'a Vec<T>) -> Self {
        Self(Inner::Borrowed(values))
    }
}

#[cfg(feature = "npy")]
impl<T: Scalar> From<Mapped<T>> for Storage<'_, T> {
    fn from(mapped: Mapped<T>) -> Self {
        Self(Inner::Mapped(mapped))
    }
}

/// Values of either precision.
#[derive(Clone, Debug)]
pub enum Values<'a> {
    #[doc(hidden)]
    F32(Storage<'a, f32>),
    #[doc(hidden)]
    F64(Storage<'a, f64>),
}

/// Runs one body for both precisions, with `$slice` bound to the typed slice.
macro_rules! with_slice {
    ($values:expr, $slice:ident => $body:expr) => {
        match $values {
            $crate::data::values::Values::F32(storage) => {
                let $slice = storage.as_slice();
                $body
            }
            #[allow(clippy::useless_conversion, reason = "f64 runs the body of f32")]
            $crate::data::values::Values::F64(storage) => {
                let $slice = storage.as_slice();
                $body
            }
        }
    };
}
pub(crate) use with_slice;
