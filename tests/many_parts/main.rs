//! Problems whose sets cannot be enumerated: many parts, many items, Markov chains and core-sets.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests panic, print what they measure, and use small numbers"
)]

mod beyond_enumeration;
mod core_sets;
mod estimated;
mod mcmc_balance;
mod mcmc_diagnostics;
mod mcmc_law;
mod thousands;
