//! Features of the Gaussian kernel and their Gram matrix, compared with the arithmetic that they require;
//! `cargo bench --bench similarity`.
//!
//! There are 10⁶ rows of 64 features in f32 and 512 landmarks, 2.3 GB, unless `PDPP_ITEMS` and `PDPP_LANDMARKS` set
//! other numbers. The floor is measured in the same run, on blocks that stay in the cache. It consists of matrix
//! products
//! with the same number of operations, in f64 (as in the library) and in f32, and the same number of exponentials.
//! Times
//! are the computing time of all threads divided by their number, which other work on the machine changes least. The
//! floor and the work take turns.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;
#[path = "../src/similarity/exponential.rs"]
#[allow(unused_imports, reason = "its tests are not run here")]
mod exponential;

use std::hint::black_box;

use common::threads;
use faer::{Accum, Mat, Par, linalg::matmul::matmul, traits::ComplexField};
use partition_dpp::{
    Engine, Features,
    engine::low_level::{Items, Rows},
    similarity::{Bandwidth, Rbf},
};

/// The part of the library that the exponentials need.
mod engine {
    pub(crate) mod row_kernels {
        pub(crate) const CHUNK: usize = 8;
    }
}

const DIMS: usize = 64;
/// Items per block.
const BLOCK: usize = 512;
/// Blocks per task of the floor.
const BLOCKS: usize = 32;
const THREADS: usize = 2;
const RUNS: usize = 5;

/// Returns the seconds of computing by all threads so far.
fn spent() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Returns the result of `body`, and its seconds of computing per thread.
fn worked<A>(body: impl FnOnce() -> A) -> (A, f64) {
    let before = spent();
    let result = body();
    (result, (spent() - before) / THREADS as f64)
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Returns the seconds per item of a product that takes 2·rows·depth operations per item.
fn product<T: ComplexField + Copy>(rows: usize, depth: usize, one: T) -> f64 {
    let task = |_: usize| {
        let (left, right) = (Mat::<T>::full(rows, depth, one), Mat::<T>::full(depth, BLOCK, one));
        let mut out = Mat::<T>::zeros(rows, BLOCK);
        for _ in 0..BLOCKS {
            matmul(out.as_mut(), Accum::Replace, left.as_ref(), right.as_ref(), one, Par::Seq);
            black_box(&out);
        }
    };
    per_item(task)
}

/// Returns the seconds per item of `count` exponentials.
fn exponentials(count: usize) -> f64 {
    let given: Vec<f64> = (0..count).map(|at| -0.01 * at as f64).collect();
    per_item(|_| {
        let mut values = vec![0.0; count];
        for _ in 0..BLOCKS * BLOCK {
            values.copy_from_slice(&given);
            exponential::exponentials(&mut values);
            black_box(&values);
        }
    })
}

/// Returns the seconds per item of tasks of [`BLOCKS`] blocks on all threads.
fn per_item(task: impl Fn(usize) + Sync) -> f64 {
    use rayon::prelude::*;
    let tasks = 4 * THREADS;
    let ((), seconds) = worked(|| (0..tasks).into_par_iter().for_each(&task));
    seconds / (tasks * BLOCKS * BLOCK) as f64
}

/// Returns the seconds per item for the arithmetic of the features and of their Gram matrix.
///
/// Distances take 2nR operations, a triangular solve R², and half a Gram matrix R².
fn floor<T: ComplexField + Copy>(landmarks: usize, one: T) -> [f64; 2] {
    let square = product(landmarks, landmarks / 2, one);
    [product(landmarks, DIMS, one) + square + exponentials(landmarks), square]
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    threads(THREADS).install(|| {
        let (items, landmarks) = (number("PDPP_ITEMS", 1_000_000), number("PDPP_LANDMARKS", 512));
        let features = Features::from_rows(items, DIMS, common::features(items, DIMS)).unwrap();
        let rbf = Rbf::new(Bandwidth::Median).with_landmarks(landmarks);
        let mut ratios: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        println!("{items} × {DIMS}, {landmarks} landmarks, {THREADS} threads");
        for _ in 0..RUNS {
            let floors = [floor(landmarks, 1.0_f64), floor(landmarks, 1.0_f32)];
            let (found, made) = worked(|| rbf.features(&features, &Engine::cpu()).unwrap());
            let rows = Rows::scaled(found.features(), vec![Items::All(items)]);
            let (_, summed) = worked(|| Engine::cpu().part_grams(&rows, None).unwrap());
            println!("features {made:.2} s, Gram matrix {summed:.2} s");
            for ((name, floor), ratios) in ["f64", "f32"].iter().zip(floors).zip(&mut ratios) {
                let [columns, square] = floor.map(|seconds| seconds * items as f64);
                let ratio = (made + summed) / (columns + square);
                println!("  floor in {name}: {columns:.2} s, {square:.2} s; {ratio:.2} times");
                ratios.push(ratio);
            }
        }
        let [double, single] = ratios.map(median);
        println!("median: {double:.2} times the floor in f64, {single:.2} times that in f32");
    });
}
