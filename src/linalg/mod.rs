//! Dense linear algebra on top of faer: sorted eigen-decompositions, graded ones to high relative accuracy, and the
//! vector kernels of the sampling loop.

mod complex_lu;
mod dual_basis;
mod fixed_point;
mod graded;
mod hessenberg;
pub(crate) mod kernels;
mod logarithms;
mod modular_rank;
mod orthonormal;
mod products;
pub(crate) mod residuals;
pub(crate) mod span;
pub(crate) mod thinning;
mod triangular;
pub(crate) mod volume;

use faer::{Mat, MatMut, MatRef, Par, Side, c64, linalg::triangular_solve::solve_lower_triangular_in_place};

pub use complex_lu::Determinant;
pub(crate) use complex_lu::{Lu, complex_determinant, complex_inverse};
pub(crate) use dual_basis::{dual_basis, independent_qr, transposed_duals};
use fixed_point::FixedRow;
pub(crate) use fixed_point::Scaled;
pub(crate) use hessenberg::Hessenberg;
pub(crate) use logarithms::{log_sum, sigmoid, softplus};
pub(crate) use modular_rank::rank as exact_rank;
pub(crate) use orthonormal::{INDEPENDENCE_TOLERANCE, OrthonormalBasis, complement, orthonormalise};
pub(crate) use triangular::{Triangular, WeightedRow, may_be_triangular, triangular};

use crate::{Error, Result};

/// Eigenvalues in descending order, with the eigenvectors in the columns.
#[derive(Clone, Debug)]
pub(crate) struct Eigen {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Mat<f64>,
}

/// Eigen-decomposition of a symmetric matrix, from its lower half.
///
/// Sequential, since two threads do not help at the sizes that occur.
pub(crate) fn eigen(matrix: MatRef<'_, f64>) -> Result<Eigen> {
    let size = matrix.nrows();
    // The solver subtracts 1 from the number of rows.
    if size == 0 {
        return Ok(Eigen { values: Vec::new(), vectors: Mat::new() });
    }
    // The solver squares entries, so large ones would overflow.
    let largest = matrix.norm_max();
    if (1e-100..1e100).contains(&largest) || largest == 0.0 {
        return eigen_in_range(matrix);
    }
    if !largest.is_finite() {
        return Err(Error::Eigen { size });
    }
    let scale = power_of_two_near(largest);
    let Eigen { mut values, vectors } = eigen_in_range((matrix * faer::Scale(scale.recip())).as_ref())?;
    values.iter_mut().for_each(|value| *value *= scale);
    Ok(Eigen { values, vectors })
}

fn eigen_in_range(matrix: MatRef<'_, f64>) -> Result<Eigen> {
    let size = matrix.nrows();
    // The general solver may not converge if entries span hundreds of decades; rotations always do.
    let Ok(solved) = matrix.self_adjoint_eigen(Side::Lower) else {
        return graded::graded_eigen(matrix, || Ok(()));
    };
    let ascending = solved.S().column_vector();
    Ok(Eigen {
        values: (0..size).rev().map(|j| ascending[j]).collect(),
        vectors: Mat::from_fn(size, size, |i, j| solved.U()[(i, size - 1 - j)]),
    })
}

/// The structure of a symmetric matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grading {
    /// Entries are accurate relative to the largest.
    None,
    /// D B D with D descending: every entry is accurate relative to its row and column.
    Descending,
}

/// Eigen-decomposition to the accuracy of the entries.
///
/// The general solver is accurate to ε of the largest eigenvalue. If it would lose small eigenvalues of a graded
/// matrix, a slower algorithm is used, which calls `proceed` as it goes.
pub(crate) fn eigen_graded(
    matrix: MatRef<'_, f64>,
    grading: Grading,
    proceed: impl Fn() -> Result<()>,
) -> Result<Eigen> {
    const WELL_CONDITIONED: f64 = 1e-4;
    let general = eigen(matrix)?;
    let small = general.values.last().is_some_and(|&least| least < WELL_CONDITIONED * general.values[0]);
    if grading == Grading::Descending && small { graded::graded_eigen(matrix, proceed) } else { Ok(general) }
}

/// The power of two in (x, 2x], or 1 for zero.
///
/// Clamped so that it and its reciprocal are normal numbers. Dividing by it scales x into [½, 1) without rounding.
pub(crate) fn power_of_two_near(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    (x.log2().floor() + 1.0).clamp(-1000.0, 1000.0).exp2()
}

/// √Σ x² of numbers of any magnitude.
pub(crate) fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::hypot)
}

/// A column as a slice; matrices of this library are contiguous by column.
pub(crate) fn column_mut<T>(matrix: MatMut<'_, T>, column: usize) -> &mut [T] {
    match matrix.col_mut(column).try_as_col_major_mut() {
        Some(column) => column.as_slice_mut(),
        None => unreachable!("matrices of this library are column-major"),
    }
}

