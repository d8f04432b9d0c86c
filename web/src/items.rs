//! Items, as JavaScript holds them.

use js_sys::{Float32Array, Float64Array};
use partition_dpp::{Engine, Features, Partition};
use serde::Serialize;
use wasm_bindgen::prelude::*;
use web_time::Instant;

use crate::{
    AQuestion, AnAnswer, Parts, Values,
    answer::{Chosen, answered},
    best,
    compared::Compared,
    medoids, principal,
    question::{Method, Question},
    random, sample,
};

/// Items with a row of numbers each, and their parts.
#[wasm_bindgen]
pub struct Items {
    pub(crate) rows: Features,
    /// One part of all items without labels.
    pub(crate) partition: Partition,
    has_labels: bool,
}

#[derive(Serialize)]
struct Part<'a> {
    name: &'a str,
    size: usize,
}

#[wasm_bindgen]
impl Items {
    /// Takes rows of `dims` numbers, one row after the other, and the label of every row, if there are labels.
    #[wasm_bindgen(constructor)]
    pub fn new(values: &Values, dims: usize, labels: Option<Vec<String>>) -> Result<Items, JsError> {
        let rows = features(values, dims)?;
        let items = rows.items();
        let (partition, has_labels) = match labels {
            Some(labels) if labels.len() != items => {
                let sentence = format!("there are {} labels for {items} items", labels.len());
                return Err(JsError::new(&sentence));
            }
            Some(labels) => (of_labels(&labels)?, true),
            None => (Partition::of((0..items).map(|_| "all items"))?, false),
        };
        Ok(Self { rows, partition, has_labels })
    }

    /// Number of items.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn length(&self) -> usize {
        self.rows.items()
    }

    /// Numbers per row.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn dims(&self) -> usize {
        self.rows.dims()
    }

    /// The parts in the order of their labels, which is numeric if all labels are integers; none without labels.
    #[wasm_bindgen(getter)]
    pub fn parts(&self) -> Result<Parts, JsError> {
        let parts = self.labelled().map_or(0, Partition::parts);
        let part =
            |part: usize| Part { name: &self.partition.names()[part], size: self.partition.size(part) };
        let parts: Vec<Part<'_>> = (0..parts).map(part).collect();
        Ok(serde_wasm_bindgen::to_value(&parts)?.unchecked_into())
    }

    /// Chooses a set.
    pub fn select(&self, question: &AQuestion) -> Result<AnAnswer, JsError> {
        self.select_on(&Engine::cpu(), question)
    }

    /// Draws a uniformly random set, for comparison. The question fixes the number of items of every part, or `k`.
    pub fn random(&self, question: &AQuestion) -> Result<AnAnswer, JsError> {
        self.answer(&Engine::cpu(), question, |question, _, _| random::draw(question, self))
    }

    /// Finds medoids, for comparison: a set with an item similar to every other one. The question has `k` or a quota.
    /// What is chosen depends on similarity, bandwidth, `include` and `exclude` besides.
    pub fn medoids(&self, question: &AQuestion) -> Result<AnAnswer, JsError> {
        self.answer(&Engine::cpu(), question, |question, _, engine| medoids::find(question, self, engine))
    }

    /// Returns the coordinates of all items along their two leading principal components: x and y of every item.
    #[must_use]
    pub fn map(&self) -> Vec<f32> {
        principal::coordinates(&self.rows)
    }
}

impl Items {
    /// The parts, if there are labels.
    pub(crate) fn labelled(&self) -> Option<&Partition> {
        self.has_labels.then_some(&self.partition)
    }

    /// Chooses a set with an engine.
    pub(crate) fn select_on(&self, engine: &Engine, question: &JsValue) -> Result<AnAnswer, JsError> {
        self.answer(engine, question, |question, compared, engine| match question.method {
            Method::Sample => sample::draw(question, self, compared, engine),
            Method::Best => best::search(question, self, compared, engine),
        })
    }

    /// Reads a question, lets `choose` answer it, and describes the set.
    fn answer(
        &self,
        engine: &Engine,
        question: &JsValue,
        choose: impl FnOnce(&Question, &Compared, &Engine) -> Result<Chosen, JsError>,
    ) -> Result<AnAnswer, JsError> {
        let began = Instant::now();
        let question = Question::read(question)?;
        let engine = engine.watched(&question.watch);
        let compared = Compared::new(&question, self, &engine)?;
        let chosen = choose(&question, &compared, &engine)?;
        let answer = answered(&question, self, &compared, &chosen, began)?;
        Ok(serde_wasm_bindgen::to_value(&answer)?.unchecked_into())
    }
}

fn features(values: &JsValue, dims: usize) -> Result<Features, JsError> {
    if let Some(values) = values.dyn_ref::<Float32Array>() {
        let items = items(values.length(), 4.0, dims)?;
        return Ok(Features::from_rows(items, dims, values.to_vec())?);
    }
    match values.dyn_ref::<Float64Array>() {
        Some(values) => {
            let items = items(values.length(), 8.0, dims)?;
            Ok(Features::from_rows(items, dims, values.to_vec())?)
        }
        None => Err(JsError::new("the values of rows are a Float32Array or a Float64Array")),
    }
}

/// The number of rows of so many values, which WebAssembly must have room for.
fn items(values: u32, bytes_per_value: f64, dims: usize) -> Result<usize, JsError> {
    let gigabytes = f64::from(values) * bytes_per_value / 1e9;
    if gigabytes > 2.0 {
        let sentence = format!("the rows take {gigabytes:.1} GB; at most 2 GB fit into a browser");
        return Err(JsError::new(&sentence));
    }
    Ok((values as usize).checked_div(dims).unwrap_or_default())
}

/// The parts in numeric order if all labels are integers, otherwise in the order of their text.
fn of_labels(labels: &[String]) -> Result<Partition, JsError> {
    let numbers: Option<Vec<i128>> = labels.iter().map(|label| label.parse().ok()).collect();
    Ok(match numbers {
        Some(numbers) => {
            Partition::from_labels_by(&numbers.into_iter().zip(labels).collect::<Vec<_>>(), |(_, label)| {
                (*label).clone()
            })?
        }
        None => Partition::from_labels(labels)?,
    })
}
