//! What is measured: single verbs, and whole algorithms.

use partition_dpp::{
    Method, Result,
    engine::{Engine, Items, Rows},
    map::{Greedy, LocalSearch, Solver},
};

use super::data::{Problem, Size};

/// A task, and what it costs at least.
pub(super) struct Task {
    pub(super) name: &'static str,
    pub(super) run: fn(&Problem, &dyn Engine) -> Result<Vec<f64>>,
    /// Bytes that it must read and write, where those are what it costs.
    pub(super) bytes: Option<f64>,
    /// Floating-point operations, where those are.
    pub(super) operations: Option<f64>,
}

/// All tasks at a size.
#[expect(clippy::cast_precision_loss, reason = "counts for ratios")]
pub(super) fn tasks(Size { items, dims, k, .. }: Size) -> Vec<Task> {
    let (m, n, k) = (items as f64, dims as f64, k as f64);
    let task = |name, run, bytes, operations| Task { name, run, bytes, operations };
    vec![
        task("row norms", row_norms, Some(4.0 * m * n), None),
        task("Gram matrices", grams, None, Some(2.0 * m * n * n)),
        task("k gain updates", gain_updates, Some(k * (4.0 * m * n + 8.0 * m)), None),
        task("greedy", greedy, Some(k * (4.0 * m * n + 8.0 * m)), None),
        task("local search", local_search, None, None),
        task("sampler set-up", set_up, None, None),
        task("log Z, marginals", inference, None, None),
    ]
}

fn rows(problem: &Problem) -> Rows<'_> {
    let members = (0..problem.size.parts).map(|part| Items::Listed(problem.partition.members(part)));
    Rows::scaled(&problem.features, members.collect())
}

fn row_norms(problem: &Problem, engine: &dyn Engine) -> Result<Vec<f64>> {
    engine.row_norms(&rows(problem))
}

fn grams(problem: &Problem, engine: &dyn Engine) -> Result<Vec<f64>> {
    let grams = engine.part_grams(&rows(problem), None)?;
    let dims = problem.size.dims;
    Ok(grams.iter().flat_map(|gram| (0..dims * dims).map(|at| gram[(at / dims, at % dims)])).collect())
}

/// Along k axes.
fn gain_updates(problem: &Problem, engine: &dyn Engine) -> Result<Vec<f64>> {
    let rows = rows(problem);
    let mut table = engine.gain_table(&rows, &engine.row_norms(&rows)?)?;
    let mut largest = Vec::new();
    for step in 0..problem.size.k {
        let mut axis = vec![0.0; problem.size.dims];
        axis[step % problem.size.dims] = 1.0;
        let tops = table.update(Some(&axis))?;
        largest.extend(tops.iter().filter_map(|leading| leading.first()).map(|top| top.gain));
    }
    Ok(largest)
}

fn greedy(problem: &Problem, engine: &dyn Engine) -> Result<Vec<f64>> {
    Ok(vec![Greedy::default().solve(&problem.model()?, engine)?.log_det])
}

fn local_search(problem: &Problem, engine: &dyn Engine) -> Result<Vec<f64>> {
    Ok(vec![LocalSearch::default().solve(&problem.model()?, engine)?.log_det])
}

/// How sure proposals are to be accepted: the same if tilt and spectrum are.
fn set_up(problem: &Problem, engine: &dyn Engine) -> Result<Vec<f64>> {
    let model = problem.model()?;
    let sampler = model.sampler(Method::Rejection, engine)?;
    Ok(vec![sampler.acceptance_bound()])
}

fn inference(problem: &Problem, engine: &dyn Engine) -> Result<Vec<f64>> {
    let model = problem.model()?;
    let inference = model.inference(engine)?;
    let mut answers = inference.inclusion_probabilities()?.value;
    answers.push(inference.log_partition_function().value);
    Ok(answers)
}
