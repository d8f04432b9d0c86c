//! The last step of a recommender: a slate of twelve for each of 50 000 users, relevant and varied, with at most four
//! items per genre and at least one from each of three genres: `cargo run --release --example recommender`.
#![allow(clippy::print_stdout, reason = "an example reports")]

use std::time::Instant;

use partition_dpp::{
    CountRange, Features, Partition, Quota, Result,
    slates::{SlateRequest, Slates},
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::index};

const ITEMS: usize = 100_000;
const DIMS: usize = 64;
const GENRES: usize = 8;
const USERS: usize = 50_000;
const CANDIDATES: usize = 200;

/// A user's candidates from a first stage.
struct Candidates {
    items: Vec<u32>,
    scores: Vec<f32>,
}

fn main() -> Result<()> {
    let mut rng = StdRng::seed_from_u64(1);
    // Embeddings around the centres of their genres.
    let centres: Vec<f32> = (0..GENRES * DIMS).map(|_| rng.random_range(-1.0..1.0)).collect();
    let genre = |item: usize| item * 7 % 61 % GENRES;
    let rows: Vec<f32> = (0..ITEMS * DIMS)
        .map(|at| centres[genre(at / DIMS) * DIMS + at % DIMS] + rng.random_range(-1.0..1.0_f32))
        .collect();
    let items = Features::from_rows(ITEMS, DIMS, rows)?.with_unit_rows()?;
    let genres = Partition::of((0..ITEMS).map(genre))?;
    let ranges = (0..GENRES).map(|genre| CountRange::from(usize::from(genre < 3)..=4));
    let quota = Quota::new(&genres, ranges)?.with_total(12)?;
    let slates = Slates::new(&items, &genres, &quota)?.with_diversity(0.6)?;

    let users: Vec<Candidates> = (0..USERS)
        .map(|_| {
            let drawn = index::sample(&mut rng, ITEMS, CANDIDATES).into_iter();
            let items = drawn.filter_map(|item| item.try_into().ok()).collect();
            Candidates { items, scores: (0..CANDIDATES).map(|_| rng.random_range(0.0..2.0)).collect() }
        })
        .collect();
    let requests: Vec<SlateRequest<'_>> =
        users.iter().map(|user| SlateRequest::of(&user.items).with_scores(&user.scores)).collect();
    let started = Instant::now();
    let found = slates.solve_many(&requests);
    let seconds = started.elapsed().as_secs_f64();
    println!("{USERS} slates in {seconds:.2} s: {:.0} a second", USERS as f64 / seconds);
    if let Some(first) = found.into_iter().next() {
        println!("the first user sees {:?}", first?.items);
    }
    on_a_device(&slates, &requests[..USERS / 50]);
    // Unlike solved slates, drawn slates differ from visit to visit.
    let started = Instant::now();
    let drawn = slates.sample_many(&requests, 1, 7);
    println!("as many drawn: {:.0} a second", USERS as f64 / started.elapsed().as_secs_f64());
    if let Some(first) = drawn.into_iter().next() {
        println!("the first user sees {:?}", first?);
    }
    Ok(())
}

/// Solves the same requests on a GPU.
#[cfg(feature = "gpu")]
fn on_a_device(slates: &Slates, requests: &[SlateRequest<'_>]) {
    use partition_dpp::{
        engine::gpu::{Gpu, GpuOptions},
        slates::BatchedRequests,
    };
    let Ok(gpu) = Gpu::new(&GpuOptions::default()) else { return };
    let on_device = slates.clone().with_engine(&gpu.engine());
    let (found, expected) = (on_device.solve_many(requests), slates.solve_many(requests));
    let is_same = |pair: &(Result<_>, Result<_>)| matches!(pair, (Ok(one), Ok(other)) if one == other);
    let same = found.into_iter().zip(expected).filter(is_same).count();
    if let Some(BatchedRequests { asked, left, .. }) = on_device.batched_requests() {
        println!("on {gpu:?}: {same} of {asked} sets are the same; {left} were left to the CPU");
    }
}

#[cfg(not(feature = "gpu"))]
fn on_a_device(_: &Slates, _: &[SlateRequest<'_>]) {}
