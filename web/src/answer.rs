//! What is answered.

use partition_dpp::{
    Subset,
    map::{Solution, Termination},
    sample::DEFAULT_LAW_ERROR,
};
use serde::Serialize;
use wasm_bindgen::prelude::*;
use web_time::Instant;

use crate::{compared::Compared, items::Items, question::Question};

/// A set, and how it was found.
pub(crate) struct Chosen {
    pub(crate) set: Subset,
    exactness: &'static str,
    law_error: Option<f64>,
    upper_bound: Option<f64>,
    termination: Option<Termination>,
}

impl Chosen {
    /// A draw from a law up to an error.
    pub(crate) fn drawn(set: Subset, law_error: f64) -> Self {
        let exactness = if law_error <= DEFAULT_LAW_ERROR { "exact" } else { "rounded" };
        Self { set, exactness, law_error: Some(law_error), upper_bound: None, termination: None }
    }
}

impl TryFrom<Solution> for Chosen {
    type Error = JsError;

    /// Takes what a solver found, unless the set is incomplete.
    fn try_from(found: Solution) -> Result<Self, JsError> {
        let Solution { subset: set, missing, upper_bound, termination, .. } = found;
        if missing > 0 {
            let (found, asked) = (set.len(), set.len() + missing);
            return Err(JsError::new(&format!(
                "only {found} of {asked} items were found ({termination}): all others depend on those chosen"
            )));
        }
        let exactness = if termination == Termination::Optimal { "optimal" } else { "heuristic" };
        Ok(Self { set, exactness, law_error: None, upper_bound, termination: Some(termination) })
    }
}

/// An answer, as JavaScript gets it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer<'a> {
    items: &'a [usize],
    log_det: f64,
    exactness: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    law_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_bound: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    termination: Option<String>,
    explained: f64,
    explained_by_part: Vec<PartAnswer<'a>>,
    seconds: f64,
}

/// The chosen items of a part, and the share of its rows that all chosen items explain.
#[derive(Serialize)]
struct PartAnswer<'a> {
    name: &'a str,
    items: usize,
    chosen: usize,
    explained: f64,
}

/// Describes a set that was chosen since a moment.
pub(crate) fn answered<'a>(
    question: &Question,
    items: &'a Items,
    compared: &Compared,
    chosen: &'a Chosen,
    began: Instant,
) -> Result<Answer<'a>, JsError> {
    let Chosen { set, exactness, law_error, upper_bound, termination } = chosen;
    let parts = &items.partition;
    let shares = compared.explained(set, parts)?;
    let counts = set.part_counts(parts);
    let of_part = |part: usize| PartAnswer {
        name: &parts.names()[part],
        items: parts.size(part),
        chosen: counts[part],
        explained: shares.by_part[part],
    };
    Ok(Answer {
        items: set.as_slice(),
        log_det: compared.log_det(question, set)?,
        exactness,
        law_error: *law_error,
        upper_bound: *upper_bound,
        termination: termination.map(|reason| reason.to_string()),
        explained: shares.total,
        explained_by_part: (0..parts.parts()).map(of_part).collect(),
        seconds: began.elapsed().as_secs_f64(),
    })
}
