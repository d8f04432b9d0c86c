//! How a question compares rows.

use partition_dpp::{
    Engine, Features, Law, Partition, RidgeDpp, Subset,
    map::KernelModel,
    similarity::{Bandwidth, Explained, KernelFunction, Rbf, RbfKernel, Representation},
};
use wasm_bindgen::prelude::*;

use crate::{
    items::Items,
    question::{Method, Question, Represent, Scored, Similarity},
};

/// The similarity of a question.
pub(crate) enum Compared {
    /// Products of rows.
    Rows {
        /// The rows as they are alike.
        alike: Features,
        /// The same rows, longer where they represent others.
        law: Features,
    },
    /// A function of two rows.
    Pairs(RbfKernel),
}

impl Compared {
    pub(crate) fn new(question: &Question, items: &Items, engine: &Engine) -> Result<Self, JsError> {
        if question.represent == Some(Represent::Parts) && items.labelled().is_none() {
            let sentence =
                "represent: \"parts\" needs labels, the part of each item; \"all\" stands for all items";
            return Err(JsError::new(sentence));
        }
        let given = &items.rows;
        let alike = match question.similarity {
            Similarity::Dot => given.clone(),
            Similarity::Cosine => given.with_unit_rows()?,
            Similarity::Rbf => {
                let bandwidth = bandwidth(question, given, question.represent.is_some())?;
                if takes_pairs(question) {
                    return Ok(Self::Pairs(RbfKernel::new(given, bandwidth)?));
                }
                Rbf::new(bandwidth).features(given, engine)?.features().clone()
            }
        };
        let parts = match question.represent {
            None => return Ok(Self::Rows { law: alike.clone(), alike }),
            Some(Represent::Parts) => items.partition.clone(),
            Some(Represent::All) => Partition::of((0..given.items()).map(|_| "all"))?,
        };
        let representation = Representation::new(&alike, &parts, engine)?;
        Ok(Self::Rows { law: representation.features(question.representation, engine)?, alike })
    }

    /// ln det of the similarity of a set, with the question's scores and ridge.
    pub(crate) fn log_det(&self, question: &Question, set: &Subset) -> Result<f64, JsError> {
        Ok(match (self, question.ridge) {
            (Self::Pairs(kernel), None) => of_pairs(kernel, question, set)?,
            (Self::Pairs(kernel), Some(delta)) => {
                of_pairs(&kernel.clone().with_ridge(delta)?, question, set)?
            }
            (Self::Rows { law, .. }, None) => weighed(law, question)?.log_det(set)?.value,
            (Self::Rows { law, .. }, Some(delta)) => {
                let law = RidgeDpp::of_any_size(law, delta)?;
                let law = match question.weighing() {
                    Some(Scored { scores, diversity }) => law.with_scores(scores, *diversity)?,
                    None => law,
                };
                law.log_det(set)?.value
            }
        })
    }

    /// The share of all rows, and of every part, that a set explains.
    pub(crate) fn explained(&self, set: &Subset, parts: &Partition) -> Result<Explained, JsError> {
        let engine = Engine::cpu();
        Ok(match self {
            Self::Rows { alike, .. } => alike.explained(set, parts, &engine)?,
            Self::Pairs(kernel) => KernelModel::of_any_size(kernel)?.explained(set, parts, &engine)?,
        })
    }
}

/// The law of rows that a question asks for.
pub(crate) fn law(question: &Question, items: &Items, rows: &Features) -> Result<Law, JsError> {
    let sets = question.sets(items.labelled())?;
    // With a ridge the whole kernel has scores, not the rows.
    let law = match (question.ridge, question.weighing()) {
        (Some(_), Some(Scored { scores, diversity })) => {
            Law::new(rows, &sets, question.ridge)?.with_scores(scores, *diversity)?
        }
        (Some(_), None) => Law::new(rows, &sets, question.ridge)?,
        (None, _) => Law::new(&weighed(rows, question)?, &sets, None)?,
    };
    Ok(law.including(&question.include)?.excluding(&question.exclude)?)
}

/// The bandwidth: the one given, or the median distance; a third of it for sets that stand for others.
pub(crate) fn bandwidth(
    question: &Question,
    rows: &Features,
    stands_for_others: bool,
) -> Result<Bandwidth, JsError> {
    Ok(match question.bandwidth {
        Some(bandwidth) => Bandwidth::Exactly(bandwidth),
        None if stands_for_others => Bandwidth::Exactly(Bandwidth::Median.of(rows)? / 3.0),
        None => Bandwidth::Median,
    })
}

/// Whether a Gaussian kernel is exact, computed from pairs of rows; bounds, samples and representation need features.
fn takes_pairs(question: &Question) -> bool {
    let needs_features = question.represent.is_some() || question.certify || question.is_of_scores_alone();
    question.method == Method::Best && !needs_features
}

/// Rows with the question's scores.
fn weighed(rows: &Features, question: &Question) -> Result<Features, JsError> {
    Ok(match question.weighing() {
        Some(Scored { scores, diversity }) => rows.with_scores(scores, *diversity)?,
        None => rows.clone(),
    })
}

/// ln det of a set.
fn of_pairs(kernel: &dyn KernelFunction, question: &Question, set: &Subset) -> Result<f64, JsError> {
    let model = KernelModel::of_any_size(kernel)?;
    let model = match question.weighing() {
        Some(Scored { scores, diversity }) => model.with_scores(scores, *diversity)?,
        None => model,
    };
    Ok(model.ranking(set)?.iter().map(|&(_, gain)| gain).sum())
}
