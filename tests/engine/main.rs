//! Engines: every verb of the CPU against naive loops, and engines built on other engines.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests panic, print what they measure, and use small numbers"
)]

mod candidates;
mod cpu;
mod gains;
mod grid;
mod prepared;
mod swaps;
mod watches;
