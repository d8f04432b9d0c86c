//! Exponents that measure the size of rows, which single precision needs to scale them.

/// The exponent of zero, below all others.
pub(super) const NONE: i16 = i16::MIN;

/// The exponent e with 2ᵉ⁻¹ ≤ |x| < 2ᵉ.
pub(super) fn exponent(x: f64) -> i16 {
    const NORMAL: f64 = (1_u64 << 54) as f64;
    if x == 0.0 {
        return NONE;
    }
    if x.is_subnormal() {
        return exponent(x * NORMAL) - 54;
    }
    let biased = (x.to_bits() >> 52 & 0x7FF) as i16;
    biased - 1022
}

/// An exponent e with |x·y| < 2ᵉ and 2ᵉ⁻² ≤ |x·y|.
pub(super) fn exponent_of_product(x: f64, y: f64) -> i16 {
    match (exponent(x), exponent(y)) {
        (NONE, _) | (_, NONE) => NONE,
        (x, y) => x + y,
    }
}

/// 2ᵉ.
pub(super) fn power(exponent: i32) -> f64 {
    f64::from(exponent).exp2()
}

/// x·2ᵉ, even if 2ᵉ itself is beyond the range of f64.
pub(super) fn scaled(x: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    x * power(half) * power(exponent - half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_bracket_numbers_of_any_size() {
        for x in [1.0, 0.75, -3.0, 1e300, 1e-300, f64::MIN_POSITIVE, 5e-324, f64::MAX, 2.0_f64.powi(-1030)] {
            let e = i32::from(exponent(x));
            let unit = scaled(x.abs(), -e);
            assert!((0.5..1.0).contains(&unit), "{x:e}: {e}, {unit}");
            for y in [1.0, 1e-200, 0.3] {
                let e = exponent_of_product(x, y);
                assert_eq!(e, exponent(x) + exponent(y));
            }
        }
        assert_eq!((exponent(0.0), exponent_of_product(0.0, 1e300)), (NONE, NONE));
    }
}
