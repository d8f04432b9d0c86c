//! Sets that cover all items.

use partition_dpp::{
    Engine, Features, Sets,
    map::{Coverage, KernelModel, Solver},
    similarity::{DotKernel, KernelFunction, RbfKernel},
};
use wasm_bindgen::prelude::*;

use crate::{
    answer::Chosen,
    compared::bandwidth,
    items::Items,
    question::{Question, Similarity},
};

/// Finds a set with an item similar to every other one: of its part, if there are labels.
pub(crate) fn find(question: &Question, items: &Items, engine: &Engine) -> Result<Chosen, JsError> {
    let sets = question.sets(items.labelled())?;
    if matches!(sets, Sets::OfAnySize) {
        return Err(JsError::new("medoids need k or a quota: otherwise the set of all items covers most"));
    }
    let kernel = kernel(question, &items.rows)?;
    let model = KernelModel::over(&*kernel, &sets)?;
    let model = model.including(&question.include)?.excluding(&question.exclude)?;
    let coverage = items.labelled().map_or_else(Coverage::of_all, Coverage::within);
    coverage.with_swaps().solve(&model, engine)?.try_into()
}

fn kernel(question: &Question, rows: &Features) -> Result<Box<dyn KernelFunction>, JsError> {
    Ok(match question.similarity {
        Similarity::Dot => Box::new(DotKernel::new(rows)),
        Similarity::Cosine => Box::new(DotKernel::new(&rows.with_unit_rows()?)),
        Similarity::Rbf => Box::new(RbfKernel::new(rows, bandwidth(question, rows, true)?)?),
    })
}
