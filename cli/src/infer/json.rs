//! One JSON object: a contract that scripts rely on.

use std::borrow::Cow;

use partition_dpp::Estimate;
use serde::Serialize;

use super::answer::Inferred;
use crate::{law::Question, output::EngineAnswer};

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    log_z: f64,
    log_z_error: f64,
    marginals: Cow<'a, [f64]>,
    /// The largest of all entries.
    marginals_error: f64,
    /// `None` for probability zero.
    log_probs: Vec<Option<f64>>,
    /// The largest of all entries.
    log_probs_error: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_error: Option<f64>,
    #[serde(flatten)]
    engine: EngineAnswer<'a>,
    precision: String,
}

impl<'a> Answer<'a> {
    pub(super) fn new(question: &Question<'_>, inferred: &'a Inferred) -> Self {
        let Inferred { log_z, marginals, log_probs, engine, .. } = inferred;
        let (marginals, marginals_error) = match question.input.marginals(marginals) {
            Cow::Borrowed(Estimate { value, error }) => (Cow::Borrowed(&value[..]), *error),
            Cow::Owned(Estimate { value, error }) => (Cow::Owned(value), error),
        };
        Self {
            log_z: log_z.value,
            log_z_error: log_z.error,
            marginals,
            marginals_error,
            log_probs: log_probs.iter().map(|log| log.value.is_finite().then_some(log.value)).collect(),
            log_probs_error: inferred.largest_log_prob_error(),
            kernel_error: question.input.kernel_error,
            engine: engine.into(),
            precision: engine.precision.to_string(),
        }
    }
}
