//! The most probable set: solvers, upper bounds and proofs.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests panic, print what they measure, and use small numbers"
)]

mod bounds;
#[cfg(feature = "npy")]
mod c63;
#[cfg(feature = "npy")]
mod c63_exact;
mod design;
mod exact;
mod greedy;
mod greedy_scales;
mod independent;
mod limits;
mod local_search;
mod local_search_runs;
mod near_rows;
mod random_problems;
mod ranges;
mod ranges_cases;
mod rounding;
mod searches;
mod slates;
mod softmax;
mod softmax_extension;
mod symmetric_greedy;
mod synthetic;
