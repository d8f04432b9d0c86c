//! Values with error estimates.

use crate::{Error, Result};

/// A value with an estimate of its absolute error.
///
/// The error is the sum of a bound on truncation (aliasing) and an estimate of rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Estimate<T> {
    /// The value.
    pub value: T,
    /// The estimated absolute error; for lists, of every entry.
    pub error: f64,
}

/// A value estimated from random draws, with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MonteCarlo<T> {
    /// The value.
    pub value: T,
    /// The standard error of the value; for lists, of each entry.
    pub standard_error: T,
}

/// The default total variation error up to which a law is accurate enough.
pub const DEFAULT_LAW_ERROR: f64 = 1e-9;

/// Larger estimated errors are rejected.
pub(crate) const REFUSED: f64 = 1e-4;

/// The estimated error, unless all accuracy is lost.
pub(crate) fn accurate(error: f64) -> Result<f64> {
    if (0.0..=REFUSED).contains(&error) {
        Ok(error)
    } else {
        Err(Error::IllConditioned { deviation: error, tolerance: REFUSED })
    }
}
