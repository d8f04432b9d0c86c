//! What the dense algebra library leaves to its users: sorted eigen-decompositions, graded
//! ones to high relative accuracy, and the vector kernels of the sampling loop.

mod graded;
pub(crate) mod kernels;
mod orthonormal;

use faer::{Mat, MatMut, MatRef, Side};

pub(crate) use orthonormal::OrthonormalBasis;

use crate::{Error, Result};

/// Eigenvalues in descending order, with the eigenvectors in the columns.
#[derive(Clone, Debug)]
pub(crate) struct Eigen {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Mat<f64>,
}

/// Eigen-decomposition of a symmetric matrix (its lower half is read). Sequential: two
/// threads bring nothing at any size that matters here.
pub(crate) fn eigen(matrix: MatRef<'_, f64>) -> Result<Eigen> {
    let size = matrix.nrows();
    let solved = matrix.self_adjoint_eigen(Side::Lower).map_err(|_| Error::Eigen { size })?;
    let ascending = solved.S().column_vector();
    Ok(Eigen {
        values: (0..size).rev().map(|j| ascending[j]).collect(),
        vectors: Mat::from_fn(size, size, |i, j| solved.U()[(i, size - 1 - j)]),
    })
}

/// What is known of a matrix beyond its symmetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grading {
    /// Entries are accurate relative to the largest.
    None,
    /// D B D with D descending: every entry is accurate relative to its row and column.
    Descending,
}

/// Eigen-decomposition to the accuracy that the matrix deserves.
///
/// The general solver is accurate to ε of the largest eigenvalue; graded matrices whose small
/// eigenvalues it would lose take the slower way.
pub(crate) fn eigen_graded(matrix: MatRef<'_, f64>, grading: Grading) -> Result<Eigen> {
    const WELL_CONDITIONED: f64 = 1e-4;
    let general = eigen(matrix)?;
    let small = general.values.last().is_some_and(|&least| least < WELL_CONDITIONED * general.values[0]);
    Ok(if grading == Grading::Descending && small { graded::graded_eigen(matrix) } else { general })
}

/// The power of two in (x, 2x], kept where both it and its reciprocal are ordinary numbers;
/// 1 for zero. Dividing by it brings x into [½, 1) without rounding.
pub(crate) fn power_of_two_near(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    (x.log2().floor() + 1.0).clamp(-1000.0, 1000.0).exp2()
}

/// A column as a slice. Matrices that this library makes are contiguous by column.
pub(crate) fn column_mut(matrix: MatMut<'_, f64>, column: usize) -> &mut [f64] {
    match matrix.col_mut(column).try_as_col_major_mut() {
        Some(column) => column.as_slice_mut(),
        None => unreachable!("matrices made by this library are column-major"),
    }
}

/// A column as a slice. Matrices that this library makes are contiguous by column.
pub(crate) fn column(matrix: MatRef<'_, f64>, column: usize) -> &[f64] {
    match matrix.col(column).try_as_col_major() {
        Some(column) => column.as_slice(),
        None => unreachable!("matrices made by this library are column-major"),
    }
}

/// `matrix` with column j multiplied by `factors[j]`.
pub(crate) fn scale_columns(matrix: MatRef<'_, f64>, factors: &[f64]) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)] * factors[j])
}
