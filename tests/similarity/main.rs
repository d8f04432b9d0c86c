//! Similarities beyond the dot product: features of the Gaussian kernel, and kernels that are functions of two items.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests panic, print what they measure, and use small numbers"
)]

mod coverage;
mod explained;
mod functions;
mod greedy;
mod large;
mod local_search;
mod quality;
mod rbf;
mod representation;

use oracles::random::normals;
use partition_dpp::Features;

/// Returns m×n normal features.
fn features(items: usize, dims: usize, seed: u64) -> Features {
    Features::from_rows(items, dims, normals(items * dims, seed)).unwrap()
}

/// Returns exp(−‖x − y‖² / (2h²)) by its definition.
fn gaussian(features: &Features, bandwidth: f64) -> Vec<Vec<f64>> {
    let rows: Vec<Vec<f64>> = (0..features.items()).map(|item| features.row(item)).collect();
    let entry = |x: &[f64], y: &[f64]| {
        let square: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
        (-square / (2.0 * bandwidth * bandwidth)).exp()
    };
    rows.iter().map(|x| rows.iter().map(|y| entry(x, y)).collect()).collect()
}
