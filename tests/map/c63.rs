//! Local search on a published instance with known optima: the 63 stations of C63.

use std::time::Instant;

use oracles::{real_data, table::Table};
use partition_dpp::{
    Engine, KDpp, Kernel,
    map::{LocalSearch, Restarts, Solver},
};

/// The accuracy of the published values.
const TOLERANCE: f64 = 1e-6;
/// Restarts are limited by number, not by time, so the test is the same on every machine.
const RESTARTS: u64 = 20;

/// Reads the sizes with the best known ln det, all of them proven.
fn optima(path: &std::path::Path) -> Vec<(usize, f64)> {
    let table = Table::read(&path.join("best_values_63.csv"));
    assert!(table.column("proven_optimal").iter().all(|&proven| proven == "1"));
    let sizes = table.column("s").into_iter().map(|s| s.parse().unwrap());
    sizes.zip(table.column("best_logdet").into_iter().map(|x| x.parse().unwrap())).collect()
}

/// Returns the sizes at which the optimum is missed.
fn missed(solver: LocalSearch) -> Option<Vec<usize>> {
    let path = real_data("mesp")?;
    let kernel = Kernel::open_npy(path.join("C63.npy")).unwrap();
    let optima = optima(&path);
    assert_eq!(optima.len(), 61);
    let start = Instant::now();
    let found: Vec<(usize, f64)> = optima
        .iter()
        .map(|&(size, best)| {
            let k_dpp = KDpp::new(kernel.features(), size).unwrap();
            let solution = solver.solve(&k_dpp, &Engine::cpu()).unwrap();
            assert!(solution.log_det < best + TOLERANCE, "size {size}: better than a proven optimum");
            (size, best - solution.log_det)
        })
        .collect();
    println!("{solver:?}: {:.2} s for all sizes", start.elapsed().as_secs_f64());
    Some(found.into_iter().filter(|&(_, gap)| gap > TOLERANCE).map(|(size, _)| size).collect())
}

#[test]
fn restarts_reach_every_optimum() {
    let solver = LocalSearch::default().with_restarts(Restarts::Count(RESTARTS));
    if let Some(missed) = missed(solver) {
        assert_eq!(missed, [0; 0]);
    }
}

/// The negative control: without restarts, at least one size is missed, so the check above can fail.
#[test]
fn one_climb_misses_some() {
    if let Some(missed) = missed(LocalSearch::default()) {
        assert!((1..=3).contains(&missed.len()), "{missed:?}");
    }
}
