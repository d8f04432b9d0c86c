//! Scaling to the range of the device's precision. Numbers are divided by powers of two before they are cast, and
//! results are multiplied by these powers in f64. In f64, all powers are 1.

use faer::{ColRef, MatRef};

use crate::{engine::Precision, linalg::power_of_two_near};

/// The number of values that a shader reads at a time. Rows are padded to a multiple of it.
pub(super) const QUAD: usize = 4;
/// The exponent of the largest entry of a group's rows on a device in single precision. Sums of squares of such rows
/// stay below 2¹²⁷, even after multiplication by a factor.
pub(super) const LARGEST_ROW: i16 = 36;
/// The exponent of the smallest row on such a device. If its square is rounded to zero, sums change no more than by
/// other rounding.
pub(super) const SMALLEST_ROW: i16 = -39;

/// The divisor of these numbers on a device. It makes the largest magnitude 1 or less.
pub(super) fn unit_of(precision: Precision, values: impl IntoIterator<Item = f64>) -> f64 {
    match precision {
        Precision::F32 => power_of_two_near(values.into_iter().fold(0.0, |max, x| x.abs().max(max))),
        Precision::F64 => 1.0,
    }
}

/// The divisor of the entries of a matrix.
pub(super) fn unit_of_matrix(precision: Precision, matrix: MatRef<'_, f64>) -> f64 {
    unit_of(precision, matrix.col_iter().flat_map(ColRef::iter).copied())
}

/// A matrix in the layout of products, and its divisor.
pub(super) struct Padded {
    pub(super) values: Vec<f64>,
    pub(super) unit: f64,
}

impl Padded {
    /// A vector in the layout of rows.
    pub(super) fn vector(precision: Precision, vector: &[f64]) -> Self {
        let unit = unit_of(precision, vector.iter().copied());
        let mut values: Vec<f64> = vector.iter().map(|x| x / unit).collect();
        values.resize(vector.len().next_multiple_of(QUAD), 0.0);
        Self { values, unit }
    }

    /// The columns of an n×r matrix: one row per feature, padded with zeros in both dimensions.
    pub(super) fn factor(precision: Precision, factor: MatRef<'_, f64>) -> Self {
        let unit = unit_of_matrix(precision, factor);
        let mut values = Vec::new();
        push_factor(&mut values, factor, factor.ncols().next_multiple_of(QUAD), unit);
        Self { values, unit }
    }
}

/// Appends a matrix divided by `unit`: one row of `pitch` values per feature, padded with zeros in both dimensions.
pub(super) fn push_factor(values: &mut Vec<f64>, factor: MatRef<'_, f64>, pitch: usize, unit: f64) {
    let first = values.len();
    values.resize(first + factor.nrows().next_multiple_of(QUAD) * pitch, 0.0);
    for j in 0..factor.ncols() {
        for i in 0..factor.nrows() {
            values[first + i * pitch + j] = factor[(i, j)] / unit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_of_any_size_becomes_one_of_size_one() {
        for size in [1e-280, 1e-60, 1.0, 1e60, 1e280] {
            let factor = faer::mat![[size, -0.5 * size], [0.0, 1e-3 * size]];
            let padded = Padded::factor(Precision::F32, factor.as_ref());
            assert!(padded.values.iter().all(|x| x.abs() <= 1.0));
            assert_eq!((padded.values[0] * padded.unit).to_bits(), size.to_bits(), "nothing is rounded");
            assert_eq!(padded.values.len(), 16);
            assert_eq!(Padded::factor(Precision::F64, factor.as_ref()).unit.to_bits(), 1.0_f64.to_bits());
        }
        assert_eq!(unit_of(Precision::F32, []).to_bits(), 1.0_f64.to_bits());
    }
}
