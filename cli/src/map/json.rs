//! One JSON object: a contract that scripts rely on.

use std::borrow::Cow;

use serde::Serialize;

use super::{
    answer::{Cover, Found},
    design::Efficiency,
    history::Moment,
};
use crate::{
    input::{Id, KernelAnswer, Worth},
    law::Question,
    output::EngineAnswer,
};

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    set: Cow<'a, [usize]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<Id<'a>>>,
    #[serde(flatten)]
    covered: Option<Cover>,
    log_det: f64,
    upper_bound: Option<f64>,
    gap: Option<f64>,
    #[serde(flatten)]
    efficiency: Option<Efficiency>,
    #[serde(flatten)]
    worth: Option<Worth>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explained: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explained_by_part: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_distance: Option<f64>,
    #[serde(flatten)]
    kernel: KernelAnswer,
    termination: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    survivors: Option<usize>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    history: &'a [Moment],
    solver: String,
    #[serde(flatten)]
    engine: EngineAnswer<'a>,
    seconds: f64,
}

impl<'a> Answer<'a> {
    pub(super) fn new(question: &Question<'a>, found: &'a Found) -> Self {
        let Found { solution, explained, mean_distance, efficiency, history, solver, time, engine_reason } =
            found;
        let by_part = explained.as_ref().and_then(|explained| explained.by_part.as_ref()?.first());
        Self {
            set: question.input.items_of(&solution.subset),
            ids: question.input.ids_of(&solution.subset),
            covered: solution.covered.map(Cover::from),
            log_det: solution.log_det,
            upper_bound: solution.upper_bound,
            gap: solution.gap(),
            efficiency: *efficiency,
            worth: question.input.worth(solution),
            explained: explained.as_ref().and_then(|explained| explained.total.first().copied()),
            explained_by_part: by_part.map(Vec::as_slice),
            mean_distance: *mean_distance,
            kernel: question.input.kernel(),
            termination: solution.termination.to_string().replace(' ', "-"),
            survivors: solution.stats.survivors,
            history,
            solver: solver.to_string(),
            engine: EngineAnswer::from(&solution.engine).because(engine_reason.as_deref()),
            seconds: time.as_secs_f64(),
        }
    }
}
