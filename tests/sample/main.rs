//! Draws: their laws, and the subsets for fixed seeds.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests panic, print what they measure, and use small numbers"
)]

mod bounds;
mod clusters;
mod estimated;
mod intervals;
mod known_answers;
mod negative_controls;
mod owned;
mod properties;
mod ranges;
#[cfg(feature = "npy")]
mod real_data;
mod slates;
mod small_laws;
mod tight_parts;
mod value_stability;
mod wasm_answers;
