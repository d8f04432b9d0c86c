//! Solvers as the tests call them.

use partition_dpp::{
    Engine, Partition, Quota,
    map::{Greedy, LazyGreedy, Objective, Solution, Solver},
};

fn plain(model: &impl Objective) -> Solution {
    Greedy::default().solve(model, &Engine::cpu()).unwrap()
}

/// Runs both greedy solvers, which must agree in every bit.
pub fn solve(model: &impl Objective, what: &str) -> Solution {
    let (plain, lazy) = (plain(model), LazyGreedy::default().solve(model, &Engine::cpu()).unwrap());
    assert_eq!(plain, lazy, "{what}: lazy and plain differ");
    let bits =
        |solution: &Solution| -> Vec<u64> { solution.stats.gains.iter().map(|x| x.to_bits()).collect() };
    assert_eq!(bits(&plain), bits(&lazy), "{what}: gains differ");
    lazy
}

/// Returns a partition from labels, and a quota.
pub fn parts(labels: &[usize], quota: &[usize]) -> (Partition, Quota) {
    let partition = Partition::from_labels(labels).unwrap();
    let quota = Quota::new(&partition, quota).unwrap();
    (partition, quota)
}
