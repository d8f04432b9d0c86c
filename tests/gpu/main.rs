//! The GPU engine: devices, shaders, conformance, and every algorithm that runs on it.
#![cfg(feature = "gpu")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests panic, print what they measure, and use small numbers"
)]

mod ahead;
mod ahead_ranges;
mod algorithms;
mod barriers;
mod batches;
mod conformance;
mod conformance_determinants;
mod conformance_entrants;
mod conformance_forms;
mod conformance_gains;
mod conformance_swaps;
mod conformance_tables;
mod device;
mod emitted;
mod exchanges;
mod faults;
mod independent;
mod indices;
mod interpolation;
mod proposals;
mod random_words;
mod range;
mod rates;
mod sequential;
mod shaders;
mod slates;
mod testimony;
mod traffic;
