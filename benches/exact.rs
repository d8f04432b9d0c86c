//! Proven optima, and bounds for many items; `cargo bench --bench exact`.
//!
//! The optima are C63 at all 61 sizes, and the paper's synthetic regime at k = 4. To solve only some sizes of C63,
//! use
//! `cargo bench --bench exact -- 5 10 20 50`. To solve a network like C63 with any number of stations and five
//! minutes
//! per size, use `cargo bench --bench exact -- stations=90` or `… -- stations=124 40 60 80`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::{path::Path, time::Duration};

use common::{threads, timed};
use faer::{Mat, Side};
use partition_dpp::{
    Engine, Features, KDpp, Kernel, Partition, PartitionDpp, Quota, Watch,
    map::{BranchAndBound, Greedy, Objective, Solution, Solver, Termination, UpperBound},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let two = threads(2);
    let stations =
        |argument: String| argument.strip_prefix("stations=").and_then(|number| number.parse().ok());
    if let Some(stations) = std::env::args().find_map(stations) {
        two.install(|| network(stations, &sizes));
        return;
    }
    two.install(|| c63(&sizes));
    if sizes.is_empty() {
        two.install(synthetic);
        two.install(many_items);
    }
}

fn solved(model: &(impl Objective + Sync)) -> (Solution, f64) {
    timed(|| BranchAndBound::default().solve(model, &Engine::cpu()).unwrap())
}

/// Prints the optima, nodes and seconds, next to the nodes of the search that made the reference table.
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

/// Returns the covariance of time series from a monitoring network like the one of C63.
///
/// The stations lie anywhere in a square. Correlations start at 0.65 and fall with the distance, deviations differ by
/// a
/// fifth, and there are 20 observations per station.
fn covariance(stations: usize) -> Kernel {
    const RANGE: f64 = 0.27;
    const SHARED: f64 = 0.65;
    const OBSERVATIONS: usize = 20;
    let mut rng = ChaCha8Rng::seed_from_u64(stations as u64);
    let places: Vec<[f64; 2]> = (0..stations).map(|_| [rng.random(), rng.random()]).collect();
    let mut normal = rng.sample_iter(StandardNormal);
    let mut normal = || -> f64 { normal.next().unwrap() };
    let deviations: Vec<f64> = (0..stations).map(|_| 0.34 * (0.18 * normal()).exp()).collect();
    let field = Mat::from_fn(stations, stations, |i, j| {
        let distance = (places[i][0] - places[j][0]).hypot(places[i][1] - places[j][1]);
        let correlation = if i == j { 1.0 } else { SHARED * (-distance / RANGE).exp() };
        correlation * deviations[i] * deviations[j]
    });
    let factor = field.llt(Side::Lower).unwrap();
    let steps = OBSERVATIONS * stations;
    let mut series = factor.L() * Mat::from_fn(stations, steps, |_, _| normal());
    for i in 0..stations {
        let mean = series.row(i).sum() / steps as f64;
        series.row_mut(i).iter_mut().for_each(|x| *x -= mean);
    }
    let products = &series * series.transpose();
    let values: Vec<f64> = (0..stations * stations)
        .map(|at| products[(at / stations, at % stations)] / (steps - 1) as f64)
        .collect();
    Kernel::from_dense(stations, &values).unwrap()
}

/// Solves every size of a network, or only some.
fn network(stations: usize, sizes: &[usize]) {
    const LIMIT: Duration = Duration::from_secs(300);
    let kernel = covariance(stations);
    println!("  s          log det      gap   nodes  seconds");
    let (mut proven, mut asked, mut seconds) = (0, 0, 0.0);
    for size in (2..stations).filter(|size| sizes.is_empty() || sizes.contains(size)) {
        let model = KDpp::new(kernel.features(), size).unwrap();
        let engine = Engine::cpu().watched(&Watch::default().within(LIMIT));
        let (solution, time) = timed(|| BranchAndBound::default().solve(&model, &engine).unwrap());
        let (log_det, gap, nodes) = (solution.log_det, solution.gap().unwrap(), solution.stats.nodes);
        println!("{size:3} {log_det:16.9} {gap:8.1e} {nodes:7} {time:8.2}");
        proven += usize::from(solution.termination == Termination::Optimal);
        (asked, seconds) = (asked + 1, seconds + time);
    }
    println!("{proven} of {asked} sizes proven in {seconds:.1} s");
}

/// Solves 50×40 instances with entries 5·U(0, 1) and k = 4, for twenty seeds.
fn synthetic() {
    let (mut nodes, mut seconds) = (0, 0.0);
    for seed in 0..20 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let values: Vec<f64> = (0..2000).map(|_| 5.0 * rng.random::<f64>()).collect();
        let features = Features::from_rows(50, 40, values).unwrap();
        let (solution, time) = solved(&KDpp::new(&features, 4).unwrap());
        assert!(solution.gap().unwrap() <= 1e-9);
        (nodes, seconds) = (nodes + solution.stats.nodes, seconds + time);
    }
    println!("50×40, k = 4, 20 seeds: {nodes} nodes, {seconds:.2} s");
}

/// Prints bounds for Gaussian rows in four parts, and the gap of greedy.
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
