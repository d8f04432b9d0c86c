//! Features of the Gaussian kernel, and their Gram matrix, against the arithmetic that they cannot do without;
//! `cargo bench --bench similarity`.
//!
//! 10⁶ rows of 64 features in f32 and 512 landmarks, 2.3 GB, unless `PDPP_ITEMS` and `PDPP_LANDMARKS` say otherwise. The floor
//! is measured in the same run, on blocks that stay in the cache: matrix products of as many operations, in f64 as the library
//! computes and in f32, and as many exponentials. Times are those of computing by all threads, divided by their number, which
//! other work on the machine changes least; every number is the least of several runs.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;
#[path = "../src/similarity/exponential.rs"]
#[allow(unused_imports, reason = "its tests are not run here")]
mod exponential;

use std::hint::black_box;

use common::threads;
use faer::{Accum, Mat, Par, linalg::matmul::matmul, traits::ComplexField};
use partition_dpp::{
    Features,
    engine::{Cpu, Engine, Items, Rows},
    similarity::{Bandwidth, Rbf},
};

/// What the exponentials need of the library.
mod engine {
    pub(crate) mod row_kernels {
        pub(crate) const CHUNK: usize = 8;
    }
}

const DIMS: usize = 64;
/// Items of a block.
const BLOCK: usize = 512;
/// Blocks of a task of the floor.
const BLOCKS: usize = 32;
const THREADS: usize = 2;
const RUNS: usize = 3;

/// Seconds of computing by all threads so far.
fn spent() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// What a piece of work makes, and its seconds of computing on each thread.
fn worked<A>(body: impl FnOnce() -> A) -> (A, f64) {
    let before = spent();
    let result = body();
    (result, (spent() - before) / THREADS as f64)
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Seconds per item of a product that takes 2·rows·depth operations for each.
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

/// Seconds per item of so many exponentials.
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

/// Seconds per item of tasks of [`BLOCKS`] blocks on all threads.
fn per_item(task: impl Fn(usize) + Sync) -> f64 {
    use rayon::prelude::*;
    let tasks = 4 * THREADS;
    let all = || (0..tasks).into_par_iter().for_each(&task);
    let least = (0..2 * RUNS).map(|_| worked(all).1).fold(f64::INFINITY, f64::min);
    least / (tasks * BLOCKS * BLOCK) as f64
}

fn main() {
    threads(THREADS).install(|| {
        let (items, landmarks) = (number("PDPP_ITEMS", 1_000_000), number("PDPP_LANDMARKS", 512));
        let features = Features::from_rows(items, DIMS, common::features(items, DIMS)).unwrap();
        let (mut made, mut summed) = (f64::INFINITY, f64::INFINITY);
        let rbf = Rbf::new(Bandwidth::Median).with_landmarks(landmarks);
        for _ in 0..RUNS {
            let (found, seconds) = worked(|| rbf.features(&features, &Cpu).unwrap());
            made = made.min(seconds);
            let rows = Rows::scaled(found.features(), vec![Items::All(items)]);
            summed = summed.min(worked(|| Cpu.part_grams(&rows, None).unwrap()).1);
        }
        // Distances take 2nR operations for every item, a triangular solve R², and half a Gram matrix R².
        let exp = exponentials(landmarks);
        let floor = |columns: f64, square: f64| (columns + square + exp, square);
        let double = floor(product(landmarks, DIMS, 1.0_f64), product(landmarks, landmarks / 2, 1.0_f64));
        let single = floor(product(landmarks, DIMS, 1.0_f32), product(landmarks, landmarks / 2, 1.0_f32));
        println!("{items} × {DIMS}, {landmarks} landmarks, {THREADS} threads; exponentials {:.2} s", exp * items as f64);
        for (name, (columns, square)) in [("f64", double), ("f32", single)] {
            let (columns, square) = (columns * items as f64, square * items as f64);
            println!(
                "floor in {name}: features {columns:.2} s, Gram matrix {square:.2} s; taken {made:.2} s ({:.2} times), {summed:.2} s ({:.2} times), in all {:.2} times",
                made / columns,
                summed / square,
                (made + summed) / (columns + square),
            );
        }
    });
}
