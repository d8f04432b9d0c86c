//! Draws and slates in batches, on the CPU and on a GPU; `cargo bench --bench devices`.
//!
//! Each line is one engine on one problem. The CPU runs with the bound that a device uses and with the bound that it
//! chooses itself. A device runs in either precision, after its shaders are compiled and its tables are uploaded.
//! Without a device that supports f64 there is nothing to compare.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a bench panics and prints"
)]

mod common;

use std::time::Instant;

use common::{clustered, labels, rows, timed};
use partition_dpp::{
    CountRange, Engine, Method, Partition, PartitionDpp, Quota, Sampler, SamplerOptions,
    engine::{
        Job, Precision, Task,
        gpu::{Gpu, GpuOptions},
    },
    sample::Bound,
    slates::{SlateRequest, Slates},
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::index};

/// The number of runs. The fastest one counts.
const RUNS: usize = 3;

fn fastest<T>(work: impl Fn() -> T) -> (T, f64) {
    let runs = (0..RUNS).map(|_| timed(&work));
    runs.min_by(|one, other| one.1.total_cmp(&other.1)).unwrap()
}

fn report(what: &str, engine: &str, count: u64, seconds: f64, more: &str) {
    println!("{what:34} {engine:24} {:12.0} /s  {more}", count as f64 / seconds);
}

fn problem(items: usize, dims: usize, quota: &[usize]) -> PartitionDpp {
    let partition = Partition::from_labels(&labels(items, quota.len())).unwrap();
    let features = rows(clustered(items, dims, quota.len()), dims);
    PartitionDpp::new(&features, &partition, &Quota::new(&partition, quota).unwrap()).unwrap()
}

fn draw(what: &str, engine: &str, sampler: &Sampler, count: u64, gpus: &[(&str, Gpu)]) {
    drop(sampler.sample_many(count, 1));
    let waits = || gpus.iter().map(|(_, gpu)| gpu.traffic().waits).sum::<u64>();
    let before = waits();
    drop(sampler.sample_many(count, 3));
    let waits = waits() - before;
    let (samples, seconds) = fastest(|| sampler.sample_many(count, 2));
    let proposals = samples.proposals();
    let left = sampler
        .batched_proposals()
        .map_or("one by one".to_owned(), |[made, replayed]| format!("{replayed} of {made} replayed"));
    let rate = proposals as f64 / seconds;
    report(what, engine, count, seconds, &format!("{rate:.0} proposals/s, {waits} waits, {left}"));
}

fn exact(items: usize, dims: usize, quota: &[usize], count: u64, gpus: &[(&str, Gpu)]) {
    let what = format!("exact, {items}×{dims}, {quota:?}");
    let bound = |bound| SamplerOptions::from(Method::Rejection).with_bound(bound);
    let model = problem(items, dims, quota);
    let engines = gpus.iter().map(|(name, gpu)| (*name, gpu.engine()));
    for (name, engine) in std::iter::once(("cpu", Engine::cpu())).chain(engines) {
        for asked in [Bound::Tilted, Bound::Hadamard, Bound::Auto] {
            let (sampler, seconds) = timed(|| model.sampler(bound(asked), &engine).unwrap());
            let used = sampler.bound().unwrap_or(asked);
            let name = format!("{name}, {used}{}", if used == asked { "" } else { " by auto" });
            println!("{what:34} {name:24} set up in {seconds:.3} s");
            // Tilted proposals are rarely accepted.
            let count = if used == Bound::Tilted { count / 5 } else { count };
            draw(&what, &name, &sampler, count, gpus);
        }
    }
}

