//! The generating polynomial g(y) = det(I + Σ y_l G_l): tilts, tables of coefficients, nodes on the torus, and which
//! coefficients are zero.

pub(crate) mod characteristic;
mod conditional_bernoulli;
pub(crate) mod correction;
mod count_laws;
mod count_weights;
pub(crate) mod fixed_size;
pub(crate) mod generating_function;
pub(crate) mod poisson_binomial;
pub(crate) mod spectrum;
pub(crate) mod tilt;
pub(crate) mod torus;
mod vandermonde;

pub use characteristic::{CharacteristicPolynomial, Coefficient};
pub use conditional_bernoulli::ConditionalBernoulli;
pub(crate) use count_laws::CountLaws;
pub(crate) use count_weights::{CountWeights, log_sum};
pub use torus::DEFAULT_NODE_BUDGET;
pub use vandermonde::CircleVandermonde;

/// 1/(1 + e^−x), to full relative accuracy.
pub(crate) fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

/// ln(1 + e^x), without overflow.
pub(crate) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
