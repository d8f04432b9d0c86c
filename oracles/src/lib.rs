//! Exact laws of small problems, which use none of the library's numerics, and random problems to compare them on.
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::needless_pass_by_value,
    clippy::range_plus_one,
    clippy::assigning_clones,
    missing_docs,
    reason = "a crate of tests, with small numbers"
)]

pub mod exact;
pub mod generator;
mod problem;

pub use problem::{Constraint, Data, Problem, Storage};
