//! One JSON object: a contract that scripts rely on.

use std::borrow::Cow;

use serde::Serialize;

use super::{answer::Drawn, mixing};
use crate::{input::Id, law::Question, output::EngineAnswer, quota::Asked};

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    samples: Vec<Cow<'a, [usize]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<Vec<Id<'a>>>>,
    parts: &'a [String],
    quota: Asked<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    method: String,
    /// Of rejection.
    bound: Option<String>,
    /// `exact`, `estimated` or `unknown`.
    exactness: &'static str,
    /// In total variation; `None` where it is unknown.
    law_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mixing: Option<mixing::Answer<'a>>,
    #[serde(flatten)]
    engine: EngineAnswer<'a>,
    precision: String,
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

impl<'a> Answer<'a> {
    pub(super) fn new(question: &Question<'a>, drawn: &'a Drawn, seed: u64) -> Self {
        Self {
            samples: drawn.subsets.iter().map(|subset| question.input.items_of(subset)).collect(),
            ids: drawn.subsets.iter().map(|subset| question.input.ids_of(subset)).collect(),
            parts: question.input.partition.as_ref().map_or(&[], |partition| partition.names()),
            quota: question.law.asked(),
            k: question.law.size(),
            method: drawn.drawer.to_string(),
            bound: drawn.bounds.first().map(|cost| cost.bound.to_string()),
            exactness: drawn.drawer.exactness(),
            law_error: drawn.law_error,
            kernel_error: question.input.kernel_error,
            mixing: drawn.mixing.as_ref().map(|mixing| mixing::Answer::new(mixing, question)),
            engine: (&drawn.engine).into(),
            precision: drawn.engine.precision.to_string(),
            seed,
            proposals: drawn.proposals,
            acceptance_bound: drawn.acceptance_bound,
            seconds: Seconds { setup: drawn.setup.as_secs_f64(), sampling: drawn.sampling.as_secs_f64() },
        }
    }
}
