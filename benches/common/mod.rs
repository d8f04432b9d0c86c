//! What the benches share: data, threads, and ratios of measurements of one run.
#![allow(dead_code, reason = "every bench uses its own part of this module")]

use std::{fs, path::PathBuf};

use criterion::Criterion;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Gaussian-like features, m×n, f32.
pub(crate) fn features(items: usize, dims: usize) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(items as u64);
    (0..items * dims).map(|_| (0..4).map(|_| rng.random::<f32>() - 0.5).sum()).collect()
}

/// The same in a .npy file, to be memory-mapped.
pub(crate) fn feature_file(items: usize, dims: usize) -> tempfile::NamedTempFile {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({items}, {dims}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:117}\n").bytes());
    bytes.extend(features(items, dims).into_iter().flat_map(f32::to_le_bytes));
    let file = tempfile::NamedTempFile::new().and_then(|file| fs::write(file.path(), bytes).map(|()| file));
    file.unwrap_or_else(|error| panic!("no temporary file: {error}"))
}

/// Items dealt to parts in turn.
pub(crate) fn labels(items: usize, parts: usize) -> Vec<usize> {
    (0..items).map(|item| item % parts).collect()
}

/// A pool of this many threads.
pub(crate) fn threads(count: usize) -> rayon::ThreadPool {
    match rayon::ThreadPoolBuilder::new().num_threads(count).build() {
        Ok(pool) => pool,
        Err(error) => panic!("no pool of {count} threads: {error}"),
    }
}

/// Criterion without plots or history: what counts are ratios within one run.
pub(crate) fn criterion() -> Criterion {
    Criterion::default().without_plots().sample_size(10).configure_from_args()
}

/// Median seconds of a benchmark measured in this run.
pub(crate) fn median(id: &str) -> Option<f64> {
    let root = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/target")), PathBuf::from);
    let path = root.join("criterion").join(id).join("new/estimates.json");
    let estimates: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
    Some(estimates["median"]["point_estimate"].as_f64()? * 1e-9)
}

/// Prints `what`: the ratio of two benchmarks of this run, beside what is asked of it.
#[expect(clippy::print_stdout, reason = "a bench reports to the terminal")]
pub(crate) fn report_ratio(what: &str, first: &str, second: &str, wanted: &str) {
    if let (Some(first), Some(second)) = (median(first), median(second)) {
        println!("{what:60} {:8.2}   (wanted: {wanted})", first / second);
    }
}

/// Prints `what`: how many per second, beside what is asked of it.
#[expect(clippy::print_stdout, reason = "a bench reports to the terminal")]
pub(crate) fn report_rate(what: &str, id: &str, count: f64, wanted: &str) {
    if let Some(seconds) = median(id) {
        println!("{what:60} {:8.0} /s (wanted: {wanted})", count / seconds);
    }
}

/// Prints `what`: milliseconds each, beside what is asked of it.
#[expect(clippy::print_stdout, reason = "a bench reports to the terminal")]
pub(crate) fn report_milliseconds(what: &str, id: &str, count: f64, wanted: &str) {
    if let Some(seconds) = median(id) {
        println!("{what:60} {:8.3} ms (wanted: {wanted})", 1e3 * seconds / count);
    }
}
