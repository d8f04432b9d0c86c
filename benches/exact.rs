//! Proven optima: C63 at all 61 sizes, the paper's synthetic regime at k = 4, and bounds of many items;
//! `cargo bench --bench exact`, or with sizes: `cargo bench --bench exact -- 5 10 20 50`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::path::Path;

use common::{threads, timed};
use partition_dpp::{
    Engine, Features, KDpp, Kernel, Partition, PartitionDpp, Quota,
    map::{BranchAndBound, Greedy, Objective, Solution, Solver, UpperBound},
};
use rand::{RngExt, SeedableRng};

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let two = threads(2);
    two.install(|| c63(&sizes));
    if sizes.is_empty() {
        two.install(synthetic);
        two.install(many_items);
    }
}

fn solved(model: &(impl Objective + Sync)) -> (Solution, f64) {
    timed(|| BranchAndBound::default().solve(model, &Engine::cpu()).unwrap())
}

/// The optima, their nodes and seconds, beside the nodes of the search that made the reference table.
fn c63(sizes: &[usize]) {
    let folder = std::env::var("PDPP_DATA").unwrap_or_else(|_| "../shared/data".to_owned());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("mesp");
    let Ok(kernel) = Kernel::open_npy(folder.join("C63.npy")) else {
        println!("SKIPPED: no {} (set PDPP_DATA to the data folder)", folder.display());
        return;
    };
    let table = std::fs::read_to_string(folder.join("best_values_63.csv")).unwrap();
    println!("  s          log det      gap   nodes  (reference)  seconds");
    let (mut all_nodes, mut reference_nodes, mut seconds) = (0, 0, 0.0);
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (size, best): (usize, f64) = (fields[1].parse().unwrap(), fields[2].parse().unwrap());
        if !sizes.is_empty() && !sizes.contains(&size) {
            continue;
        }
        let reference: u64 = fields[13].parse().unwrap();
        let (solution, time) = solved(&KDpp::new(kernel.features(), size).unwrap());
        assert!((solution.log_det - best).abs() < 1e-6, "s = {size}");
        let (gap, nodes) = (solution.gap().unwrap(), solution.stats.nodes);
        println!("{size:3} {:16.9} {gap:8.1e} {nodes:7} {reference:12} {time:8.2}", solution.log_det);
        (all_nodes, reference_nodes, seconds) =
            (all_nodes + nodes, reference_nodes + reference, seconds + time);
    }
    println!("all {all_nodes:33} {reference_nodes:12} {seconds:8.2}");
}

/// 50×40, entries 5·U(0, 1), k = 4: twenty seeds.
fn synthetic() {
    let (mut nodes, mut seconds) = (0, 0.0);
    for seed in 0..20 {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let values: Vec<f64> = (0..2000).map(|_| 5.0 * rng.random::<f64>()).collect();
        let features = Features::from_rows(50, 40, values).unwrap();
        let (solution, time) = solved(&KDpp::new(&features, 4).unwrap());
        assert!(solution.gap().unwrap() <= 1e-9);
        (nodes, seconds) = (nodes + solution.stats.nodes, seconds + time);
    }
    println!("50×40, k = 4, 20 seeds: {nodes} nodes, {seconds:.2} s");
}

/// Bounds of Gaussian rows in four parts, and the gap that greedy has.
fn many_items() {
    println!("      m   n    k  bound      gap of greedy  seconds of bound  of greedy");
    for (items, dims, quota) in [(10_000, 32, 4), (100_000, 64, 4), (1_000_000, 64, 12)] {
        let features = Features::from_rows(items, dims, common::features(items, dims)).unwrap();
        let labels: Vec<usize> = (0..items).map(|item| item % 4).collect();
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = Quota::each(&partition, quota).unwrap();
        let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let (certificate, bounding) =
            timed(|| UpperBound::default().certify(&model, &Engine::cpu()).unwrap());
        let (greedy, picking) =
            timed(|| Greedy::default().solve(&model, &Engine::cpu()).unwrap().certified(&certificate));
        println!(
            "{items:8} {dims:3} {:4}  {:10} {:13.3} {bounding:17.2} {:10.2}",
            quota.total().unwrap_or_default(),
            certificate.bound.to_string(),
            greedy.gap().unwrap(),
            picking
        );
    }
}
