//! Features and kernels from ndarray arrays.

use ndarray::{Array2, ArrayView2};

use super::{Features, Kernel, Scalar, kernel::check_square};
use crate::{Error, Result};

impl<T: Scalar> TryFrom<ArrayView2<'_, T>> for Features {
    type Error = Error;

    /// One item per row. Copies the array; pass an array in standard layout by value to avoid the copy.
    fn try_from(view: ArrayView2<'_, T>) -> Result<Self> {
        let (items, dims) = view.dim();
        match view.to_slice() {
            Some(values) => Self::from_rows(items, dims, values),
            None => Self::from_rows(items, dims, view.iter().copied().collect::<Vec<T>>()),
        }
    }
}

impl<T: Scalar> TryFrom<Array2<T>> for Features {
    type Error = Error;

    /// One item per row. Takes over the buffer of an array in standard layout, and copies any other.
    fn try_from(array: Array2<T>) -> Result<Self> {
        let (items, dims) = array.dim();
        let values = if array.is_standard_layout() {
            let (values, offset) = array.into_raw_vec_and_offset();
            let start = offset.unwrap_or(0);
            if start == 0 && values.len() == items * dims {
                values
            } else {
                values[start..start + items * dims].to_vec()
            }
        } else {
            array.iter().copied().collect()
        };
        Self::from_rows(items, dims, values)
    }
}

impl<T: Scalar> TryFrom<ArrayView2<'_, T>> for Kernel {
    type Error = Error;

    fn try_from(view: ArrayView2<'_, T>) -> Result<Self> {
        check_square(view.nrows(), view.ncols())?;
        Self::from_dense(view.nrows(), &view.iter().copied().collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_in_any_layout_give_the_same_rows() {
        let array = ndarray::arr2(&[[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        let columns = array.t().as_standard_layout().to_owned();
        for features in [
            Features::try_from(array.view()).unwrap(),
            Features::try_from(columns.t()).unwrap(),
            Features::try_from(array.clone()).unwrap(),
            Features::try_from(columns.clone().reversed_axes()).unwrap(),
        ] {
            assert_eq!(features.row(0), [1.0, 2.0, 3.0]);
            assert_eq!(features.row(1), [4.0, 5.0, 6.0]);
        }
    }
}
