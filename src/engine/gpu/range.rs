//! Scaling to the range of the device's precision: numbers are divided by powers of two before they are cast, and
//! results are multiplied by them in f64. In f64 all these powers are 1.

use faer::MatRef;

use crate::{Error, Result, engine::Precision, error::DeviceProblem, linalg::power_of_two_near};

/// Values that a shader reads at a time; rows are padded to a multiple of it.
pub(super) const QUAD: usize = 4;
/// The largest entry of a group's rows on a device in single precision. Sums of squares of such rows stay below 2¹²⁷,
/// even after multiplication by a factor.
const LARGEST_ROW: f64 = (1_u64 << 36) as f64;
/// The smallest row on such a device: rounding its square to zero changes sums no more than other rounding does.
const SMALLEST_ROW: f64 = 1.0 / (1_u64 << 40) as f64;

/// The divisor of these numbers on a device, which makes the largest 1 or less.
pub(super) fn unit_of(precision: Precision, values: impl IntoIterator<Item = f64>) -> f64 {
    match precision {
        Precision::F32 => power_of_two_near(values.into_iter().fold(0.0, |max, x| x.abs().max(max))),
        Precision::F64 => 1.0,
    }
}

/// The divisor of rows, given their largest entry.
pub(super) fn unit_of_rows(precision: Precision, largest: impl FnOnce() -> f64) -> f64 {
    match precision {
        Precision::F32 => power_of_two_near(largest()) / LARGEST_ROW,
        Precision::F64 => 1.0,
    }
}

/// Refuses a divided row that is lost in single precision beside the largest of its group.
pub(super) fn check_row(row: &[f64]) -> Result<()> {
    let size = row.iter().fold(0.0, |max: f64, x| x.abs().max(max));
    if size > 0.0 && size < SMALLEST_ROW {
        let what = "a row whose size relative to the largest is";
        return Err(Error::Device(DeviceProblem::SinglePrecision { what, value: size / LARGEST_ROW }));
    }
    Ok(())
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

    /// The columns of an n×r matrix times a weight: a row per feature, padded with zeros in both dimensions.
    pub(super) fn factor(precision: Precision, factor: MatRef<'_, f64>, weight: f64) -> Self {
        let unit =
            unit_of(precision, (0..factor.ncols()).flat_map(|j| factor.col(j).iter()).map(|x| weight * x));
        let (rows, columns) = (factor.nrows().next_multiple_of(QUAD), factor.ncols().next_multiple_of(QUAD));
        let mut values = vec![0.0; rows * columns];
        for j in 0..factor.ncols() {
            for i in 0..factor.nrows() {
                values[i * columns + j] = weight * factor[(i, j)] / unit;
            }
        }
        Self { values, unit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_of_any_size_becomes_one_of_size_one() {
        for size in [1e-280, 1e-60, 1.0, 1e60, 1e280] {
            let factor = faer::mat![[size, -0.5 * size], [0.0, 1e-3 * size]];
            let padded = Padded::factor(Precision::F32, factor.as_ref(), 2.0);
            assert!(padded.values.iter().all(|x| x.abs() <= 1.0));
            assert_eq!(
                (padded.values[0] * padded.unit).to_bits(),
                (2.0 * size).to_bits(),
                "nothing is rounded"
            );
            assert_eq!(padded.values.len(), 16);
            assert_eq!(
                Padded::factor(Precision::F64, factor.as_ref(), 2.0).unit.to_bits(),
                1.0_f64.to_bits()
            );
        }
        assert_eq!(unit_of(Precision::F32, []).to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn rows_that_single_precision_would_lose_are_refused() {
        let unit = unit_of_rows(Precision::F32, || 1e60);
        let row = |size: f64| check_row(&[0.0, -size / unit]);
        assert!(row(1e60).is_ok() && row(1e40).is_ok() && row(0.0).is_ok());
        let error = row(1e30).unwrap_err();
        assert!(matches!(error, Error::Device(DeviceProblem::SinglePrecision { .. })));
        assert!(error.to_string().contains("single precision"), "{error}");
    }
}
