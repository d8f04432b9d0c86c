//! The tasks to measure: single verbs, and whole algorithms.

use partition_dpp::{
    Engine, Method, Result,
    engine::low_level::{Items, Rows},
    map::{Greedy, LocalSearch, Solver},
};

use super::data::{BenchCase, Size};

/// A task, and its least cost.
pub(super) struct Task {
    pub(super) name: &'static str,
    pub(super) run: fn(&BenchCase, &Engine) -> Result<Vec<f64>>,
    /// Bytes that it has to read and write, where they determine its cost.
    pub(super) bytes: Option<f64>,
    /// Floating-point operations, where they determine its cost.
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

fn rows(case: &BenchCase) -> Rows<'_> {
    let members = (0..case.size.parts).map(|part| Items::Listed(case.partition.members(part)));
    Rows::scaled(&case.features, members.collect())
}

fn row_norms(case: &BenchCase, engine: &Engine) -> Result<Vec<f64>> {
    engine.row_norms(&rows(case))
}

fn grams(case: &BenchCase, engine: &Engine) -> Result<Vec<f64>> {
    let grams = engine.part_grams(&rows(case), None)?;
    let dims = case.size.dims;
    Ok(grams.iter().flat_map(|gram| (0..dims * dims).map(|at| gram[(at / dims, at % dims)])).collect())
}

/// Along k axes.
fn gain_updates(case: &BenchCase, engine: &Engine) -> Result<Vec<f64>> {
    let rows = rows(case);
    let mut table = engine.gain_table(&rows, &engine.row_norms(&rows)?)?;
    let mut largest = Vec::new();
    for step in 0..case.size.k {
        let mut axis = vec![0.0; case.size.dims];
        axis[step % case.size.dims] = 1.0;
        let tops = table.update(Some(&axis))?;
        largest.extend(tops.iter().filter_map(|leading| leading.first()).map(|top| top.gain));
    }
    Ok(largest)
}

fn greedy(case: &BenchCase, engine: &Engine) -> Result<Vec<f64>> {
    Ok(vec![Greedy::default().solve(&case.model()?, engine)?.log_det])
}

fn local_search(case: &BenchCase, engine: &Engine) -> Result<Vec<f64>> {
    Ok(vec![LocalSearch::default().solve(&case.model()?, engine)?.log_det])
}

/// The acceptance bound, which agrees if tilt and spectrum do.
fn set_up(case: &BenchCase, engine: &Engine) -> Result<Vec<f64>> {
    let model = case.model()?;
    let sampler = model.sampler(Method::Rejection, engine)?;
    Ok(vec![sampler.acceptance_bound()])
}

fn inference(case: &BenchCase, engine: &Engine) -> Result<Vec<f64>> {
    let model = case.model()?;
    let inference = model.inference(engine)?;
    let mut answers = inference.inclusion_probabilities()?.value;
    answers.push(inference.log_partition_function().value);
    Ok(answers)
}
