//! The generating polynomial g(y) = det(I + Σ y_l G_l): tilts, tables of coefficients, nodes on the torus, and which
//! coefficients are zero.

mod conditional_bernoulli;
mod count_laws;
pub(crate) mod fixed_size;
pub(crate) mod generating_function;
pub(crate) mod gram;
mod paper;
pub(crate) mod poisson_binomial;
pub(crate) mod spectrum;
pub(crate) mod tilt;
pub(crate) mod torus;

pub use conditional_bernoulli::ConditionalBernoulli;
pub(crate) use count_laws::CountLaws;
pub use paper::{CharacteristicPolynomial, CircleVandermonde, Coefficient};
pub use torus::DEFAULT_NODE_BUDGET;
