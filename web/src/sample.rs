//! Random sets of the law.

use partition_dpp::{Engine, Method};
use wasm_bindgen::prelude::*;

use crate::{
    answer::Chosen,
    compared::{Compared, law},
    items::Items,
    question::Question,
};

/// Draws a set.
pub(crate) fn draw(
    question: &Question,
    items: &Items,
    compared: &Compared,
    engine: &Engine,
) -> Result<Chosen, JsError> {
    let Compared::Rows { law: rows, .. } = compared else { unreachable!("draws are from rows") };
    let sampler = law(question, items, rows)?.sampler(Method::Auto, engine)?;
    let drawn = sampler.sample_watched(0..1, question.seed, &question.watch)?;
    match drawn.ended() {
        Some(ended) => Err(ended.into()),
        None => Ok(Chosen::drawn(drawn.subsets()[0].clone(), sampler.law_error())),
    }
}
