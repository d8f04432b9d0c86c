//! Makes numbers from bytes.

use arbitrary::{Result, Unstructured};

/// Values of features: small integers, which make rows dependent, and extreme numbers.
const NUMBERS: [f64; 32] = [
    0.0,
    0.0,
    1.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    3.0,
    0.5,
    -0.5,
    7.0,
    0.1,
    0.3,
    1e-3,
    -1e-3,
    1e3,
    1e-8,
    1e8,
    1e-9,
    1e-16,
    1e16,
    1e-100,
    1e100,
    1e-160,
    1e160,
    1e-200,
    1e200,
    5e-324,
    2.3e-308,
    1e308,
    f64::MAX,
    -1e-300,
];

/// The numbers to choose from.
pub(crate) struct Values {
    palette: usize,
}

impl Values {
    pub(crate) fn of(bytes: &mut Unstructured<'_>) -> Result<Self> {
        Ok(Self { palette: *bytes.choose(&[4, 11, 13, 20, NUMBERS.len(), NUMBERS.len() + 1])? })
    }

    pub(crate) fn next(&self, bytes: &mut Unstructured<'_>) -> Result<f64> {
        if self.palette > NUMBERS.len() {
            // A number between −1 and 1 with several digits.
            return Ok(f64::from(bytes.arbitrary::<i16>()?) / 32768.0);
        }
        Ok(NUMBERS[bytes.int_in_range(0..=self.palette - 1)?])
    }

    pub(crate) fn matrix(
        &self,
        bytes: &mut Unstructured<'_>,
        rows: usize,
        columns: usize,
    ) -> Result<Vec<Vec<f64>>> {
        (0..rows).map(|_| (0..columns).map(|_| self.next(bytes)).collect()).collect()
    }
}
