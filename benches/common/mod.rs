//! Shared code of the benches: data, threads, and ratios of measurements within one run.
#![allow(dead_code, clippy::unwrap_used, reason = "every bench uses its own part of this module, and panics")]

use std::fs;

use criterion::Criterion;
use partition_dpp::{Features, Partition};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Returns Gaussian-like features, m×n, f32.
pub(crate) fn features(items: usize, dims: usize) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(items as u64);
    (0..items * dims).map(|_| (0..4).map(|_| rng.random::<f32>() - 0.5).sum()).collect()
}

/// Returns standard Gaussian features, m×n.
pub(crate) fn gaussian(items: usize, dims: usize) -> Vec<f64> {
    ChaCha8Rng::seed_from_u64(items as u64).sample_iter(StandardNormal).take(items * dims).collect()
}

/// Returns Gaussian rows around one centre per part of [`labels`], m×n, f32.
///
/// Centres are as far from zero as rows are from their centre.
pub(crate) fn clustered(items: usize, dims: usize, parts: usize) -> Vec<f32> {
    let centres = gaussian(parts, dims);
    let mut values = gaussian(items, dims);
    for (item, row) in values.chunks_exact_mut(dims).enumerate() {
        let centre = &centres[item % parts * dims..];
        row.iter_mut().zip(centre).for_each(|(value, centre)| *value += centre);
    }
    #[expect(clippy::cast_possible_truncation, reason = "random numbers")]
    values.into_iter().map(|value| value as f32).collect()
}

/// Makes features from their values.
pub(crate) fn rows<T: partition_dpp::data::Scalar>(values: Vec<T>, dims: usize) -> Features
where
    Vec<T>: Into<partition_dpp::data::Storage<T>>,
{
    Features::from_rows(values.len() / dims, dims, values).unwrap()
}

pub(crate) fn singles(values: Vec<f64>) -> Vec<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "random numbers")]
    values.into_iter().map(|value| value as f32).collect()
}

/// Deals items to parts in turn.
pub(crate) fn of_parts(features: Features, parts: usize) -> (Features, Partition) {
    let partition = Partition::from_labels(&labels(features.items(), parts)).unwrap();
    (features, partition)
}

/// Returns the digits, with one part per class.
pub(crate) fn digits() -> (Features, Partition) {
    let read = |file: &str| fs::read(format!("cli/data/digits/{file}")).unwrap();
    let pixels = read("features.npy");
    let pixels = &pixels[pixels.len() - 1797 * 64..];
    let labels = String::from_utf8(read("labels.csv")).unwrap();
    let labels: Vec<&str> = labels.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    let features = rows(pixels.iter().map(|&pixel| f32::from(pixel)).collect::<Vec<_>>(), 64);
    (features, Partition::from_labels(&labels).unwrap())
}

/// Writes [`features`] to a .npy file, to be memory-mapped.
pub(crate) fn feature_file(items: usize, dims: usize) -> tempfile::NamedTempFile {
    npy_file("<f4", items, dims, features(items, dims).into_iter().flat_map(f32::to_le_bytes))
}

/// Writes a matrix to a .npy file.
pub(crate) fn npy_file(
    descr: &str,
    items: usize,
    dims: usize,
    data: impl Iterator<Item = u8>,
) -> tempfile::NamedTempFile {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({items}, {dims}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:117}\n").bytes());
    bytes.extend(data);
    let file = tempfile::NamedTempFile::new().and_then(|file| fs::write(file.path(), bytes).map(|()| file));
    file.unwrap_or_else(|error| panic!("no temporary file: {error}"))
}

/// Returns the labels of items dealt to parts in turn.
pub(crate) fn labels(items: usize, parts: usize) -> Vec<usize> {
    (0..items).map(|item| item % parts).collect()
}

/// Returns a pool of this many threads.
pub(crate) fn threads(count: usize) -> rayon::ThreadPool {
    match rayon::ThreadPoolBuilder::new().num_threads(count).build() {
        Ok(pool) => pool,
        Err(error) => panic!("no pool of {count} threads: {error}"),
    }
}

/// Returns Criterion without plots or history, since only ratios within one run matter.
pub(crate) fn criterion() -> Criterion {
    Criterion::default().without_plots().sample_size(10).configure_from_args()
}

/// Prints `what`, the median ratio of two timings taken in turn, and the target.
///
/// On a shared machine the speed drifts by tens of per cent within a minute, but two runs side by side drift
/// together.
pub(crate) fn paired_ratio<A, B>(what: &str, wanted: &str, first: impl Fn() -> A, second: impl Fn() -> B) {
    ratio_of_pairs(15, what, wanted, first, second);
}

/// Prints the same as [`paired_ratio`], from this number of pairs.
#[expect(clippy::print_stdout, reason = "a bench reports to the terminal")]
pub(crate) fn ratio_of_pairs<A, B>(
    pairs: usize,
    what: &str,
    wanted: &str,
    first: impl Fn() -> A,
    second: impl Fn() -> B,
) {
    let (warm_up, _) = (first(), second());
    drop(warm_up);
    let mut ratios: Vec<f64> = (0..pairs).map(|_| seconds(&first) / seconds(&second)).collect();
    ratios.sort_by(f64::total_cmp);
    let (low, median, high) = (ratios[pairs / 4], ratios[pairs / 2], ratios[pairs - 1 - pairs / 4]);
    println!("{what:60} {median:8.2}   [{low:.2}, {high:.2}] (wanted: {wanted})");
}

/// Prints `what`, the median time of `body` divided by `count`, and its reciprocal.
#[expect(clippy::print_stdout, reason = "a bench reports to the terminal")]
pub(crate) fn report_time<A>(what: &str, wanted: &str, count: f64, body: impl Fn() -> A) {
    const RUNS: usize = 15;
    let mut times: Vec<f64> = (0..RUNS).map(|_| seconds(&body) / count).collect();
    times.sort_by(f64::total_cmp);
    let median = times[RUNS / 2];
    println!("{what:60} {:8.3} ms, {:.0} /s (wanted: {wanted})", 1e3 * median, 1.0 / median);
}

fn seconds<A>(body: &impl Fn() -> A) -> f64 {
    timed(|| drop(std::hint::black_box(body()))).1
}

/// Returns the result of `body`, and the seconds that it takes.
pub(crate) fn timed<A>(body: impl FnOnce() -> A) -> (A, f64) {
    let start = std::time::Instant::now();
    let result = body();
    (result, start.elapsed().as_secs_f64())
}
