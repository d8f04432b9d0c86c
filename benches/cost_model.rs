//! Predicted times of the CPU against measured ones: `cargo bench --bench cost_model`.
//!
//! First on one thread, whose time is that it computed (Linux tells), so that other work on the computer counts for little;
//! then on all, by the clock. A measured time is the median of three rounds, each the shortest of three runs. Rates are
//! measured once for each number of threads.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::{fs, hint::black_box, time::Instant};

use common::{features, of_parts, rows, timed};
use partition_dpp::{
    Engine, Features, Method, PartitionDpp, Quota,
    engine::cost::{HostRates, Job, Task},
    map::{Greedy, LazyGreedy, Solver},
    slates::{SlateRequest, Slates},
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
    (10_000, 256, 2, 12),
    (50_000, 256, 1, 60),
    (50_000, 256, 4, 24),
];
/// Predictions of more seconds are not put to the test.
const LONGEST: f64 = 2.0;
/// Seconds of an average: the system counts computed time in steps of some milliseconds.
const AVERAGED: f64 = 0.03;

const TASKS: [Task; 8] = [
    Task::SetUp,
    Task::Draws(1000),
    Task::EstimatedDraws(1000),
    Task::Inference,
    Task::Interpolation(1),
    Task::Greedy,
    Task::LazyGreedy,
    Task::Slates { requests: 1000, candidates: 200 },
];

/// Greedy sets of these requests, over items that lie anywhere.
fn slates(dpp: &PartitionDpp, features: &Features, (requests, candidates): (usize, usize)) {
    let slates = Slates::new(features, dpp.partition(), dpp.quota()).unwrap();
    let item = |at: usize| u32::try_from(at * 40_507 % features.items()).unwrap();
    let lists: Vec<Vec<u32>> = (0..requests)
        .map(|request| (0..candidates).map(|at| item(request * candidates + at)).collect())
        .collect();
    let requests: Vec<SlateRequest<'_>> = lists.iter().map(|items| SlateRequest::of(items)).collect();
    drop(black_box(slates.solve_many(&requests)));
}

fn run(task: Task, dpp: &PartitionDpp, features: &Features) {
    match task {
        Task::Draws(count) => {
            let sampler = dpp.sampler(Method::Rejection, &Engine::cpu()).unwrap();
            drop(black_box(sampler.sample_many(count as u64, 1)));
        }
        Task::EstimatedDraws(count) => {
            let sampler = dpp.importance_sampler(&Engine::cpu()).unwrap().sampler(0.1).unwrap();
            drop(black_box(sampler.sample_many(count as u64, 1)));
        }
        Task::Slates { requests, candidates } => slates(dpp, features, (requests, candidates)),
        Task::SetUp => drop(black_box(dpp.sampler(Method::Rejection, &Engine::cpu()).unwrap())),
        Task::Inference => {
            let inference = dpp.inference(&Engine::cpu()).unwrap();
            black_box(inference.inclusion_probabilities().unwrap());
        }
        Task::Interpolation(_) => {
            let sampler = dpp.sampler(Method::Interpolation, &Engine::cpu()).unwrap();
            black_box(sampler.try_sample_counted(&mut ChaCha8Rng::seed_from_u64(1)).unwrap());
        }
        Task::LazyGreedy => drop(black_box(LazyGreedy::default().solve(dpp, &Engine::cpu()).unwrap())),
        _ => drop(black_box(Greedy::default().solve(dpp, &Engine::cpu()).unwrap())),
    }
}

/// Seconds that this thread has computed, where the system tells; otherwise those of a clock.
fn computed(since: Instant) -> f64 {
    let found = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = found.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| since.elapsed().as_secs_f64(), |time| 1e-9 * time)
}

/// The median of three rounds, each the shortest of three averages over about the resolution of the clock times ten.
fn measured(clock: impl Fn() -> f64, predicted: f64, mut run: impl FnMut()) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
    let times = (AVERAGED / predicted).ceil() as usize;
    let mut average = || {
        let start = clock();
        (0..times).for_each(|_| run());
        (clock() - start) / times as f64
    };
    // One run is enough of what takes long.
    let count = if times > 1 { 3 } else { 1 };
    let mut shortest = || (0..count).map(|_| average()).fold(f64::INFINITY, f64::min);
    let mut rounds = [shortest(), shortest(), shortest()];
    rounds.sort_by(f64::total_cmp);
    rounds[1]
}

/// Compares all sizes and tasks, and prints the worst ratio of each task.
fn compare(clock: impl Fn() -> f64) {
    let (host, seconds) = timed(|| HostRates::measured().unwrap());
    println!("rates measured in {:.0} ms: {host:?}", 1e3 * seconds);
    println!("       m    n  p   k  task                    predicted     measured  ratio");
    let mut worst = TASKS.map(|task| (task, 1.0));
    for (items, dims, parts, picks) in SIZES {
        let (features, partition) = of_parts(rows(features(items, dims), dims), parts);
        let quota = Quota::each(&partition, picks / parts).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        for (task, worst) in &mut worst {
            let job = Job::new(&features, *task).with_parts(parts).with_picks(picks);
            let predicted = job.on_cpu(&host).seconds();
            // Proposals of several parts depend on the features.
            if predicted > LONGEST || parts > 1 && matches!(task, Task::Draws(_)) {
                continue;
            }
            let measured = measured(&clock, predicted, || run(*task, &dpp, &features));
            let ratio = predicted / measured;
            let (predicted, measured) = (1e3 * predicted, 1e3 * measured);
            let name = format!("{task:?}");
            println!(
                "{items:>8} {dims:>4} {parts:>2} {picks:>3}  {name:<20} {predicted:>9.2} ms {measured:>9.2} ms {ratio:>6.2}"
            );
            *worst = f64::max(*worst, ratio.max(ratio.recip()));
        }
    }
    for (task, worst) in worst {
        println!("worst ratio of {task:?}: {worst:.2}");
    }
}

fn main() {
    let start = Instant::now();
    let pool = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    println!("one thread, time computed");
    pool(1).install(|| compare(|| computed(start)));
    println!("all threads, by the clock");
    pool(0).install(|| compare(|| start.elapsed().as_secs_f64()));
}
