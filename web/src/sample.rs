//! Random sets of the law.

use partition_dpp::{Engine, Method};
use wasm_bindgen::prelude::*;

use crate::{
    answer::Chosen,
    compared::{Compared, law},
    items::Items,
    question::Question,
};

/// Draws a set exactly.
pub(crate) fn draw(question: &Question, items: &Items, compared: &Compared) -> Result<Chosen, JsError> {
    let Compared::Rows { law: rows, .. } = compared else { unreachable!("draws are from rows") };
    let sampler = law(question, items, rows)?.sampler(Method::Auto, &Engine::cpu())?;
    let drawn = sampler.sample_many(1, question.seed).into_iter().next();
    drawn.map(Chosen::drawn).ok_or_else(|| JsError::new("nothing was drawn"))
}
