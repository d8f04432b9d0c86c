//! Bounds of rounding errors.
//!
//! The error of a sum of n terms is at most n u times the sum of their magnitudes. In practice it is at most 8√n u
//! times that sum, since errors are positive as often as negative (Higham and Mary, *A new approach to probabilistic
//! rounding error analysis*, 2019, theorem 2.4). The constants for decompositions are several times the largest
//! observed errors.

/// The unit roundoff u.
const UNIT: f64 = 0.5 * f64::EPSILON;

/// The accuracy to which lengths are known: squares of shorter rows underflow.
pub(super) const VANISHING: f64 = 1e-150;

/// The error of a sum of products in any order, as a fraction of the sum of their magnitudes.
pub(super) fn of_sum(terms: usize) -> f64 {
    let terms = terms as f64;
    UNIT * terms.min(8.0 * terms.sqrt())
}

/// The error of a [`dot`](crate::linalg::kernels::dot), which adds at least two partial sums.
pub(super) fn of_dot(terms: usize) -> f64 {
    of_sum(terms / 2 + 4)
}

/// ‖A − U Λ Uᵀ‖ as a fraction of ‖A‖, for the computed eigenvalues and some orthogonal U.
pub(super) fn of_eigenvalues(size: usize) -> f64 {
    4.0 * size as f64 * f64::EPSILON
}

/// ‖UᵀU − I‖ for the computed eigenvectors, and twice their distance from orthogonal ones.
pub(super) fn of_eigenvectors(size: usize) -> f64 {
    4.0 * size as f64 * f64::EPSILON
}

/// The error of reflecting a row once, as a fraction of its length.
///
/// It comes from the product with the normal, twice, and from the normal's length.
pub(super) fn of_reflection(dims: usize) -> f64 {
    4.0 * of_dot(dims) + 16.0 * UNIT
}

/// The error of columns of a QR factorisation, as a fraction of their lengths.
pub(super) fn of_orthogonalisation(dims: usize, count: usize) -> f64 {
    (count as f64).sqrt() * (of_sum(dims) + 8.0 * UNIT)
}

/// The error of a logarithm, or of a sum of two terms, with this value; 0 for infinite values.
pub(super) fn of_value(value: f64) -> f64 {
    if value.is_finite() { f64::EPSILON * value.abs() } else { 0.0 }
}
