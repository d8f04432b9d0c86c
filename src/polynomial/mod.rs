//! Around the generating polynomial g(y) = det(I + Σ y_l G_l): tilts, coefficient tables, nodes on
//! the torus, and which coefficients are zero.

pub(crate) mod characteristic;
mod conditional_bernoulli;
pub(crate) mod count_ranges;
mod estimate;
pub(crate) mod feasibility;
pub(crate) mod fixed_size;
pub(crate) mod generating_function;
mod poisson_binomial;
pub(crate) mod spectrum;
pub(crate) mod tilt;
pub(crate) mod torus;
mod vandermonde;

pub use characteristic::{CharacteristicPolynomial, Coefficient};
pub use conditional_bernoulli::ConditionalBernoulli;
pub use estimate::Estimate;
pub use vandermonde::CircleVandermonde;

/// Estimated errors above this are refused.
pub(crate) const REFUSED: f64 = 1e-4;

/// An estimated error, unless it says that everything is lost.
pub(crate) fn accurate(error: f64) -> crate::Result<f64> {
    if (0.0..=REFUSED).contains(&error) {
        Ok(error)
    } else {
        Err(crate::Error::IllConditioned { deviation: error, tolerance: REFUSED })
    }
}

/// 1/(1 + e^−x), to full relative accuracy.
pub(crate) fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

/// ln(1 + e^x), without overflow.
pub(crate) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
