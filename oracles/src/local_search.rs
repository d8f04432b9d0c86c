//! Shared code of the local search tests: instances, and local optimality by enumeration.

use partition_dpp::{
    Engine, Features, KDpp, Partition, PartitionDpp, Quota,
    map::{Greedy, LocalSearch, Restarts, Solution, Solver, Termination},
};

use crate::{oracle::Determinants, random::normals};

/// Returns a local search with enough restarts for a dozen items.
pub fn restarting() -> LocalSearch {
    LocalSearch::default().with_restarts(Restarts::Count(20))
}

pub fn rows_of(features: &Features) -> Vec<Vec<f64>> {
    (0..features.items()).map(|item| features.row(item)).collect()
}

/// Returns the sets one exchange away: an item is replaced by another item with the same label.
pub fn neighbours(set: &[usize], labels: &[usize]) -> Vec<Vec<usize>> {
    let others = |&leaving: &usize| {
        let enters = move |&item: &usize| labels[item] == labels[leaving] && !set.contains(&item);
        (0..labels.len()).filter(enters).map(move |item| {
            set.iter().map(|&kept| if kept == leaving { item } else { kept }).collect::<Vec<_>>()
        })
    };
    set.iter().flat_map(others).collect()
}

/// Returns ln of the largest ratio of determinants between one of the others and the set, computed from the rows.
pub fn best_gain(rows: &[Vec<f64>], set: &[usize], others: &[Vec<usize>]) -> f64 {
    let oracle = Determinants::of_features(rows.to_vec());
    let now = oracle.det(set).ln();
    others.iter().map(|other| oracle.det(other).ln() - now).fold(f64::NEG_INFINITY, f64::max)
}

pub fn assert_locally_optimal(features: &Features, labels: &[usize], solution: &Solution) {
    let rows = rows_of(features);
    let set = solution.subset.as_slice();
    let gain = best_gain(&rows, set, &neighbours(set, labels));
    assert!(gain < 1e-8, "an exchange gains {gain}");
    assert_eq!(solution.termination, Termination::LocallyOptimal);
}

/// Returns Gaussian rows, with labels dealt in turn.
pub fn dealt(items: usize, dims: usize, parts: usize, seed: u64) -> (Features, Vec<usize>) {
    let features = Features::from_rows(items, dims, normals(items * dims, seed)).unwrap();
    (features, (0..items).map(|item| item % parts).collect())
}

/// Returns the first Gaussian instance on which the search makes at least two exchanges.
pub fn one_that_greedy_misses(items: usize, dims: usize, k: usize) -> (Features, Vec<usize>) {
    let misses = |features: &Features| {
        let solution =
            LocalSearch::default().solve(&KDpp::new(features, k).unwrap(), &Engine::cpu()).unwrap();
        solution.stats.swaps >= 2
    };
    (0..100).map(|seed| dealt(items, dims, 1, seed)).find(|(features, _)| misses(features)).unwrap()
}

pub fn solve_quota(features: &Features, labels: &[usize], quota: &[usize], solver: LocalSearch) -> Solution {
    let partition = Partition::from_labels(labels).unwrap();
    let quota = Quota::new(&partition, quota).unwrap();
    let dpp = PartitionDpp::new(features, &partition, &quota).unwrap();
    solver.solve(&dpp, &Engine::cpu()).unwrap()
}

pub fn greedy_quota(features: &Features, labels: &[usize], quota: &[usize]) -> Solution {
    let partition = Partition::from_labels(labels).unwrap();
    let quota = Quota::new(&partition, quota).unwrap();
    let dpp = PartitionDpp::new(features, &partition, &quota).unwrap();
    Greedy::default().solve(&dpp, &Engine::cpu()).unwrap()
}
