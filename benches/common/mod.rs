//! What the benches share: data, threads, and ratios of measurements of one run.
#![allow(dead_code, reason = "every bench uses its own part of this module")]

use std::fs;

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

/// Prints `what`: the median ratio of two timings taken in turn, beside what is asked of it.
///
/// On a shared machine the speed drifts by tens of per cent within a minute; two runs side by side
/// drift together.
#[expect(clippy::print_stdout, reason = "a bench reports to the terminal")]
pub(crate) fn paired_ratio<A, B>(what: &str, wanted: &str, first: impl Fn() -> A, second: impl Fn() -> B) {
    const PAIRS: usize = 15;
    let (warm_up, _) = (first(), second());
    drop(warm_up);
    let mut ratios: Vec<f64> = (0..PAIRS).map(|_| seconds(&first) / seconds(&second)).collect();
    ratios.sort_by(f64::total_cmp);
    let (low, median, high) = (ratios[PAIRS / 4], ratios[PAIRS / 2], ratios[PAIRS - 1 - PAIRS / 4]);
    println!("{what:60} {median:8.2}   [{low:.2}, {high:.2}] (wanted: {wanted})");
}

/// Prints `what`: the median time of `body` divided by `count`, and its reciprocal.
#[expect(clippy::print_stdout, reason = "a bench reports to the terminal")]
pub(crate) fn report_time<A>(what: &str, wanted: &str, count: f64, body: impl Fn() -> A) {
    const RUNS: usize = 15;
    let mut times: Vec<f64> = (0..RUNS).map(|_| seconds(&body) / count).collect();
    times.sort_by(f64::total_cmp);
    let median = times[RUNS / 2];
    println!("{what:60} {:8.3} ms, {:.0} /s (wanted: {wanted})", 1e3 * median, 1.0 / median);
}

fn seconds<A>(body: &impl Fn() -> A) -> f64 {
    let start = std::time::Instant::now();
    drop(std::hint::black_box(body()));
    start.elapsed().as_secs_f64()
}
