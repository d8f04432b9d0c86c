//! One JSON object: a contract that scripts rely on.

use std::borrow::Cow;

use partition_dpp::sample::WeightStatistics;
use serde::Serialize;

use super::{answer::Drawn, mixing};
use crate::{
    input::{Id, KernelAnswer},
    law::Question,
    output::EngineAnswer,
    quota::Asked,
};

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    samples: Vec<Cow<'a, [usize]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<Vec<Id<'a>>>>,
    /// Of every sample: the share of the squared length of all rows that it explains.
    #[serde(skip_serializing_if = "Option::is_none")]
    explained: Option<&'a [f64]>,
    /// Of every sample and part.
    #[serde(skip_serializing_if = "Option::is_none")]
    explained_by_part: Option<&'a [Vec<f64>]>,
    /// Of every sample: the mean distance of items to the nearest chosen one.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_distance: Option<&'a [f64]>,
    parts: &'a [String],
    quota: Asked<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    method: String,
    /// Of rejection.
    bound: Option<String>,
    /// `exact`, `estimated` or `unknown`.
    exactness: &'static str,
    /// In total variation; `None` if it is unknown.
    law_error: Option<f64>,
    #[serde(flatten)]
    kernel: KernelAnswer,
    #[serde(flatten)]
    estimate: Option<Estimate<'a>>,
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

/// The statistics of weighted draws.
#[derive(Serialize)]
struct Estimate<'a> {
    log_z: f64,
    log_z_se: f64,
    effective_share: f64,
    /// `None` for equal weights, or too few.
    pareto_k: Option<f64>,
    /// Of every sample, if they are weighted.
    #[serde(skip_serializing_if = "Option::is_none")]
    log_weights: Option<&'a [f64]>,
}

impl<'a> Estimate<'a> {
    fn of(drawn: &'a Drawn) -> Option<Self> {
        let WeightStatistics { log_z, effective_share, pareto_k, .. } = drawn.estimate?;
        let (log_z, log_z_se) = (log_z.value, log_z.standard_error);
        Some(Self { log_z, log_z_se, effective_share, pareto_k, log_weights: drawn.log_weights.as_deref() })
    }
}

#[derive(Serialize)]
struct Seconds {
    setup: f64,
    sampling: f64,
}

impl<'a> Answer<'a> {
    pub(super) fn new(
        question: &Question<'a>,
        drawn: &'a Drawn,
        seed: u64,
        engine_reason: Option<&'a str>,
    ) -> Self {
        let shares = drawn.explained.as_ref();
        Self {
            samples: drawn.subsets.iter().map(|subset| question.input.items_of(subset)).collect(),
            ids: drawn.subsets.iter().map(|subset| question.input.ids_of(subset)).collect(),
            explained: shares.map(|shares| &shares.total[..]),
            explained_by_part: shares.and_then(|shares| shares.by_part.as_deref()),
            mean_distance: drawn.mean_distances.as_deref(),
            parts: question.input.partition.as_ref().map_or(&[], |partition| partition.names()),
            quota: question.law.asked(),
            k: question.law.size(),
            method: drawn.drawer.to_string(),
            bound: drawn.bounds.first().map(|cost| cost.bound.to_string()),
            exactness: drawn.drawer.exactness(),
            law_error: drawn.law_error,
            kernel: question.input.kernel(),
            estimate: Estimate::of(drawn),
            mixing: drawn.mixing.as_ref().map(|mixing| mixing::Answer::new(mixing, question)),
            engine: EngineAnswer::from(&drawn.engine).because(engine_reason),
            precision: drawn.engine.precision.to_string(),
            seed,
            proposals: drawn.proposals,
            acceptance_bound: drawn.acceptance_bound,
            seconds: Seconds { setup: drawn.setup.as_secs_f64(), sampling: drawn.sampling.as_secs_f64() },
        }
    }
}
