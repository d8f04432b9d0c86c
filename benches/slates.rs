//! Slates against a hand-written greedy algorithm; `cargo bench --bench slates`.
//!
//! Each request chooses 12 of 200 candidates out of 20 000 items × 64, at most four from each of eight categories and
//! at
//! least one from each of three.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::time::Instant;

use common::threads;
use partition_dpp::{
    CountRange, Features, Partition, Quota,
    slates::{SlateRequest, Slates},
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::index};

const ITEMS: usize = 20_000;
const DIMS: usize = 64;
const CATEGORIES: usize = 8;
const CANDIDATES: usize = 200;
const SIZE: usize = 12;
const REQUESTS: usize = 2_000;
const ROUNDS: usize = 7;

struct Request {
    candidates: Vec<u32>,
    scores: Vec<f32>,
}

/// A hand-written solver: f32, reused buffers, and gains updated with one orthonormal direction after another.
#[derive(Default)]
struct Yardstick {
    rows: Vec<f32>,
    gains: Vec<f32>,
    weights: Vec<f32>,
    directions: Vec<f32>,
    picked: Vec<usize>,
    items: Vec<u32>,
}

fn dot(x: &[f32], y: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 8];
    for (x, y) in x.as_chunks::<8>().0.iter().zip(y.as_chunks::<8>().0) {
        for lane in 0..8 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    lanes.iter().sum()
}

impl Yardstick {
    fn solve(&mut self, all: &[f32], categories: &[u32], request: &Request) -> &[u32] {
        let candidates = &request.candidates;
        let Self { rows, gains, weights, directions, picked, items } = self;
        [&mut *rows, &mut *gains, &mut *weights, &mut *directions].into_iter().for_each(Vec::clear);
        picked.clear();
        items.clear();
        for (&item, score) in candidates.iter().zip(&request.scores) {
            let row = &all[item as usize * DIMS..][..DIMS];
            rows.extend_from_slice(row);
            gains.push(dot(row, row));
            weights.push(score.exp());
        }
        let mut counts = [0; CATEGORIES];
        while picked.len() < SIZE {
            let lacking = (0..3).filter(|&category| counts[category] == 0).count();
            let spare = SIZE - picked.len() > lacking;
            let (mut best, mut most) = (usize::MAX, 0.0);
            for (at, &item) in candidates.iter().enumerate() {
                let category = categories[item as usize] as usize;
                let open = counts[category] < 4 && (spare || category < 3 && counts[category] == 0);
                let gain = gains[at] * weights[at];
                if open && gain > most {
                    (best, most) = (at, gain);
                }
            }
            let mut direction = [0.0_f32; DIMS];
            direction.copy_from_slice(&rows[best * DIMS..][..DIMS]);
            for q in directions.chunks_exact(DIMS) {
                let along = dot(q, &direction);
                direction.iter_mut().zip(q).for_each(|(value, q)| *value -= along * q);
            }
            let norm = dot(&direction, &direction).sqrt();
            direction.iter_mut().for_each(|value| *value /= norm);
            for (gain, row) in gains.iter_mut().zip(rows.chunks_exact(DIMS)) {
                *gain -= dot(row, &direction).powi(2);
            }
            directions.extend_from_slice(&direction);
            gains[best] = 0.0;
            picked.push(best);
            items.push(candidates[best]);
            counts[categories[candidates[best] as usize] as usize] += 1;
        }
        items
    }
}

/// Returns ln det of the rows plus the contribution of the scores.
fn worth(all: &[f32], request: &Request, items: &[u32]) -> f64 {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut worth = 0.0;
    for &item in items {
        let mut row: Vec<f64> = all[item as usize * DIMS..][..DIMS].iter().map(|&x| f64::from(x)).collect();
        for _ in 0..2 {
            for q in &basis {
                let along: f64 = q.iter().zip(&row).map(|(x, y)| x * y).sum();
                row.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
            }
        }
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let at = request.candidates.iter().position(|&other| other == item).unwrap();
        worth += 2.0 * norm.ln() + f64::from(request.scores[at]);
        basis.push(row.iter().map(|x| x / norm).collect());
    }
    worth
}

