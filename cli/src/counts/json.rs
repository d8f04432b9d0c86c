//! One JSON object: a contract that scripts rely on.

use partition_dpp::{PartCounts, sample::WeightStatistics};
use serde::Serialize;

use super::answer::Counted;
use crate::{estimates::Draws, input::KernelAnswer, law::Question, output::EngineAnswer};

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    counts: Vec<Entry<'a>>,
    quota_prob: Option<f64>,
    /// If the probability of the quota is estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    quota_prob_se: Option<f64>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    estimate: Option<Estimate>,
    #[serde(flatten)]
    kernel: KernelAnswer,
    #[serde(flatten)]
    engine: EngineAnswer<'a>,
    precision: String,
}

/// The draws that the probability of the quota is estimated from.
#[derive(Serialize)]
struct Estimate {
    draws: u64,
    effective_share: f64,
    /// `None` for equal weights.
    pareto_k: Option<f64>,
    /// Why there are fewer draws than the standard error wanted needs.
    ended: Option<String>,
}

impl Estimate {
    fn of(draws: Draws) -> Self {
        let WeightStatistics { draws: count, effective_share, pareto_k, .. } = draws.statistics;
        Self { draws: count, effective_share, pareto_k, ended: draws.ended.map(|ended| ended.to_string()) }
    }
}

#[derive(Serialize)]
struct Entry<'a> {
    count: &'a [usize],
    prob: f64,
}

impl<'a> Answer<'a> {
    pub(super) fn new(question: &Question<'_>, counted: &'a Counted<'_>) -> Self {
        let Counted { law, quota, engine, engine_reason, .. } = counted;
        let entries = law.as_ref().map_or(&[][..], PartCounts::entries).iter();
        Self {
            counts: entries.map(|(count, prob)| Entry { count, prob: *prob }).collect(),
            quota_prob: quota.map(|(_, chance)| chance.value),
            quota_prob_se: quota.and_then(|(_, chance)| chance.standard_error),
            estimate: quota.and_then(|(_, chance)| chance.draws).map(Estimate::of),
            kernel: question.input.kernel(),
            engine: EngineAnswer::from(engine).because(engine_reason.as_deref()),
            precision: engine.precision.to_string(),
        }
    }
}
