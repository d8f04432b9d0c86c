//! One JSON object: a contract that scripts rely on.

use std::{borrow::Cow, io::Write};

use partition_dpp::{Estimate, sample::LogInterval};
use serde::Serialize;

use super::answer::{Estimated, Inferred};
use crate::{
    failure::Failure,
    input::KernelAnswer,
    law::Question,
    output::{self, EngineAnswer},
};

/// Prints the object.
pub(super) fn print(
    question: &Question<'_>,
    inferred: &Inferred,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    match &inferred.estimated {
        Some(estimated) => output::print_json(out, &EstimatedAnswer::new(question, inferred, estimated)),
        None => output::print_json(out, &ExactAnswer::new(question, inferred)),
    }
}

#[derive(Serialize)]
struct ExactAnswer<'a> {
    log_z: f64,
    log_z_error: f64,
    marginals: Cow<'a, [f64]>,
    /// The largest of all entries.
    marginals_error: f64,
    /// `None` for probability zero.
    log_probs: Vec<Option<f64>>,
    /// The largest of all entries.
    log_probs_error: f64,
    #[serde(flatten)]
    common: Common<'a>,
}

#[derive(Serialize)]
struct EstimatedAnswer<'a> {
    log_z: f64,
    log_z_se: f64,
    log_z_upper: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_z_interval: Option<Interval>,
    marginals: Cow<'a, [f64]>,
    marginals_se: Cow<'a, [f64]>,
    /// `None` for probability zero.
    log_probs: Vec<Option<f64>>,
    /// The largest of all entries.
    log_probs_se: f64,
    exactness: &'static str,
    draws: u64,
    effective_share: f64,
    /// `None` for equal weights.
    pareto_k: Option<f64>,
    /// Why draws ended before the standard error or the interval wanted, if a limit or Ctrl-C ended them.
    ended: Option<String>,
    #[serde(flatten)]
    common: Common<'a>,
}

/// An interval of log Z that is proven.
#[derive(Serialize)]
struct Interval {
    low: f64,
    high: f64,
    confidence: f64,
    acceptances: u64,
    proposals: u64,
}

impl Interval {
    fn of(&LogInterval { low, high, confidence, acceptances, proposals, .. }: &LogInterval) -> Self {
        Self { low, high, confidence, acceptances, proposals }
    }
}

/// The fields of both.
#[derive(Serialize)]
struct Common<'a> {
    /// Of every set: the share of the squared length of all rows that it explains.
    #[serde(skip_serializing_if = "Option::is_none")]
    explained: Option<&'a [f64]>,
    /// Of every set and part.
    #[serde(skip_serializing_if = "Option::is_none")]
    explained_by_part: Option<&'a [Vec<f64>]>,
    #[serde(flatten)]
    kernel: KernelAnswer,
    #[serde(flatten)]
    engine: EngineAnswer<'a>,
    precision: String,
}

impl<'a> Common<'a> {
    fn new(question: &Question<'_>, inferred: &'a Inferred) -> Self {
        let precision = inferred.engine.precision.to_string();
        let engine = EngineAnswer::from(&inferred.engine).because(inferred.engine_reason.as_deref());
        let shares = inferred.explained.as_ref();
        Self {
            explained: shares.map(|shares| &shares.total[..]),
            explained_by_part: shares.and_then(|shares| shares.by_part.as_deref()),
            kernel: question.input.kernel(),
            engine,
            precision,
        }
    }
}

impl<'a> ExactAnswer<'a> {
    fn new(question: &Question<'_>, inferred: &'a Inferred) -> Self {
        let (marginals, marginals_error) = match question.input.marginals(&inferred.marginals) {
            Cow::Borrowed(Estimate { value, error }) => (Cow::Borrowed(&value[..]), *error),
            Cow::Owned(Estimate { value, error }) => (Cow::Owned(value), error),
        };
        Self {
            log_z: inferred.log_z.value,
            log_z_error: inferred.log_z.error,
            marginals,
            marginals_error,
            log_probs: log_probs(inferred),
            log_probs_error: inferred.largest_log_prob_error(),
            common: Common::new(question, inferred),
        }
    }
}

impl<'a> EstimatedAnswer<'a> {
    fn new(question: &Question<'_>, inferred: &'a Inferred, estimated: &'a Estimated) -> Self {
        let of_items = |of_rows: &'a [f64]| match &question.input.copies {
            // Of a sum, at most the sum.
            Some(copies) => {
                let of_rows = Estimate { value: of_rows.to_vec(), error: 0.0 };
                Cow::Owned(copies.inclusion_probabilities(&of_rows).value)
            }
            None => Cow::Borrowed(of_rows),
        };
        let statistics = &estimated.draws.statistics;
        Self {
            log_z: inferred.log_z.value,
            log_z_se: inferred.log_z.error,
            log_z_upper: estimated.log_z_upper,
            log_z_interval: estimated
                .interval
                .as_ref()
                .and_then(|found| found.as_ref().ok())
                .map(Interval::of),
            marginals: of_items(&inferred.marginals.value),
            marginals_se: of_items(&estimated.marginals_se),
            log_probs: log_probs(inferred),
            log_probs_se: inferred.largest_log_prob_error(),
            exactness: "estimated",
            draws: statistics.draws,
            effective_share: statistics.effective_share,
            pareto_k: statistics.pareto_k,
            ended: estimated.ended(),
            common: Common::new(question, inferred),
        }
    }
}

fn log_probs(inferred: &Inferred) -> Vec<Option<f64>> {
    inferred.log_probs.iter().map(|log| log.value.is_finite().then_some(log.value)).collect()
}
