//! Proven optima of the benchmark C63 at eight sizes; `cargo bench --bench exact` does all 61.

use approx::abs_diff_eq;
use oracles::real_data;
use partition_dpp::{
    Engine, KDpp, Kernel,
    map::{BranchAndBound, Solver, Termination},
};

/// The sizes, and the nodes that the search of the reference table needed.
const SIZES: [(usize, u64); 8] =
    [(2, 16), (3, 41), (5, 51), (10, 911), (20, 2163), (50, 145), (60, 3), (62, 1)];

#[test]
fn optima_of_c63() {
    let Some(folder) = real_data("mesp") else { return };
    let kernel = Kernel::open_npy(folder.join("C63.npy")).unwrap();
    let table = std::fs::read_to_string(folder.join("best_values_63.csv")).unwrap();
    let known: Vec<(usize, f64)> = table
        .lines()
        .skip(1)
        .map(|line| {
            let mut fields = line.split(',').skip(1);
            (fields.next().unwrap().parse().unwrap(), fields.next().unwrap().parse().unwrap())
        })
        .collect();
    for (size, reference_nodes) in SIZES {
        let best = known.iter().find(|(known, _)| *known == size).unwrap().1;
        let solution = BranchAndBound::default()
            .solve(&KDpp::new(kernel.features(), size).unwrap(), &Engine::cpu())
            .unwrap();
        assert!(
            abs_diff_eq!(solution.log_det, best, epsilon = 1e-9),
            "s = {size}: {} is not {best}",
            solution.log_det
        );
        assert_eq!(solution.termination, Termination::Optimal, "s = {size}");
        assert!(solution.gap().unwrap() <= 1e-9, "s = {size}: {:?}", solution.gap());
        // Taking the diagonal out of the kernel makes the tree at least ten times smaller.
        let nodes = solution.stats.nodes;
        assert!(nodes <= 10 + reference_nodes / 5, "s = {size}: {nodes} nodes");
        println!("s = {size}: {nodes} nodes, {reference_nodes} in the reference");
    }
}
