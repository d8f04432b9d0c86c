//! Rows in fixed point with any number of bits.

use dashu_int::{IBig, ops::BitTest};

/// A number x = significand · 2^exponent of any magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scaled {
    /// In [½, 1), or 0.
    pub(crate) significand: f64,
    pub(crate) exponent: i64,
}

impl Scaled {
    pub(crate) const ZERO: Self = Self { significand: 0.0, exponent: 0 };

    pub(crate) fn new(x: f64) -> Self {
        if x == 0.0 {
            return Self::ZERO;
        }
        // Subnormal numbers have no implicit leading bit.
        let (x, below) = if x.abs() < f64::MIN_POSITIVE { (x * 2_f64.powi(64), 64) } else { (x, 0) };
        let bits = x.to_bits();
        #[expect(clippy::cast_possible_wrap, reason = "eleven bits")]
        let exponent = (bits >> 52 & 0x7ff) as i64 - 1022;
        let significand = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
        Self { significand, exponent: exponent - below }
    }

    /// The value as one number; infinite or zero out of range.
    pub(crate) fn value(self) -> f64 {
        // Two steps: the first stays in range, the second rounds once.
        let exponent = self.exponent.clamp(-2200, 2200);
        #[expect(clippy::cast_possible_truncation, reason = "clamped")]
        let half = (exponent / 2) as i32;
        #[expect(clippy::cast_possible_truncation, reason = "clamped")]
        let rest = exponent as i32 - half;
        if half < -1000 { 0.0 } else { self.significand * 2_f64.powi(half) * 2_f64.powi(rest) }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.significand == 0.0
    }

    /// log₂ |x|.
    pub(crate) fn log2(self) -> f64 {
        self.significand.abs().log2() + self.exponent as f64
    }

    /// ln |x|.
    pub(crate) fn ln(self) -> f64 {
        self.significand.abs().ln() + self.exponent as f64 * std::f64::consts::LN_2
    }

    pub(crate) fn times_power(self, exponent: i64) -> Self {
        Self { exponent: self.exponent + exponent, ..self }
    }

    /// An integer, rounded to its top bits.
    pub(crate) fn of(integer: &IBig) -> Self {
        let bits = integer.bit_len();
        let shift = bits.saturating_sub(64);
        let top = i128::try_from(integer >> shift).unwrap_or_default();
        #[expect(clippy::cast_possible_wrap, reason = "numbers have fewer bits than 2⁶³")]
        Self::new(top as f64).times_power(shift as i64)
    }

    /// x / √y for a positive y.
    pub(crate) fn over_root(self, y: Self) -> Self {
        let odd = y.exponent & 1;
        let root = (y.significand * 2_f64.powi(i32::from(odd != 0))).sqrt();
        Self::new(self.significand / root).times_power(self.exponent - (y.exponent - odd) / 2)
    }
}

/// A row r = 2^(exponent − bits) · entries, whose largest integer entry has about `bits` bits.
#[derive(Clone, Debug)]
pub(crate) struct FixedRow {
    entries: Vec<IBig>,
    exponent: i64,
    bits: usize,
}

impl FixedRow {
    /// The row rounded to this many bits below its largest entry, times 2^`exponent`.
    pub(crate) fn new(row: &[f64], exponent: i64, bits: usize) -> Self {
        let scaled: Vec<Scaled> = row.iter().map(|&x| Scaled::new(x)).collect();
        let nonzero = scaled.iter().filter(|x| x.significand != 0.0);
        let largest = nonzero.map(|x| x.exponent).max().unwrap_or_default();
        let entry = |x: &Scaled| {
            #[expect(clippy::cast_possible_truncation, reason = "a significand of 53 bits, as an integer")]
            let integer = IBig::from((x.significand * 2_f64.powi(53)) as i64);
            #[expect(clippy::cast_possible_wrap, reason = "bits are thousands at most")]
            let shift = x.exponent - largest + bits as i64 - 53;
            shifted(integer, shift)
        };
        Self { entries: scaled.iter().map(entry).collect(), exponent: exponent + largest, bits }
    }

    /// The exponent of the unit in the last place.
    pub(crate) fn last_place(&self) -> i64 {
        #[expect(clippy::cast_possible_wrap, reason = "bits are thousands at most")]
        let bits = self.bits as i64;
        self.exponent - bits
    }

    /// log₂ of the error of the row if every entry is rounded once or twice.
    pub(crate) fn rounding(&self) -> f64 {
        self.last_place() as f64 + 0.5 * (self.entries.len() as f64).log2() + 1.0
    }

    /// ‖r‖² as an integer, in units of the last place squared.
    pub(crate) fn square(&self) -> IBig {
        self.entries.iter().map(IBig::sqr).map(IBig::from).sum()
    }

    /// r·b in units of both last places.
    pub(crate) fn dot(&self, other: &Self) -> IBig {
        self.entries.iter().zip(&other.entries).map(|(a, b)| a * b).sum()
    }

    /// r ← r − (along / square) b, rounded to the last place; `along` is r·b and `square` ‖b‖².
    pub(crate) fn remove(&mut self, along: &IBig, direction: &Self, square: &IBig) {
        let ratio = (along << self.bits) / square;
        for (own, other) in self.entries.iter_mut().zip(&direction.entries) {
            *own -= (&ratio * other) >> self.bits;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.entries.fill(IBig::ZERO);
    }
}

/// x · 2^shift, rounded down.
fn shifted(x: IBig, shift: i64) -> IBig {
    let by = usize::try_from(shift.unsigned_abs()).unwrap_or(usize::MAX);
    if shift >= 0 { x << by } else { x >> by }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn numbers_of_any_magnitude() {
        for x in [1.0, -0.75, 3.0e300, -2.5e-300, 5e-324, 1.5e-310, f64::MAX, f64::MIN_POSITIVE] {
            let scaled = Scaled::new(x);
            assert!((0.5..1.0).contains(&scaled.significand.abs()), "{x}");
            assert_eq!(scaled.value().to_bits(), x.to_bits(), "{x}");
            assert_abs_diff_eq!(scaled.ln(), x.abs().ln(), epsilon = 1e-12 * x.abs().ln().abs().max(1.0));
        }
        let far = Scaled::new(3.0).times_power(-5000);
        assert!(far.value() == 0.0 && (far.ln() - (3_f64.ln() - 5000.0 * 2_f64.ln())).abs() < 1e-9);
        let quotient = Scaled::new(-6.0).times_power(3000).over_root(Scaled::new(9.0).times_power(6000));
        assert_abs_diff_eq!(quotient.value(), -2.0, epsilon = 1e-15);
        assert_abs_diff_eq!(
            Scaled::new(1.0).over_root(Scaled::new(2.0)).value(),
            0.5_f64.sqrt(),
            epsilon = 1e-15
        );
        assert_abs_diff_eq!(
            Scaled::of(&(IBig::from(-3) << 500)).ln(),
            3_f64.ln() + 500.0 * 2_f64.ln(),
            epsilon = 1e-9
        );
    }
}
