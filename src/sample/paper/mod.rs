//! Algorithm 2 of Kathuria and Deshpande (2016): items are picked one after another from conditional probabilities,
//! whose coefficients are interpolated from nodes on the torus.
//!
//! `interpolation` shares the work of all candidates; `per_candidate` follows the paper literally.
//! [`Method::Auto`](super::Method::Auto) draws by rejection if that costs less; no quota is known for which it costs
//! more.

mod conditionals;
mod conditioning;
mod interpolation;
mod item_nodes;
mod per_candidate;
mod row_nodes;
mod stage;

pub use conditionals::Conditionals;
pub(crate) use interpolation::Interpolation;
pub(crate) use per_candidate::PerCandidate;
