//! Features in half precision: exact when widened, and half the bytes of f32.

use half::f16;

use super::{
    stored_rows::StoredRows,
    values::{Scalar, Values, sealed},
};

/// All bits except the sign.
const MAGNITUDE: u16 = 0x7FFF;
/// The magnitude of infinity; magnitudes of NaNs are larger.
const INFINITE: u16 = 0x7C00;

impl sealed::Sealed for f16 {}

impl Scalar for f16 {
    const NAME: &'static str = "f16";

    fn wrap(rows: StoredRows<Self>) -> Values {
        Values::F16(rows)
    }

    /// Shifts exponent and mantissa to their places in an f32, then corrects the exponent bias, which differs by 112.
    /// There is no branch, even for subnormal numbers, so loops vectorise.
    #[inline]
    fn wide(self) -> f64 {
        const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
        let bits = self.to_bits();
        let magnitude = f32::from_bits(u32::from(bits & MAGNITUDE) << 13) * REBIAS;
        f32::from_bits(magnitude.to_bits() | u32::from(bits & !MAGNITUDE) << 16).into()
    }

    #[inline]
    fn is_finite(self) -> bool {
        f16::is_finite(self)
    }

    /// Magnitudes have the same order as their bits.
    fn largest_magnitude(values: &[Self]) -> Option<f64> {
        let largest = values.iter().fold(0, |largest, value| (value.to_bits() & MAGNITUDE).max(largest));
        (largest < INFINITE).then(|| f16::from_bits(largest).wide())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_half_widens_exactly() {
        for bits in 0..=u16::MAX {
            let value = f16::from_bits(bits);
            let finite = Scalar::is_finite(value);
            assert_eq!(f16::largest_magnitude(&[f16::ONE, value]).is_some(), finite);
            if finite {
                assert_eq!(value.wide().to_bits(), f64::from(value).to_bits(), "{bits:#x}");
                assert_eq!(f16::largest_magnitude(&[value]), Some(f64::from(value).abs()));
            }
        }
    }
}
