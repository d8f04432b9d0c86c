//! Allocated memory at m = 10⁶, n = 64 from a memory-mapped file: no second copy of the features, and no more than
//! planned.
//!
//! This is a separate test binary, since it has its own allocator and nothing else may allocate meanwhile.
#![cfg(all(target_os = "linux", feature = "npy"))]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests panic and report")]

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use approx::abs_diff_eq;
use partition_dpp::{Engine, Error, Features, Method, Partition, PartitionDpp, Quota};
use peak_alloc::PeakAlloc;

/// Counts bytes, so that no peak is missed.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const ITEMS: usize = 1_000_000;
const DIMS: usize = 64;
/// 51 bytes per item.
const LIMIT: u64 = 51 * ITEMS as u64;
const MB: u64 = 1_000_000;

/// Writes an f32 .npy file without holding it in memory.
fn write_features(path: &Path) {
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({ITEMS}, {DIMS}), }}").into_bytes();
    header.resize(128 - 10 - 1, b' ');
    header.push(b'\n');
    let mut file = BufWriter::new(File::create(path).unwrap());
    file.write_all(b"\x93NUMPY\x01\x00").unwrap();
    file.write_all(&u16::try_from(header.len()).unwrap().to_le_bytes()).unwrap();
    file.write_all(&header).unwrap();
    let mut state = 1_u64;
    for _ in 0..ITEMS * DIMS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let value = (state >> 40) as f32 / (1 << 24) as f32 - 0.5;
        file.write_all(&value.to_le_bytes()).unwrap();
    }
    file.flush().unwrap();
}

/// Returns the result of `body`, and the most bytes that it held at a time.
fn with_peak<T>(body: impl FnOnce() -> T) -> (T, u64) {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let result = body();
    (result, (ALLOCATOR.peak_usage() - before) as u64)
}

/// Draws with one item included and one excluded: the lists of the other items are planned, too.
fn sample_conditioned(path: &Path) -> u64 {
    let features = Features::open_npy(path).unwrap();
    let partition = parts(3);
    let quota = Quota::each(&partition, 5).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let dpp = dpp.including(&[7]).unwrap().excluding(&[11]).unwrap();
    let samples = dpp.sampler(Method::Rejection, &Engine::cpu()).unwrap().sample_many(10, 0);
    assert!(samples.subsets().iter().all(|subset| subset.contains(7) && !subset.contains(11)));
    dpp.memory_plan(Method::Rejection).unwrap().total()
}

fn parts(count: usize) -> Partition {
    let labels: Vec<u8> = (0..ITEMS).map(|item| u8::try_from(item % count).unwrap()).collect();
    Partition::from_labels(&labels).unwrap()
}

/// Draws samples, and returns the bytes that the plan promised not to exceed.
fn sample(path: &Path) -> u64 {
    let features = Features::open_npy(path).unwrap();
    let partition = parts(3);
    let quota = Quota::each(&partition, 5).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.sampler(Method::Auto, &Engine::cpu()).unwrap();
    let samples = sampler.sample_many(100, 0);
    assert!(samples.subsets().iter().all(|subset| subset.part_counts(&partition) == [5, 5, 5]));
    let plan = dpp.memory_plan(Method::Auto).unwrap();
    assert_eq!(plan.mapped, (ITEMS * DIMS * 4) as u64);
    plan.total()
}

/// Infers probabilities, and returns the number of nodes.
fn infer(path: &Path) -> f64 {
    let features = Features::open_npy(path).unwrap();
    let partition = parts(2);
    let quota = Quota::each(&partition, 5).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let inference = dpp.inference(&Engine::cpu()).unwrap();
    let marginals = inference.inclusion_probabilities().unwrap();
    assert_eq!(marginals.value.len(), ITEMS);
    let sum: f64 = marginals.value.iter().sum();
    assert!(abs_diff_eq!(sum, 10.0, epsilon = 1e-9), "probabilities sum to {sum}");
    match dpp.with_node_budget(0.5).inference(&Engine::cpu()) {
        Err(Error::NodeBudget { nodes, .. }) => nodes,
        other => panic!("half a node should not do: {other:?}"),
    }
}

// A single test, since two at a time would measure each other.
#[test]
fn a_million_mapped_rows_need_few_bytes_each_and_no_more_than_planned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("features.npy");
    write_features(&path);

    let (planned, peak) = with_peak(|| sample(&path));
    println!("draws: {} MB, {} planned", peak / MB, planned / MB);
    assert!(peak <= planned + 4 * MB, "{peak} bytes taken, {planned} planned");
    assert!(peak >= planned / 2, "{peak} bytes taken, {planned} planned: a plan of too much");
    assert!(peak <= LIMIT, "draws: {peak} bytes");

    let (planned, peak) = with_peak(|| sample_conditioned(&path));
    println!("conditioned draws: {} MB, {} planned", peak / MB, planned / MB);
    assert!(peak <= planned + 4 * MB, "{peak} bytes taken, {planned} planned");

    let (nodes, peak) = with_peak(|| infer(&path));
    println!("inclusion probabilities from {nodes} nodes: {} MB", peak / MB);
    assert!(peak <= LIMIT, "inclusion probabilities: {peak} bytes");
    // One number per item and node would exceed the limit.
    assert!(nodes * ITEMS as f64 * 8.0 > 2.0 * LIMIT as f64, "only {nodes} nodes");

    // The measurement notices a copy of the features, 256 MB.
    let (length, peak) = with_peak(|| std::hint::black_box(vec![1.0_f32; ITEMS * DIMS]).len());
    assert!(peak >= 4 * length as u64, "the control copy of {length} values was not seen: {peak} bytes");
}
