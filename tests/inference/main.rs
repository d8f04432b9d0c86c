//! Exact probabilities: inclusion, sets, normalisers and part counts.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests panic, print what they measure, and use small numbers"
)]

mod beyond_enumeration;
mod known_answers;
mod node_errors;
mod part_counts;
mod properties;
mod ranges;
mod ranges_by_chance;
