//! The best set.

use partition_dpp::{
    Engine, Law,
    map::{KernelModel, LocalSearch, Objective, Solution, Solver, TopScores, UpperBound},
    similarity::{DotKernel, KernelFunction},
};
use wasm_bindgen::prelude::*;

use crate::{
    answer::Chosen,
    compared::{Compared, law},
    items::Items,
    question::{Question, Scored},
};

/// Searches for the best set: a greedy set, and swaps until none improves it.
pub(crate) fn search(
    question: &Question,
    items: &Items,
    compared: &Compared,
    engine: &Engine,
) -> Result<Chosen, JsError> {
    let found = match (compared, question.ridge) {
        (Compared::Pairs(kernel), None) => of_pairs(kernel, question, items, engine)?,
        (Compared::Pairs(kernel), Some(delta)) => {
            of_pairs(&kernel.clone().with_ridge(delta)?, question, items, engine)?
        }
        (Compared::Rows { law, .. }, Some(delta)) => {
            of_pairs(&DotKernel::new(law).with_ridge(delta)?, question, items, engine)?
        }
        (Compared::Rows { law: rows, .. }, None) => match law(question, items, rows)? {
            Law::Quota(dpp) => of_rows(&dpp, question, engine)?,
            Law::Size(dpp) => of_rows(&dpp, question, engine)?,
            Law::AnySize(dpp) => of_rows(&dpp, question, engine)?,
            _ => unreachable!("laws without a ridge are these"),
        },
    };
    found.try_into()
}

fn of_rows(model: &impl Objective, question: &Question, engine: &Engine) -> Result<Solution, JsError> {
    if let Some(Scored { scores, .. }) = question.scored.as_ref().filter(|_| question.is_of_scores_alone()) {
        return Ok(TopScores::new(&scores[..]).solve(model, engine)?);
    }
    let found = LocalSearch::default().solve(model, engine)?;
    if !question.certify || found.upper_bound.is_some() || found.missing > 0 {
        return Ok(found);
    }
    Ok(found.certified(&UpperBound::default().certify(model, engine)?))
}

fn of_pairs(
    kernel: &dyn KernelFunction,
    question: &Question,
    items: &Items,
    engine: &Engine,
) -> Result<Solution, JsError> {
    let model = KernelModel::over(kernel, &question.sets(items.labelled())?)?;
    let model = model.including(&question.include)?.excluding(&question.exclude)?;
    let model = match question.weighing() {
        Some(Scored { scores, diversity }) => model.with_scores(scores, *diversity)?,
        None => model,
    };
    Ok(LocalSearch::default().solve(&model, engine)?)
}
