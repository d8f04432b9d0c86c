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
        // Row-major and column-major agree for a symmetric matrix, and the symmetry check is the same for both.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_matrix_are_items() {
        let matrix = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let features = Features::try_from(&matrix).unwrap();
        assert_eq!((features.items(), features.dims()), (2, 3));
        assert_eq!(features.row(1), [4.0, 5.0, 6.0]);
        assert!(matches!(Kernel::try_from(&matrix), Err(Error::Shape { expected: 2, found: 3, .. })));
        let gram = &matrix * matrix.transpose();
        assert_eq!(Kernel::try_from(&gram).unwrap().rank(), 2);
    }

    #[cfg(feature = "ndarray")]
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
