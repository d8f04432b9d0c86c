//! Models: conditions, ranges of part counts, and quotas that no set meets.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests panic, print what they measure, and use small numbers"
)]

mod condition_errors;
mod condition_limits;
mod condition_ranks;
mod conditioning;
mod infeasible;
mod kernel_zeros;
mod law;
mod range_limits;
mod ridge;
mod ridge_inference;
mod weights;
