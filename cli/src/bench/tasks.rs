//! The tasks to measure: single verbs, and whole algorithms.

use std::fmt;

use clap::ValueEnum;
use partition_dpp::{
    Engine, Method, Result, Subset,
    engine::{
        self, Job, Precision,
        low_level::{Items, Rows},
    },
    map::{Greedy, LocalSearch, Solver},
    slates::{SlateRequest, Slates},
};
use serde::Serialize;

use super::data::{BenchCase, Size};

/// A task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Task {
    /// Lengths of all rows.
    Norms,
    /// Gram matrices of all parts.
    Gram,
    /// The gains of all items, updated k times.
    Gains,
    /// The greedy set.
    Greedy,
    /// The set of a local search.
    LocalSearch,
    /// The set-up of a sampler.
    SetUp,
    /// 10 000 draws.
    Draws,
    /// The set-up of interpolation, and one draw.
    Interpolation,
    /// ln Z and inclusion probabilities.
    Inference,
    /// Slates for 1000 requests with 200 candidates each.
    Slates,
}

/// Draws of a run.
const DRAWS: u64 = 10_000;
/// The number of requests per run, and of candidates per request if there are as many items.
const REQUESTS: usize = 1000;
const CANDIDATES: usize = 200;

/// Answers of a task, in groups of numbers of about the same size.
pub(super) type Answers = Vec<Vec<f64>>;

/// A task that is ready to run; its preparation is not timed.
pub(super) type Ready<'c> = Box<dyn Fn() -> Result<Answers> + 'c>;

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Norms => "norms",
            Self::Gram => "Gram matrices",
            Self::Gains => "gains, k times",
            Self::Greedy => "greedy",
            Self::LocalSearch => "local search",
            Self::SetUp => "sampler set-up",
            Self::Draws => "10 000 draws",
            Self::Interpolation => "interpolation",
            Self::Inference => "log Z, marginals",
            Self::Slates => "1000 slates",
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts for rates")]
impl Task {
    /// Makes the task ready.
    pub(super) fn ready<'c>(self, case: &'c BenchCase, engine: &'c Engine) -> Result<Ready<'c>> {
        Ok(match self {
            Self::Norms => Box::new(|| Ok(vec![engine.row_norms(&rows(case))?])),
            Self::Gram => Box::new(|| grams(case, engine)),
            Self::Gains => Box::new(|| gains(case, engine)),
            Self::Greedy => {
                Box::new(|| Ok(vec![vec![Greedy::default().solve(&case.model()?, engine)?.log_det]]))
            }
            Self::LocalSearch => {
                Box::new(|| Ok(vec![vec![LocalSearch::default().solve(&case.model()?, engine)?.log_det]]))
            }
            Self::SetUp => Box::new(|| set_up(case, engine)),
            Self::Draws => return draws(case, engine),
            Self::Interpolation => Box::new(|| interpolation(case, engine)),
            Self::Inference => Box::new(|| inference(case, engine)),
            Self::Slates => return slates(case, engine),
        })
    }

    /// Its name in arguments, .csv and JSON.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Bytes that the task reads and writes, if they determine its time.
    pub(super) fn bytes(self, case: &BenchCase) -> Option<f64> {
        let Size { items, dims, k, .. } = case.size;
        let (m, pass) = (items as f64, (items * dims * case.values.bytes()) as f64);
        match self {
            Self::Norms => Some(pass + 8.0 * m),
            Self::Gains => Some(k as f64 * (pass + 16.0 * m)),
            _ => None,
        }
    }

    /// Floating-point operations, if they determine its time.
    pub(super) fn operations(self, case: &BenchCase) -> Option<f64> {
        let Size { items, dims, .. } = case.size;
        (self == Self::Gram).then_some(2.0 * items as f64 * (dims * dims) as f64)
    }

    /// The largest difference between answers of engines, relative to their size; ε is the machine precision.
    pub(super) fn tolerance(self, size: Size, epsilon: f64) -> f64 {
        if self == Self::Draws {
            // Six standard deviations of a mean of positions, uniform at least.
            return 6.0 * (2.0 / 3.0 / (DRAWS as f64 * size.k as f64)).sqrt();
        }
        30.0 * size.dims as f64 * epsilon
    }

