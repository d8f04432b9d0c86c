//! Features and kernels from faer matrices.

use faer::MatRef;

use super::{Features, Kernel, Scalar, kernel::check_square};
use crate::{Error, Result};

impl<T: Scalar> TryFrom<MatRef<'_, T>> for Features {
    type Error = Error;

    /// One item per row. Copies the values, since faer stores columns.
    fn try_from(matrix: MatRef<'_, T>) -> Result<Self> {
        Self::from_rows(matrix.nrows(), matrix.ncols(), row_major(matrix))
    }
}

impl<T: Scalar> TryFrom<MatRef<'_, T>> for Kernel {
    type Error = Error;

    fn try_from(matrix: MatRef<'_, T>) -> Result<Self> {
        check_square(matrix.nrows(), matrix.ncols())?;
        Self::from_dense(matrix.nrows(), &row_major(matrix))
    }
}

/// The entries, row by row.
fn row_major<T: Scalar>(matrix: MatRef<'_, T>) -> Vec<T> {
    (0..matrix.nrows()).flat_map(|i| (0..matrix.ncols()).map(move |j| matrix[(i, j)])).collect()
}

#[cfg(test)]
mod tests {
    use faer::mat;

    use super::*;

    #[test]
    fn rows_of_a_matrix_are_items() {
        let matrix = mat![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
        let features = Features::try_from(matrix.as_ref()).unwrap();
        assert_eq!((features.items(), features.dims()), (2, 3));
        assert_eq!(features.row(1), [4.0, 5.0, 6.0]);
        assert_eq!(Features::try_from(matrix.transpose()).unwrap().row(2), [3.0, 6.0]);
        assert!(matches!(Kernel::try_from(matrix.as_ref()), Err(Error::Shape { expected: 2, found: 3, .. })));
        let gram = &matrix * matrix.transpose();
        assert_eq!(Kernel::try_from(gram.as_ref()).unwrap().rank(), 2);
    }
}
