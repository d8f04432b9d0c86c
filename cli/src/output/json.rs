//! One JSON object: a contract that scripts rely on.

use partition_dpp::Subset;
use serde::Serialize;

use super::Summary;
use crate::{failure::Failure, sample::Law};

#[derive(Serialize)]
struct Answer<'a> {
    samples: Vec<&'a [usize]>,
    parts: &'a [String],
    quota: &'a [usize],
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    method: &'a str,
    engine: &'a str,
    precision: &'a str,
    seed: u64,
    proposals: u64,
    acceptance_bound: f64,
    seconds: Seconds,
}

#[derive(Serialize)]
struct Seconds {
    setup: f64,
    sampling: f64,
}

/// The object, on one line.
pub(super) fn render(summary: &Summary<'_>) -> Result<String, Failure> {
    let drawn = summary.drawn;
    let answer = Answer {
        samples: drawn.samples.subsets().iter().map(Subset::as_slice).collect(),
        parts: summary.input.partition.as_ref().map_or(&[], |partition| partition.names()),
        quota: summary.law.quota(),
        k: match summary.law {
            Law::KDpp { k } => Some(*k),
            _ => None,
        },
        method: &drawn.algorithm,
        engine: drawn.engine,
        precision: &drawn.precision,
        seed: summary.seed,
        proposals: drawn.samples.proposals(),
        acceptance_bound: drawn.samples.acceptance_bound(),
        seconds: Seconds { setup: drawn.setup.as_secs_f64(), sampling: drawn.sampling.as_secs_f64() },
    };
    serde_json::to_string(&answer).map_err(|error| Failure::Output(error.into()))
}