    /// The job whose time is predicted; `None` for tasks without a prediction.
    pub(super) fn job(self, case: &BenchCase) -> Option<Job> {
        let task = match self {
            Self::Norms => engine::Task::Passes(1),
            Self::Gains => engine::Task::Passes(case.size.k),
            Self::Greedy => engine::Task::Greedy,
            Self::LocalSearch => engine::Task::LocalSearch(1),
            Self::SetUp => engine::Task::SetUp,
            Self::Interpolation => engine::Task::Interpolation(1),
            Self::Inference => engine::Task::Inference,
            Self::Slates => {
                engine::Task::Slates { requests: REQUESTS, candidates: CANDIDATES.min(case.size.items) }
            }
            Self::Gram | Self::Draws => return None,
        };
        Some(Job::new(&case.features, task).with_parts(case.size.parts).with_picks(case.size.k))
    }
}

fn rows(case: &BenchCase) -> Rows<'_> {
    let members = (0..case.size.parts).map(|part| Items::Listed(case.partition.members(part)));
    Rows::scaled(&case.features, members.collect())
}

fn grams(case: &BenchCase, engine: &Engine) -> Result<Answers> {
    let grams = engine.part_grams(&rows(case), None)?;
    let dims = case.size.dims;
    let entries = grams.iter().flat_map(|gram| (0..dims * dims).map(|at| gram[(at / dims, at % dims)]));
    Ok(vec![entries.collect()])
}

/// Along k axes.
fn gains(case: &BenchCase, engine: &Engine) -> Result<Answers> {
    let rows = rows(case);
    let mut table = engine.gain_table(&rows, &engine.row_norms(&rows)?)?;
    let mut largest = Vec::new();
    for step in 0..case.size.k {
        let mut axis = vec![0.0; case.size.dims];
        axis[step % case.size.dims] = 1.0;
        let tops = table.update(Some(&axis))?;
        largest.extend(tops.iter().filter_map(|leading| leading.first()).map(|top| top.gain));
    }
    Ok(vec![largest])
}

/// The mean position of items: engines may choose different bounds, and so different draws of one law.
#[expect(clippy::cast_precision_loss, reason = "positions")]
fn draws<'c>(case: &'c BenchCase, engine: &Engine) -> Result<Ready<'c>> {
    let sampler = case.model()?.sampler(Method::Auto, engine)?;
    Ok(Box::new(move || {
        let (mut sum, mut count) = (0.0, 0.0);
        for set in sampler.sample_many(DRAWS, 1) {
            for item in &set {
                sum += item as f64;
                count += 1.0;
            }
        }
        Ok(vec![vec![2.0 * sum / count / case.size.items as f64]])
    }))
}

/// The acceptance bound, which agrees if tilt and spectrum do.
fn set_up(case: &BenchCase, engine: &Engine) -> Result<Answers> {
    Ok(vec![vec![case.model()?.sampler(Method::Rejection, engine)?.acceptance_bound()]])
}

/// The counts of its parts, and in double precision the items: in single precision another set may be drawn.
#[expect(clippy::cast_precision_loss, reason = "counts and positions")]
fn interpolation(case: &BenchCase, engine: &Engine) -> Result<Answers> {
    let sampler = case.model()?.sampler(Method::Interpolation, engine)?;
    let sets: Vec<Subset> = sampler.sample_many(1, 1).into_iter().collect();
    let counts = |set: &Subset| set.part_counts(&case.partition);
    let mut answers = vec![sets.iter().flat_map(counts).map(|count| count as f64).collect()];
    if engine.info().precision == Precision::F64 {
        answers.push(sets.iter().flatten().map(|item| item as f64).collect());
    }
    Ok(answers)
}

fn inference(case: &BenchCase, engine: &Engine) -> Result<Answers> {
    let model = case.model()?;
    let inference = model.inference(engine)?;
    let log_z = inference.log_partition_function().value;
    Ok(vec![inference.inclusion_probabilities()?.value, vec![log_z]])
}

fn slates<'c>(case: &'c BenchCase, engine: &Engine) -> Result<Ready<'c>> {
    let slates = Slates::new(&case.features, &case.partition, &case.quota)?.with_engine(engine);
    let items = case.size.items;
    // Runs of items from different starts.
    let candidates = |request: usize| -> Vec<u32> {
        let from = |at: usize| u32::try_from((request * 7919 + at) % items).unwrap_or(0);
        (0..CANDIDATES.min(items)).map(from).collect()
    };
    let candidates: Vec<Vec<u32>> = (0..REQUESTS).map(candidates).collect();
    Ok(Box::new(move || {
        let requests: Vec<SlateRequest<'_>> = candidates.iter().map(|own| SlateRequest::of(own)).collect();
        let dets = slates.solve_many(&requests).into_iter().map(|slate| Ok(slate?.log_det));
        Ok(vec![dets.collect::<Result<_>>()?])
    }))
}
