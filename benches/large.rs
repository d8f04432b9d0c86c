//! A file of many rows: set-up compared with reading the file twice, draws, and memory; `cargo bench --bench large`.
//!
//! There are 10⁶ rows unless `PDPP_ITEMS` sets another number. 10⁷ rows take a file of 2.6 GB in the folder for
//! temporary files, cut into four shards.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::{
    fs::{self, File},
    hint::black_box,
    io::Read,
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use common::{threads, timed};
use faer::Mat;
use partition_dpp::{
    Engine, Features, Method, Partition, PartitionDpp, Quota,
    engine::low_level::{Items, Rows},
};

const DIMS: usize = 64;
const SHARDS: usize = 4;
const DRAWS: u64 = 1000;
/// The number of rows that stay in the cache, so that passes over them are only arithmetic.
const CACHED: usize = 2048;

/// Reads every byte of the files through a small buffer.
fn read_once(files: &[&Path]) {
    let mut buffer = vec![0; 1 << 20];
    for path in files {
        let mut file = File::open(path).unwrap();
        while file.read(&mut buffer).unwrap() > 0 {
            black_box(&buffer);
        }
    }
}

/// Returns the seconds per row that the two passes of a set-up compute: Gram matrices and leverages.
fn arithmetic_per_row() -> f64 {
    let values = common::features(CACHED, DIMS);
    let features = Features::from_rows(CACHED, DIMS, &values).unwrap();
    let rows = Rows::scaled(&features, vec![Items::All(CACHED)]);
    let factor = Mat::from_fn(DIMS, DIMS, |i, j| if i >= j { 1.0 } else { 0.0 });
    let pass = || {
        black_box(Engine::cpu().part_grams(&rows, None).unwrap());
        black_box(Engine::cpu().row_forms(&rows, &[factor.as_ref()]).unwrap());
    };
    pass();
    let fastest = (0..20).map(|_| timed(pass).1).fold(f64::INFINITY, f64::min);
    fastest / CACHED as f64
}

/// Returns the anonymous resident memory of this process in bytes, or 0 if the system does not report it.
fn anonymous() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).map_or(0, |kib: u64| kib * 1024)
}

/// Returns the result of `body`, and the peak of the memory that it takes in addition.
fn with_peak<T>(body: impl FnOnce() -> T) -> (T, u64) {
    let before = anonymous();
    let (peak, done) = (AtomicU64::new(before), AtomicBool::new(false));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                peak.fetch_max(anonymous(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let result = body();
        done.store(true, Ordering::Relaxed);
        result
    });
    (result, peak.into_inner() - before)
}

fn main() {
    let items: usize = std::env::var("PDPP_ITEMS").map_or(1_000_000, |text| text.parse().unwrap());
    // Files of different sizes hold different values.
    let sizes: Vec<usize> = (0..SHARDS).map(|at| items / SHARDS + at).collect();
    let files: Vec<_> = sizes.iter().map(|&size| common::feature_file(size, DIMS)).collect();
    let paths: Vec<&Path> = files.iter().map(tempfile::NamedTempFile::path).collect();
    let items: usize = sizes.iter().sum();
    println!("{items} rows of {DIMS} values in f32, {SHARDS} files; in the page cache");
    let (one, two) = (threads(1), threads(2));
    read_once(&paths);
    for (pool, name) in [(&one, "one thread"), (&two, "two threads")] {
        let ((), reading) = timed(|| read_once(&paths));
        let arithmetic = one.install(arithmetic_per_row) * items as f64 / pool.current_num_threads() as f64;
        let ((), taken) = with_peak(|| {
            pool.install(|| {
                let ((features, partition), opening) = timed(|| {
                    let shards: Vec<_> = paths.iter().map(|path| Features::open_npy(path).unwrap()).collect();
                    let partition = Partition::of((0..items).map(|item| item % 3)).unwrap();
                    (Features::concatenate(&shards).unwrap(), partition)
                });
                let quota = Quota::each(&partition, 5).unwrap();
                let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
                let (sampler, setup) = timed(|| dpp.sampler(Method::Rejection, &Engine::cpu()).unwrap());
                let (_, drawing) = timed(|| black_box(sampler.sample_many(DRAWS, 0)));
                let floor = 2.0 * reading + arithmetic;
                println!("{name}: reading the files once {reading:.2} s, arithmetic of two passes {arithmetic:.2} s");
                println!("  opening with a look at every value, labels: {opening:.2} s");
                println!("  set-up {setup:.2} s, {:.2} × reading twice and the arithmetic", setup / floor);
                println!("  {:.0} samples of (5,5,5) a second", DRAWS as f64 / drawing);
                let planned = dpp.memory_plan(Method::Rejection).unwrap().total();
                println!("  memory planned {:.0} MB", planned as f64 / 1e6);
            });
        });
        println!("  memory taken {:.0} MB at the peak", taken as f64 / 1e6);
    }
}
