//! The polynomials of Kathuria and Deshpande (2016): the characteristic polynomial of several variables, and the
//! inverse of a Vandermonde matrix.
//!
//! The library itself takes its coefficients from nodes on the torus.

mod characteristic;
mod vandermonde;

pub use characteristic::{CharacteristicPolynomial, Coefficient};
pub use vandermonde::CircleVandermonde;
