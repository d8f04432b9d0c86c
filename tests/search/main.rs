//! Random problems and once-wrong problems against exact laws.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests panic, print what they measure, and use small numbers"
)]

mod controls;
mod differential;
mod gaussian;
#[cfg(feature = "npy")]
mod hard_cases;
mod many_parts;
