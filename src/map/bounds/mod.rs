//! Upper bounds of ln det K_S over all sets that a model allows.

mod balance;
mod choice;
mod columns;
mod dense;
mod descent;
mod design;
mod error_amplification;
mod gamma;
mod hadamard;
mod information;
mod interior_point;
mod linx;
mod node;
mod relaxation;
mod shift;
mod spectral;
mod spectral_function;
mod subproblem;
mod sums;
mod whole;

#[cfg(test)]
mod tests;

pub(crate) use balance::balance;
pub(crate) use choice::with_largest;
pub(crate) use design::{DesignRows, WholeDesign};
pub(crate) use hadamard::{hadamard, worth_with};
pub(crate) use information::information_root;
pub(crate) use node::{Effort, MOST_DENSE, Method, Relaxed, relax, usable};
pub(crate) use spectral::spectral_bound;
pub(crate) use subproblem::Subproblem;
pub(crate) use whole::{OnePass, one_pass_over_whole, places, places_of, relax_whole};
