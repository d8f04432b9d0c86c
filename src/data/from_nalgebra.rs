//! Features and kernels from nalgebra matrices.

use nalgebra::DMatrix;

use super::{Features, Kernel, Scalar, kernel::check_square};
use crate::{Error, Result};

impl<T: Scalar + nalgebra::Scalar> TryFrom<&DMatrix<T>> for Features {
    type Error = Error;

    /// One item per row. Copies the values, since nalgebra stores columns.
    fn try_from(matrix: &DMatrix<T>) -> Result<Self> {
        let values: Vec<T> =
            matrix.row_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
        Self::from_rows(matrix.nrows(), matrix.ncols(), values)
    }
}

impl<T: Scalar + nalgebra::Scalar> TryFrom<&DMatrix<T>> for Kernel {
    type Error = Error;

    fn try_from(matrix: &DMatrix<T>) -> Result<Self> {
        check_square(matrix.nrows(), matrix.ncols())?;
        // A symmetric matrix is the same in row-major and column-major order, and so is its symmetry check.
        Self::from_dense(matrix.nrows(), matrix.as_slice())
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
}
