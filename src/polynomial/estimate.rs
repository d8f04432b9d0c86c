//! Values that know how accurate they are.

/// A value with an estimate of its absolute error.
///
/// The error holds what truncation (aliasing) may add, which is bounded, and what rounding is expected to
/// add, which is estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate<T> {
    /// The value.
    pub value: T,
    /// Estimated absolute error; for lists, of every entry.
    pub error: f64,
}
