//! Matrices P(θ) = I + Σ (e^{iθ_l} − 1) N_l and their determinants, computed with nalgebra and loops.

use std::f64::consts::PI;

use faer::Mat;
use nalgebra::{Complex, DMatrix};
use partition_dpp::engine::c64;

use crate::random::normals;

/// The angles of the nodes, in a different order for each part. P = I at the node of zeros.
pub const ANGLES: [[f64; 3]; 6] =
    [[0.0, 0.0, 0.0], [0.3, 0.9, -2.0], [PI, 0.0, 0.7], [PI, PI, PI], [-1.2, 2.9, 0.0], [3.1, -3.0, 3.12]];

pub type Complexes = DMatrix<Complex<f64>>;

/// Returns N_l ≥ 0 with Σ N_l < I. The second-to-last part has rank ⌈dim/2⌉.
pub fn shares(dim: usize, parts: usize) -> Vec<DMatrix<f64>> {
    let gram = |l: usize| {
        let width = if l + 2 == parts { dim.div_ceil(2) } else { dim };
        let rows = DMatrix::from_vec(dim, width, normals(dim * width, (100 * dim + l) as u64));
        &rows * rows.transpose()
    };
    let grams: Vec<DMatrix<f64>> = (0..parts).map(gram).collect();
    let whole = grams.iter().fold(DMatrix::identity(dim, dim), |sum, gram| sum + gram);
    let root = whole.cholesky().unwrap().inverse().cholesky().unwrap().l();
    let symmetric = |share: DMatrix<f64>| (&share + share.transpose()) * 0.5;
    grams.into_iter().map(|gram| symmetric(root.transpose() * gram * &root)).collect()
}

pub fn to_faer(matrix: &DMatrix<f64>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)])
}

/// Returns e^{iθ}, exactly 1 at 0 and −1 at π.
pub fn phase(angle: f64) -> c64 {
    if angle.total_cmp(&PI).is_eq() { c64::new(-1.0, 0.0) } else { c64::new(angle.cos(), angle.sin()) }
}

pub fn phases(parts: usize) -> Vec<c64> {
    ANGLES.iter().flat_map(|angles| angles[..parts].iter().map(|&angle| phase(angle))).collect()
}

/// Returns I + Σ (z_l − 1) N_l.
pub fn naive_matrix(shares: &[DMatrix<f64>], phases: &[c64]) -> Complexes {
    let dim = shares[0].nrows();
    DMatrix::from_fn(dim, dim, |i, j| {
        let one = Complex::new(if i == j { 1.0 } else { 0.0 }, 0.0);
        shares.iter().zip(phases).fold(one, |sum, (share, z)| {
            sum + Complex::new((z.re - 1.0) * share[(i, j)], z.im * share[(i, j)])
        })
    })
}

/// Returns the determinant by LU decomposition with complete pivoting, and ‖inverse‖.
///
/// The norm bounds the relative change of the determinant per rounding of the matrix.
pub fn naive_determinant(matrix: &Complexes) -> (Complex<f64>, f64) {
    let lu = matrix.clone().full_piv_lu();
    (lu.determinant(), lu.try_inverse().map_or(f64::INFINITY, |inverse| inverse.norm()))
}

pub fn of_faer(matrix: &Mat<c64>) -> Complexes {
    DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |i, j| {
        Complex::new(matrix[(i, j)].re, matrix[(i, j)].im)
    })
}

pub fn complex(value: c64) -> Complex<f64> {
    Complex::new(value.re, value.im)
}
