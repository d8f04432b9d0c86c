//! Around the generating polynomial g(y) = det(I + Σ y_l G_l): tilts, coefficient tables,
//! and which coefficients are zero.

mod conditional_bernoulli;
pub(crate) mod feasibility;
pub(crate) mod tilt;

pub use conditional_bernoulli::ConditionalBernoulli;
