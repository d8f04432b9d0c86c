//! Exact samples and inclusion probabilities of rows stored elsewhere: maps over batches, and a driver without data.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests panic, print what they measure, and use small numbers"
)]

mod bytes;
mod core_sets;
mod driver;
mod faults;
mod grams;
mod known_answers;
mod limits;
mod marginals;
mod representation;
mod weights;
mod world;
