//! The qualities of items.

use crate::{Error, Result, data::check_log_quality};

/// q_i² of every item as m_i 2^e_i with 1 ≤ m_i < 2, so products and ratios neither overflow nor underflow.
#[derive(Clone, Debug)]
pub(super) struct Quality {
    /// The logarithms ln q_i.
    logs: Vec<f64>,
    mantissas: Vec<f64>,
    exponents: Vec<i64>,
}

impl Quality {
    pub(super) fn new(logs: Vec<f64>) -> Result<Self> {
        check_log_quality(&logs)?;
        let power = |log: &f64| 2.0 * log * std::f64::consts::LOG2_E;
        let mantissas = logs.iter().map(|log| (power(log) - power(log).floor()).exp2()).collect();
        #[expect(clippy::cast_possible_truncation, reason = "at most 2³⁴")]
        let exponents = logs.iter().map(|log| power(log).floor() as i64).collect();
        Ok(Self { logs, mantissas, exponents })
    }

    /// The product of these qualities with others.
    pub(super) fn times(known: Option<&Self>, log_quality: &[f64], items: usize) -> Result<Self> {
        let found = log_quality.len();
        if found != items {
            return Err(Error::Shape { what: "the list of scores or log-qualities", expected: items, found });
        }
        let log = |(item, log): (usize, &f64)| known.map_or(0.0, |known| known.logs[item]) + log;
        Self::new(log_quality.iter().enumerate().map(log).collect())
    }

    /// The value of ln q_i².
    pub(super) fn log_square(&self, item: usize) -> f64 {
        2.0 * self.logs[item]
    }

    /// The exponent of a power of two that is at most x q_i² and more than a quarter of it, for a positive x.
    pub(super) fn exponent(&self, item: usize, x: f64) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "logarithms of numbers are small")]
        let of_x = x.log2().floor() as i64;
        self.exponents[item].saturating_add(of_x)
    }

    /// q_i² / 2^reference, within the range of positive numbers.
    pub(super) fn scale(&self, item: usize, reference: i64) -> f64 {
        self.mantissas[item] * power_of_two(self.exponents[item].saturating_sub(reference))
    }

    /// q_j² / q_i², within the range of positive numbers.
    pub(super) fn ratio(&self, j: usize, i: usize) -> f64 {
        self.scale(j, self.exponents[i]) / self.mantissas[i]
    }
}

/// 2^exponent, or the nearest power of two that is a normal number.
pub(super) fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits((exponent.clamp(-1022, 1023) + 1023).cast_unsigned() << 52)
}
