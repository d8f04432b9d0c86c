//! Input: features, partitions, quotas and labels, from memory and from files.
//!
//! `known-answers.json` and `hard-cases` in this folder are also read by other tests.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests panic, print what they measure, and use small numbers"
)]

mod errors;
mod kernels;
mod label_copies;
#[cfg(feature = "npy")]
mod npy_files;
#[cfg(feature = "npy")]
mod npy_hostile;
#[cfg(all(feature = "serde", feature = "npy"))]
mod serialised;
#[cfg(feature = "npy")]
mod shards;
mod texts;
