//! Solvers as the tests call them.

use partition_dpp::{
    Engine, Partition, Quota,
    map::{Greedy, Objective, Solution, Solver},
};

/// Returns the greedy set of a model.
pub fn greedy(model: &impl Objective) -> Solution {
    Greedy::default().solve(model, &Engine::cpu()).unwrap()
}

/// Returns a partition from labels, and a quota.
pub fn parts(labels: &[usize], quota: &[usize]) -> (Partition, Quota) {
    let partition = Partition::from_labels(labels).unwrap();
    let quota = Quota::new(&partition, quota).unwrap();
    (partition, quota)
}
