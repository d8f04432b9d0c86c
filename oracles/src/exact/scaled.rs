//! Numbers beyond the range of f64, rounded once.

use num_bigint::{BigInt, Sign};

/// A number m·2^e with ½ ≤ |m| < 1, or 0: an exact number rounded to 53 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled {
    mantissa: f64,
    exponent: i64,
}

impl Scaled {
    pub const ZERO: Self = Self { mantissa: 0.0, exponent: 0 };

    /// Returns z·2^u.
    pub fn of(z: &BigInt, unit: i64) -> Self {
        let bits = i64::try_from(z.bits()).unwrap();
        let sign = if z.sign() == Sign::Minus { -1.0 } else { 1.0 };
        // The 64 leading bits are rounded to 53: the error is at most ½ + 2^-11 units in the last place.
        let leading = z.magnitude() >> (bits - 64).max(0);
        let leading = leading.iter_u64_digits().next().unwrap_or(0);
        Self { mantissa: sign * leading as f64, exponent: unit + (bits - 64).max(0) }.normal()
    }

    pub fn from(x: f64) -> Self {
        Self { mantissa: x, exponent: 0 }.normal()
    }

    fn normal(self) -> Self {
        if self.mantissa == 0.0 {
            return Self::ZERO;
        }
        let (z, u) = integer(self.mantissa);
        let bits = i64::from(u64::BITS - z.unsigned_abs().leading_zeros());
        Self { mantissa: z as f64 * power_of_two(-bits), exponent: self.exponent + u + bits }
    }

    pub fn is_positive(&self) -> bool {
        self.mantissa > 0.0
    }

    pub fn is_negative(&self) -> bool {
        self.mantissa < 0.0
    }

    pub fn negated(self) -> Self {
        Self { mantissa: -self.mantissa, ..self }
    }

    pub fn plus(self, other: Self) -> Self {
        if self.mantissa == 0.0 || other.mantissa == 0.0 {
            return if self.mantissa == 0.0 { other } else { self };
        }
        let (large, small) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let mantissa = large.mantissa + small.mantissa * power_of_two(small.exponent - large.exponent);
        Self { mantissa, exponent: large.exponent }.normal()
    }

    pub fn times(self, other: Self) -> Self {
        let product = self.mantissa * other.mantissa;
        Self { mantissa: product, exponent: self.exponent + other.exponent }.normal()
    }

    /// Returns the quotient, or ±∞ or 0 if it is out of the range of f64.
    pub fn over(self, other: Self) -> f64 {
        let quotient = self.mantissa / other.mantissa;
        // This avoids 0 · ∞.
        if quotient == 0.0 { 0.0 } else { quotient * power_of_two(self.exponent - other.exponent) }
    }

    /// Returns ln of the quotient of two positive numbers, to full accuracy even if they are close.
    pub fn ln_over(self, other: Self) -> f64 {
        (self.mantissa / other.mantissa).ln()
            + (self.exponent - other.exponent) as f64 * std::f64::consts::LN_2
    }

    /// Returns the logarithm, or −∞ if the number is not positive.
    pub fn ln(self) -> f64 {
        if self.is_positive() {
            self.mantissa.ln() + self.exponent as f64 * std::f64::consts::LN_2
        } else {
            f64::NEG_INFINITY
        }
    }
}

/// Returns z and u with x = z·2^u.
pub(super) fn integer(x: f64) -> (i64, i64) {
    let bits = x.to_bits();
    let (raw, fraction) = ((bits >> 52 & 0x7ff) as i64, (bits & ((1 << 52) - 1)) as i64);
    let (z, u) = if raw == 0 { (fraction, -1074) } else { (fraction | 1 << 52, raw - 1075) };
    (if x < 0.0 { -z } else { z }, u)
}

/// Returns 2^u, or 0 or ∞ if that is out of range.
fn power_of_two(u: i64) -> f64 {
    2_f64.powi(i32::try_from(u.clamp(-2000, 2000)).unwrap())
}
