//! The memory of NumPy arrays: the first of two modules with unsafe code.

use std::fmt;

use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::refused;

/// The values of a contiguous array, in its own memory, which is kept as long as this is.
///
/// Whoever writes to the array meanwhile changes the values that are read, as with every view.
pub(crate) struct ArrayValues<T> {
    /// Keeps the memory.
    array: Py<PyArrayDyn<T>>,
    data: *const T,
    len: usize,
}

impl<T: Element> ArrayValues<T> {
    /// The values of an array in C order.
    pub(crate) fn of(array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Self> {
        if !array.is_c_contiguous() {
            return Err(refused("the array is not contiguous"));
        }
        let data: *const T = array.data();
        if !data.is_aligned() {
            return Err(refused("the array is not aligned"));
        }
        Ok(Self { array: array.clone().unbind(), data, len: array.len() })
    }
}

impl<T> AsRef<[T]> for ArrayValues<T> {
    #[expect(unsafe_code, reason = "memory that NumPy owns")]
    fn as_ref(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the array is contiguous and aligned and has `len` initialised elements from `data`, which `array`
        // keeps: NumPy refuses to resize an array that is referenced, unless it is asked not to check, which the
        // documentation forbids. T is a plain number, so that a value that another thread of Python writes meanwhile,
        // which the documentation forbids, too, is some number.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
}

// SAFETY: the pointer leads to memory that is only read, from any thread; the reference to the array may be dropped
// without the interpreter's lock.
#[expect(unsafe_code, reason = "a pointer that is only read")]
unsafe impl<T: Send> Send for ArrayValues<T> {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "a pointer that is only read")]
unsafe impl<T: Sync> Sync for ArrayValues<T> {}

impl<T> fmt::Debug for ArrayValues<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayValues")
            .field("array", &self.array)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// Item numbers as Python's arrays hold them.
pub(crate) fn indices<'py>(py: Python<'py>, items: &[usize]) -> Bound<'py, PyArray1<i64>> {
    #[expect(clippy::cast_possible_wrap, reason = "items are counted in 32 bits")]
    PyArray1::from_iter(py, items.iter().map(|&item| item as i64))
}