fn estimated(items: usize, dims: usize, quota: &[usize], count: u64, gpus: &[(&str, Gpu)]) {
    let what =
        format!("estimated, {items}×{dims}, {} parts, k = {}", quota.len(), quota.iter().sum::<usize>());
    let model = problem(items, dims, quota);
    let devices = gpus.iter().map(|(name, gpu)| (*name, gpu.engine()));
    for (name, engine) in std::iter::once(("cpu", Engine::cpu())).chain(devices) {
        let sampler = model.importance_sampler(&engine).unwrap().sampler(5e-3).unwrap();
        draw(&what, name, &sampler, count, gpus);
    }
}

/// Measures slates of 12 of `count` candidates, with at most four from each of eight categories.
fn slates(items: usize, dims: usize, count: usize, requests: usize, gpus: &[(&str, Gpu)]) {
    let (features, partition) = common::of_parts(rows(clustered(items, dims, 8), dims), 8);
    let quota = Quota::new(&partition, vec![CountRange::from(0..=4); 8]).unwrap().with_total(12).unwrap();
    let mut rng = StdRng::seed_from_u64(1);
    let asked: Vec<(Vec<u32>, Vec<f32>)> = (0..requests)
        .map(|_| {
            let candidates =
                index::sample(&mut rng, items, count).into_iter().map(|item| item as u32).collect();
            (candidates, (0..count).map(|_| rng.random()).collect())
        })
        .collect();
    let asked: Vec<SlateRequest<'_>> =
        asked.iter().map(|(candidates, scores)| SlateRequest::of(candidates).with_scores(scores)).collect();
    let what = format!("slates, 12 of {count} of {items}×{dims}");
    let slates = Slates::new(&features, &partition, &quota).unwrap();
    let (found, seconds) = fastest(|| slates.solve_many(&asked));
    report(&what, "cpu", requests as u64, seconds, "");
    let expected: Vec<_> = found.into_iter().map(|slate| slate.unwrap().items).collect();
    for (name, gpu) in gpus {
        let slates = Slates::new(&features, &partition, &quota).unwrap().with_engine(&gpu.engine());
        drop(slates.solve_many(&asked));
        let (found, seconds) = fastest(|| slates.solve_many(&asked));
        let same = found.into_iter().zip(&expected).all(|(slate, items)| slate.unwrap().items == *items);
        let left = slates.batched_requests();
        report(&what, name, requests as u64, seconds, &format!("same sets: {same}, {left:?}"));
    }
}

fn main() {
    let start = Instant::now();
    let open = |precision| Gpu::new(&GpuOptions::default().with_precision(precision));
    let (single, double) = match (open(Precision::F32), open(Precision::F64)) {
        (Ok(single), Ok(double)) => (single, double),
        (Err(error), _) | (_, Err(error)) => return println!("SKIPPED: {error}"),
    };
    println!("{}, opened twice in {:.2?}", double.engine().info(), start.elapsed());
    let (rates, seconds) = timed(|| double.measured_rates().unwrap());
    println!("{rates:?}, measured in {seconds:.2} s");
    for (items, task) in
        [(1_000_000, Task::Greedy), (1_000_000, Task::LocalSearch(1)), (10_000_000, Task::Greedy)]
    {
        let chosen = Engine::auto(&Job::of_size(items, 64, 2, task).with_picks(12));
        println!("auto, {items}×64 {task:?}: {}: {}", chosen.engine.info(), chosen.reason);
    }
    let gpus = [("gpu, f32", single), ("gpu, f64", double)];
    exact(100_000, 64, &[6, 6], 100_000, &gpus);
    exact(100_000, 64, &[2, 2, 2, 2, 2, 2], 100_000, &gpus);
    exact(20_000, 32, &[2, 2], 1_000_000, &gpus);
    exact(1_000_000, 64, &[3, 3, 3, 3], 100_000, &gpus);
    estimated(100_000, 64, &[1; 20], 20_000, &gpus);
    estimated(20_000, 64, &[3; 6], 20_000, &gpus);
    slates(100_000, 64, 200, 8192, &gpus);
    slates(1_000_000, 64, 200, 32_768, &gpus);
    slates(100_000, 512, 500, 8192, &gpus);
}
