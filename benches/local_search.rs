//! One swap of local search at 10⁶ items; `cargo bench --bench local_search`.
//!
//! The floor is a kernel that only reads A once, and reads and writes a k×m array once.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::{hint::black_box, sync::Mutex};

use common::{gaussian, paired_ratio, report_time, singles, threads, timed};
use faer::Mat;
use partition_dpp::{
    Engine, Features, KDpp,
    engine::low_level::{Cpu, Items, Rows, SwapTable, SwapUpdate, Verbs},
    map::{Greedy, LocalSearch, Solver},
};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

const ITEMS: usize = 1_000_000;
const DIMS: usize = 64;
const K: usize = 50;
/// Items per task, as in the engine.
const TASK: usize = 8192;

/// Sums the values, and multiplies the table by a number.
struct Floor<'a> {
    values: &'a [f32],
    table: &'a mut [f64],
}

impl WithSimd for Floor<'_> {
    type Output = f32;

    #[expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let factor = simd.splat_f64s(1.0 + f64::EPSILON);
        let mut sums = [simd.splat_f32s(0.0); 4];
        // Rows and their coefficients are streamed together, as in a swap.
        for (values, table) in self.values.chunks(8 * DIMS).zip(self.table.chunks_mut(8 * K)) {
            for (at, &x) in S::as_simd_f32s(values).0.iter().enumerate() {
                sums[at % 4] = simd.add_f32s(sums[at % 4], x);
            }
            S::as_mut_simd_f64s(table).0.iter_mut().for_each(|x| *x = simd.mul_f64s(*x, factor));
        }
        let [a, b, c, d] = sums;
        simd.reduce_sum_f32s(simd.add_f32s(simd.add_f32s(a, b), simd.add_f32s(c, d)))
    }
}

fn floor(values: &[f32], table: &mut [f64]) -> f32 {
    let tasks = values.par_chunks(TASK * DIMS).zip(table.par_chunks_mut(TASK * K));
    tasks.map(|(values, table)| Arch::new().dispatch(Floor { values, table })).sum()
}

/// A table, and a swap that barely changes its numbers.
struct Swap<'a> {
    table: Mutex<Box<dyn SwapTable + 'a>>,
    leaving: Vec<f64>,
    entering: Vec<f64>,
    factors: Vec<Vec<[f64; 2]>>,
    weights: Vec<Vec<f64>>,
}

impl<'a> Swap<'a> {
    fn new(features: &'a Features) -> Self {
        let rows = Rows::scaled(features, vec![Items::All(ITEMS)]);
        let duals = Mat::from_fn(DIMS, K, |i, j| if i == j { 1.0 } else { 0.01 });
        let residuals = vec![1.0; ITEMS];
        let (table, seconds) = timed(|| Cpu.swap_table(&rows, &[duals.as_ref()], &residuals).unwrap());
        println!("{:60} {seconds:8.3} s", "a new table, all threads");
        Self {
            table: Mutex::new(table),
            leaving: vec![0.01; DIMS],
            entering: vec![-0.01; DIMS],
            factors: vec![vec![[1e-3, 1e-3]; K]],
            weights: vec![vec![1.0; K]],
        }
    }

    fn run(&self) {
        let update = SwapUpdate {
            group: 0,
            leaving_position: 0,
            entering_position: 0,
            leaving: &self.leaving,
            entering: &self.entering,
            factors: &self.factors,
            residual_gain: 1e-3,
            residual_loss: 1e-3,
        };
        let mut table = self.table.lock().unwrap();
        black_box(table.gains(Some(&update), &self.weights).unwrap());
    }
}

fn main() {
    let values = singles(gaussian(ITEMS, DIMS));
    let features = Features::from_rows(ITEMS, DIMS, &values).unwrap();
    let table = Mutex::new(vec![1.0; ITEMS * K]);
    let swap = Swap::new(&features);
    for count in [1, 2] {
        let pool = threads(count);
        paired_ratio(
            &format!("one swap / reading A, reading and writing C, {count} thread(s)"),
            "≤ 2",
            || pool.install(|| swap.run()),
            || pool.install(|| black_box(floor(&values, &mut table.lock().unwrap()))),
        );
        report_time(&format!("that floor, {count} thread(s)"), "-", 1.0, || {
            pool.install(|| floor(&values, &mut table.lock().unwrap()))
        });
    }
    drop((swap, table));

    let k_dpp = KDpp::new(&features, K).unwrap();
    let (greedy, first) = timed(|| Greedy::default().solve(&k_dpp, &Engine::cpu()).unwrap());
    let (climbed, both) = timed(|| LocalSearch::default().solve(&k_dpp, &Engine::cpu()).unwrap());
    let (swaps, gain) = (climbed.stats.swaps, climbed.log_det - greedy.log_det);
    println!("lazy greedy {first:.2} s; with local search {both:.2} s, {swaps} swaps, ln det + {gain:.3}");
}