/// Prints the rate of one exact sample per request, including set-up.
fn sample_rates(all: &[f32], partition: &Partition, requests: &[Request]) {
    let gaussian: Vec<f32> = {
        let mut rng = StdRng::seed_from_u64(2);
        (0..ITEMS * DIMS).map(|_| (0..6).map(|_| rng.random_range(-1.0..1.0_f32)).sum()).collect()
    };
    // Rows with cosines of about 0.5 and 0.9.
    let around = |centre: f32| gaussian.iter().map(|x| x + centre).collect::<Vec<f32>>();
    let (half, most) = (around(1.4), around(4.2));
    let counts = [2, 2, 2, 2, 1, 1, 1, 1];
    for (what, rows) in
        [("normal", &gaussian), ("40 centres", &all.to_vec()), ("cosine 0.5", &half), ("cosine 0.9", &most)]
    {
        let features = Features::from_rows(ITEMS, DIMS, &rows[..]).unwrap();
        let quota = Quota::new(partition, counts).unwrap();
        let slates = Slates::new(&features, partition, &quota).unwrap();
        let (mut workspace, mut rng) = (slates.workspace(), StdRng::seed_from_u64(3));
        let (mut rates, most) = (Vec::new(), requests.len().min(400));
        for _ in 0..ROUNDS {
            let started = Instant::now();
            for own in &requests[..most] {
                let request = SlateRequest::of(&own.candidates).with_scores(&own.scores);
                std::hint::black_box(slates.sample(request, &mut workspace, &mut rng).unwrap());
            }
            rates.push(most as f64 / started.elapsed().as_secs_f64());
        }
        rates.sort_by(f64::total_cmp);
        println!("exact samples of {what} rows: {:.0} a second (wanted: 1000)", rates[ROUNDS / 2]);
    }
}

fn narrow(item: usize) -> u32 {
    item.try_into().unwrap()
}

fn main() {
    let mut rng = StdRng::seed_from_u64(1);
    let centres: Vec<f32> = (0..40 * DIMS).map(|_| rng.random_range(-1.0..1.0)).collect();
    let all: Vec<f32> = (0..ITEMS * DIMS)
        .map(|at| centres[at / DIMS % 40 * DIMS + at % DIMS] + rng.random_range(-0.7..0.7_f32))
        .collect();
    let categories: Vec<u32> = (0..ITEMS).map(|item| narrow(item * 7 % 61 % CATEGORIES)).collect();
    let request = |_| {
        let drawn = index::sample(&mut rng, ITEMS, CANDIDATES).into_iter();
        let candidates: Vec<u32> = drawn.map(narrow).collect();
        let scores = candidates.iter().map(|_| rng.random_range(0.0..2.0)).collect();
        Request { candidates, scores }
    };
    let requests: Vec<Request> = (0..REQUESTS).map(request).collect();

    let features = Features::from_rows(ITEMS, DIMS, &all[..]).unwrap();
    let partition = Partition::from_labels(&categories).unwrap();
    let ranges = (0..CATEGORIES).map(|part| CountRange::from(usize::from(part < 3)..=4));
    let quota = Quota::new(&partition, ranges).unwrap().with_total(SIZE).unwrap();
    let slates = Slates::new(&features, &partition, &quota).unwrap();
    let (mut workspace, mut yardstick) = (slates.workspace(), Yardstick::default());

    let (mut same, mut better, mut worse) = (0, 0, 0);
    for own in &requests {
        let slate = SlateRequest::of(&own.candidates).with_scores(&own.scores);
        let found = slates.solve(slate, &mut workspace).unwrap().items;
        let by_hand = yardstick.solve(&all, &categories, own);
        if found == by_hand {
            same += 1;
        } else if worth(&all, own, found) >= worth(&all, own, by_hand) {
            better += 1;
        } else {
            worse += 1;
        }
    }
    println!(
        "of {REQUESTS} sets {same} are the same, {better} have a larger determinant, {worse} a smaller one"
    );

    let (mut rates, mut latencies) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let started = Instant::now();
        for own in &requests {
            std::hint::black_box(yardstick.solve(&all, &categories, own));
        }
        let by_hand = REQUESTS as f64 / started.elapsed().as_secs_f64();
        let started = Instant::now();
        for own in &requests {
            let begun = Instant::now();
            let request = SlateRequest::of(&own.candidates).with_scores(&own.scores);
            std::hint::black_box(slates.solve(request, &mut workspace).unwrap());
            latencies.push(begun.elapsed().as_secs_f64() * 1e6);
        }
        let ours = REQUESTS as f64 / started.elapsed().as_secs_f64();
        rates.push((ours / by_hand, ours, by_hand));
    }
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    latencies.sort_by(f64::total_cmp);
    let (ratio, ours, by_hand) = rates[ROUNDS / 2];
    let at = |percent: usize| latencies[(latencies.len() - 1) * percent / 100];
    println!(
        "one thread: {ours:.0} slates a second, by hand {by_hand:.0}: {ratio:.2} times (wanted: at least 1)"
    );
    println!("latency: p50 {:.1} µs, p99 {:.1} µs: {:.2} times", at(50), at(99), at(99) / at(50));

    sample_rates(&all, &partition, &requests);

    let batch: Vec<SlateRequest<'_>> =
        requests.iter().map(|own| SlateRequest::of(&own.candidates).with_scores(&own.scores)).collect();
    for count in [1, 2] {
        let started = Instant::now();
        let found = threads(count).install(|| slates.solve_many(&batch));
        let rate = found.len() as f64 / started.elapsed().as_secs_f64();
        println!("batches on {count} threads: {rate:.0} a second");
    }
}
