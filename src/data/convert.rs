//! Features and kernels from the matrix types of nalgebra and ndarray.

use nalgebra::DMatrix;

use super::{Features, Kernel, Scalar};
use crate::{Error, Result};

impl<T: Scalar + nalgebra::Scalar> TryFrom<&DMatrix<T>> for Features<'static> {
    type Error = Error;

    /// One item per row. Copies, since nalgebra stores columns.
    fn try_from(matrix: &DMatrix<T>) -> Result<Self> {
        let values: Vec<T> =
            matrix.row_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
        Self::from_rows(matrix.nrows(), matrix.ncols(), values)
    }
}

impl TryFrom<&DMatrix<f64>> for Kernel {
    type Error = Error;

    fn try_from(matrix: &DMatrix<f64>) -> Result<Self> {
        check_square(matrix.nrows(), matrix.ncols())?;
        // Row-major and column-major agree once the matrix is known to be symmetric, and the
        // symmetry check does not care.
        Self::from_dense(matrix.nrows(), matrix.as_slice())
    }
}

fn check_square(rows: usize, columns: usize) -> Result<()> {
    if rows == columns {
        return Ok(());
    }
    Err(Error::Shape { what: "a row of the kernel (it must be square)", expected: rows, found: columns })
}

#[cfg(feature = "ndarray")]
mod from_ndarray {
    use ndarray::{Array2, ArrayView2};

    use super::{Error, Features, Kernel, Result, Scalar, check_square};

    impl<'a, T: Scalar> TryFrom<ArrayView2<'a, T>> for Features<'a> {
        type Error = Error;

        /// One item per row. Borrows arrays in standard layout, copies others.
        fn try_from(view: ArrayView2<'a, T>) -> Result<Self> {
            let (items, dims) = view.dim();
            match view.to_slice() {
                Some(values) => Self::from_rows(items, dims, values),
                None => Self::from_rows(items, dims, view.iter().copied().collect::<Vec<T>>()),
            }
        }
    }

    impl<T: Scalar> TryFrom<Array2<T>> for Features<'static> {
        type Error = Error;

        /// One item per row. Takes the buffer of arrays in standard layout, copies others.
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

    impl TryFrom<ArrayView2<'_, f64>> for Kernel {
        type Error = Error;

        fn try_from(view: ArrayView2<'_, f64>) -> Result<Self> {
            check_square(view.nrows(), view.ncols())?;
            Self::from_dense(view.nrows(), &view.iter().copied().collect::<Vec<_>>())
        }
    }
}