/// A column as a slice; matrices of this library are contiguous by column.
pub(crate) fn column<T>(matrix: MatRef<'_, T>, column: usize) -> &[T] {
    match matrix.col(column).try_as_col_major() {
        Some(column) => column.as_slice(),
        None => unreachable!("matrices of this library are column-major"),
    }
}

/// The entries of a matrix, column after column.
pub(crate) fn columns(matrix: MatRef<'_, f64>) -> Vec<f64> {
    (0..matrix.ncols()).flat_map(|j| column(matrix, j)).copied().collect()
}

/// `sum` += c · X.
pub(crate) fn add_multiple<T: Copy + 'static>(sum: &mut Mat<c64>, c: c64, matrix: &Mat<T>)
where
    c64: std::ops::Mul<T, Output = c64>,
{
    for j in 0..matrix.ncols() {
        let entries = column_mut(sum.as_mut(), j).iter_mut().zip(column(matrix.as_ref(), j));
        entries.for_each(|(out, &x)| *out += c * x);
    }
}

/// `sum` += Re(c · X).
pub(crate) fn add_real_part(sum: &mut Mat<f64>, c: c64, matrix: &Mat<c64>) {
    for j in 0..matrix.ncols() {
        let out = column_mut(sum.as_mut(), j);
        for (out, x) in out.iter_mut().zip(column(matrix.as_ref(), j)) {
            *out += c.re * x.re - c.im * x.im;
        }
    }
}

/// `matrix` with column j multiplied by `factors[j]`.
pub(crate) fn scale_columns(matrix: MatRef<'_, f64>, factors: &[f64]) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)] * factors[j])
}

/// L⁻¹ X L⁻ᵀ for a lower triangular L and a symmetric X.
pub(crate) fn whiten(lower: MatRef<'_, f64>, symmetric: Mat<f64>) -> Mat<f64> {
    let mut half = symmetric;
    solve_lower_triangular_in_place(lower, half.as_mut(), Par::Seq);
    let mut whole = half.transpose().to_owned();
    solve_lower_triangular_in_place(lower, whole.as_mut(), Par::Seq);
    whole
}

/// L⁻¹ for a lower triangular L.
pub(crate) fn inverse_of_lower(lower: MatRef<'_, f64>) -> Mat<f64> {
    let mut inverse = Mat::identity(lower.nrows(), lower.nrows());
    solve_lower_triangular_in_place(lower, inverse.as_mut(), Par::Seq);
    inverse
}

/// The lower triangular L with L Lᵀ = F Fᵀ, which gives the same row forms for half the work.
///
/// Returns F itself if it is not square, or so badly conditioned that rounding would matter.
pub(crate) fn square_root(factor: Mat<f64>) -> Mat<f64> {
    const WELL_CONDITIONED: f64 = 1e3;
    if factor.nrows() != factor.ncols() {
        return factor;
    }
    let r = factor.transpose().qr().thin_R().to_owned();
    let inverse = inverse_of_lower(r.transpose());
    let condition = r.norm_l2() * inverse.norm_l2();
    if condition.is_nan() || condition > WELL_CONDITIONED * r.ncols() as f64 {
        return factor;
    }
    Mat::from_fn(r.ncols(), r.nrows(), |i, j| if j <= i { r[(j, i)] } else { 0.0 })
}

/// R with R Rᵀ = c·X for a positive semidefinite X, from its lower half.
///
/// Negative eigenvalues are rounding errors and count as zero.
pub(crate) fn positive_root(matrix: MatRef<'_, f64>, c: f64) -> Result<Mat<f64>> {
    let eigen = eigen(matrix)?;
    let roots: Vec<f64> = eigen.values.iter().map(|value| (value * c).max(0.0).sqrt()).collect();
    Ok(scale_columns(eigen.vectors.as_ref(), &roots))
}

/// Π N Π with Π = I − qqᵀ.
pub(crate) fn project(share: &Mat<f64>, direction: &[f64]) -> Mat<f64> {
    let image: Vec<f64> =
        (0..share.ncols()).map(|j| kernels::dot(column(share.as_ref(), j), direction)).collect();
    let along = kernels::dot(&image, direction);
    let mut out = share.clone();
    for j in 0..out.ncols() {
        let out = column_mut(out.as_mut(), j);
        kernels::add_scaled(out, -direction[j], &image);
        kernels::add_scaled(out, along * direction[j] - image[j], direction);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_without_rows_has_no_eigenvalues() {
        let Eigen { values, vectors } = eigen(Mat::zeros(0, 0).as_ref()).unwrap();
        assert!(values.is_empty() && (vectors.nrows(), vectors.ncols()) == (0, 0));
    }
}
