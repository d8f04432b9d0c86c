//! Core-sets of shards compared with choosing from all items: the loss and the time; `cargo bench --bench core_sets`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::time::Instant;

use common::threads;
use partition_dpp::{
    Engine, Features, Partition, PartitionDpp, Quota,
    map::{CoreSet, Greedy, LocalSearch, Solution, Solver},
};

const ITEMS: usize = 320_000;
const DIMS: usize = 64;
const PARTS: usize = 4;
const EACH: usize = 6;
const SHARDS: usize = 16;

fn main() {
    threads(2).install(compare);
}

/// Prints ln det and seconds for both ways.
fn compare() {
    let values = common::features(ITEMS, DIMS);
    let labels = common::labels(ITEMS, PARTS);
    println!("m = {ITEMS}, n = {DIMS}, {PARTS} parts, quota {EACH} each, {SHARDS} shards, 2 threads");
    let solve = |features: &Features, partition: &Partition| {
        let quota = Quota::each(partition, EACH).unwrap();
        let dpp = PartitionDpp::new(features, partition, &quota).unwrap();
        let greedy = Greedy::default().solve(&dpp, &Engine::cpu()).unwrap();
        let climbed: Solution = LocalSearch::default().solve(&dpp, &Engine::cpu()).unwrap();
        (greedy.log_det, climbed.log_det)
    };
    let start = Instant::now();
    let features = Features::from_rows(ITEMS, DIMS, &values).unwrap();
    let (greedy, direct) = solve(&features, &Partition::from_labels(&labels).unwrap());
    println!("direct: greedy {greedy:.4}, local search {direct:.4}; {:.1} s", start.elapsed().as_secs_f64());
    let size = ITEMS / SHARDS;
    for by_greedy in [true, false] {
        let start = Instant::now();
        let make = if by_greedy { CoreSet::by_greedy } else { CoreSet::by_local_search };
        let shard = |number: usize| {
            let (from, to) = (number * size, (number + 1) * size);
            let features = Features::from_rows(size, DIMS, &values[from * DIMS..to * DIMS]).unwrap();
            make(&features, &Partition::from_labels(&labels[from..to]).unwrap(), PARTS * EACH, &Engine::cpu())
                .unwrap()
        };
        let union = CoreSet::union(&(0..SHARDS).map(shard).collect::<Vec<_>>()).unwrap();
        let (_, found) = solve(union.features(), union.partition());
        println!(
            "core-sets by {}: {} items, local search {found:.4}: lost {:.4}; {:.1} s",
            if by_greedy { "greedy" } else { "local search" },
            union.features().items(),
            direct - found,
            start.elapsed().as_secs_f64()
        );
    }
}
