//! Predicted times of the CPU against measured ones: `cargo bench --bench cost_model`.
//!
//! A measured time is the median of three rounds, each the shortest of three runs, so that other work on the computer counts
//! for little. Rates are measured once, at the start.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::hint::black_box;

use common::{features, of_parts, rows, timed};
use partition_dpp::{
    Method, PartitionDpp, Quota,
    engine::{
        Cpu,
        cost::{HostRates, Job, Task},
    },
    map::{Greedy, LazyGreedy, Solver},
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Items, dimensions, parts, items of a set.
const SIZES: [(usize, usize, usize, usize); 16] = [
    (3_000, 16, 1, 8),
    (3_000, 16, 4, 8),
    (100_000, 16, 1, 8),
    (100_000, 16, 4, 8),
    (300_000, 16, 3, 12),
    (3_000, 64, 1, 20),
    (3_000, 64, 4, 20),
    (100_000, 64, 1, 20),
    (100_000, 64, 2, 20),
    (100_000, 64, 4, 20),
    (300_000, 64, 1, 50),
    (300_000, 64, 3, 24),
    (10_000, 256, 1, 24),
    (10_000, 256, 2, 24),
    (50_000, 256, 1, 60),
    (50_000, 256, 4, 24),
];
/// Predictions of more seconds are not put to the test.
const LONGEST: f64 = 3.0;

const TASKS: [Task; 5] =
    [Task::SetUp, Task::Inference, Task::Interpolation(1), Task::Greedy, Task::LazyGreedy];

fn run(task: Task, dpp: &PartitionDpp<'_>) {
    match task {
        Task::SetUp => drop(black_box(dpp.sampler(Method::Rejection, &Cpu).unwrap())),
        Task::Inference => {
            let inference = dpp.inference(&Cpu).unwrap();
            black_box(inference.inclusion_probabilities().unwrap());
        }
        Task::Interpolation(_) => {
            let sampler = dpp.sampler(Method::Interpolation, &Cpu).unwrap();
            black_box(sampler.try_sample_counted(&mut ChaCha8Rng::seed_from_u64(1)).unwrap());
        }
        Task::LazyGreedy => drop(black_box(LazyGreedy::default().solve(dpp, &Cpu).unwrap())),
        _ => drop(black_box(Greedy::default().solve(dpp, &Cpu).unwrap())),
    }
}

/// The median of the shortest times of three rounds.
fn measured(mut run: impl FnMut()) -> f64 {
    let mut shortest = || (0..3).map(|_| timed(&mut run).1).fold(f64::INFINITY, f64::min);
    let mut rounds = [shortest(), shortest(), shortest()];
    rounds.sort_by(f64::total_cmp);
    rounds[1]
}

fn main() {
    let (host, seconds) = timed(|| HostRates::measured().unwrap());
    println!("rates measured in {:.0} ms: {host:.2?}", 1e3 * seconds);
    println!(
        "{:>8} {:>4} {:>2} {:>3}  {:<20} {:>12} {:>12} {:>6}",
        "m", "n", "p", "k", "task", "predicted", "measured", "ratio"
    );
    let mut worst = [(0.0, Task::Greedy); 2];
    for (items, dims, parts, picks) in SIZES {
        let (features, partition) = of_parts(rows(features(items, dims), dims), parts);
        let quota = Quota::each(&partition, picks / parts).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        for task in TASKS {
            let job = Job::new(&features, task).with_parts(parts).with_picks(picks);
            let predicted = job.on_cpu(&host).seconds();
            if predicted > LONGEST {
                continue;
            }
            let measured = measured(|| run(task, &dpp));
            let ratio = predicted / measured;
            println!(
                "{items:>8} {dims:>4} {parts:>2} {picks:>3}  {:<20} {:>9.2} ms {:>9.2} ms {ratio:>6.2}",
                format!("{task:?}"),
                1e3 * predicted,
                1e3 * measured
            );
            let is_lazy = usize::from(task == Task::LazyGreedy);
            let off: f64 = f64::max(ratio, ratio.recip());
            if off > worst[is_lazy].0 {
                worst[is_lazy] = (off, task);
            }
        }
    }
    let [(all, task), (lazy, _)] = worst;
    println!("worst ratio: {all:.2} ({task:?}); of lazy greedy, whose work depends on the rows: {lazy:.2}");
}
