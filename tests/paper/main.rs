//! The paper's statements, and its data (Kathuria and Deshpande 2016).
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests panic, print what they measure, and use small numbers"
)]

mod algorithm_2;
mod characteristic_polynomial;
mod choice;
mod conditionals;
mod facts;
mod interpolation_nodes;
#[cfg(feature = "npy")]
mod yale;
