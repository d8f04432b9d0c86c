//! What is asked.

use std::{collections::BTreeMap, time::Duration};

use partition_dpp::{CountRange, Partition, Sets, Watch, data::QuotaRequest};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::fields::{Fields, read};

/// Kinds of values, in words.
const WHOLE: &str = "a whole number from 0 on";
const ITEMS: &str = "a list of items, whole numbers from 0 on";
const ENTRIES: &str = "text, or an object with a number for every label, or a pair of the least and the most, as in \
    { cat: 2, dog: [1, 3], bird: [0, null] }";

/// What to choose.
pub(crate) struct Question {
    k: Option<usize>,
    quota: Option<QuotaRequest>,
    pub(crate) similarity: Similarity,
    pub(crate) bandwidth: Option<f64>,
    pub(crate) ridge: Option<f64>,
    pub(crate) represent: Option<Represent>,
    /// The exponent of `represent`.
    pub(crate) representation: f64,
    pub(crate) scored: Option<Scored>,
    pub(crate) include: Vec<usize>,
    pub(crate) exclude: Vec<usize>,
    pub(crate) method: Method,
    pub(crate) certify: bool,
    /// When to end the work.
    pub(crate) watch: Watch,
    pub(crate) seed: u64,
}

/// How similar two rows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Similarity {
    #[default]
    Cosine,
    Dot,
    Rbf,
}

/// The items that sets represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Represent {
    Parts,
    All,
}

/// How a set is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
    #[default]
    Sample,
    Best,
}

/// Scores, and the weight of diversity against them.
pub(crate) struct Scored {
    pub(crate) scores: Vec<f64>,
    pub(crate) diversity: f64,
}

/// An entry of a quota.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Count(usize),
    Range(usize, Option<usize>),
}

impl Question {
    /// Reads a question, and refuses what contradicts itself.
    pub(crate) fn read(object: &JsValue) -> Result<Self, JsError> {
        let mut fields = Fields::of(object)?;
        let k = fields.read("k", WHOLE)?;
        let quota = fields.value("quota").map(read_quota).transpose()?;
        let similarity = fields.read("similarity", "\"cosine\", \"dot\" or \"rbf\"")?.unwrap_or_default();
        let bandwidth = fields.read("bandwidth", "a number")?;
        let ridge = fields.read("ridge", "a number")?;
        let represent = fields.read("represent", "\"parts\" or \"all\"")?;
        let representation: Option<f64> = fields.read("representation", "a number")?;
        let scores: Option<Vec<f64>> = fields.read("scores", "a list of numbers")?;
        let diversity: Option<f64> = fields.read("diversity", "a number")?;
        let include = fields.read("include", ITEMS)?.unwrap_or_default();
        let exclude = fields.read("exclude", ITEMS)?.unwrap_or_default();
        let method = fields.read("method", "\"sample\" or \"best\"")?.unwrap_or_default();
        let certify = fields.read("certify", "true or false")?.unwrap_or_default();
        let limit = fields.value("timeLimit").as_ref().map(read_limit).transpose()?;
        let seed = fields.read("seed", WHOLE)?.unwrap_or_default();
        fields.finish()?;
        let are_scores_alone = diversity == Some(0.0);
        let refused = [
            (
                bandwidth.is_some() && similarity != Similarity::Rbf,
                "a bandwidth is for the similarity \"rbf\"",
            ),
            (
                representation.is_some() && represent.is_none(),
                "representation is for represent, what sets stand for: \"parts\" or \"all\"",
            ),
            (diversity.is_some() && scores.is_none(), "diversity needs scores, one number per item"),
            (certify && method == Method::Sample, "certify is for the method \"best\""),
            (certify && ridge.is_some(), "a bound takes no ridge: leave out certify or the ridge"),
            (
                are_scores_alone && method == Method::Sample,
                "a diversity of 0 leaves nothing to chance: the method \"best\" finds the top scores",
            ),
            (
                are_scores_alone && (certify || ridge.is_some()),
                "a diversity of 0 asks for the top scores, which take no certify or ridge",
            ),
        ];
        if let Some((_, sentence)) = refused.into_iter().find(|(applies, _)| *applies) {
            return Err(JsError::new(sentence));
        }
        let scored = scores.map(|scores| Scored { scores, diversity: diversity.unwrap_or(0.5) });
        let representation = representation.unwrap_or(1.0);
        let watch = limit.map_or_else(Watch::default, |limit| Watch::default().within(limit));
        Ok(Self {
            k,
            quota,
            similarity,
            bandwidth,
            ridge,
            represent,
            representation,
            scored,
            include,
            exclude,
            method,
            certify,
            watch,
            seed,
        })
    }

    /// The sets that are allowed, before conditions; `parts` of the labels, if there are any.
    pub(crate) fn sets(&self, parts: Option<&Partition>) -> Result<Sets, JsError> {
        let Some(request) = &self.quota else { return Ok(self.k.map_or(Sets::OfAnySize, Sets::OfSize)) };
        let parts = parts.ok_or_else(|| JsError::new("a quota needs labels, the part of each item"))?;
        if self.k.is_none() && matches!(request, QuotaRequest::Equal | QuotaRequest::Proportional) {
            let sentence = format!("the quota \"{request}\" needs k, the number of items in all");
            return Err(JsError::new(&sentence));
        }
        Ok(Sets::Quota(parts.clone(), request.resolve(parts, self.k)?))
    }

    /// Whether only scores count, not similarity.
    pub(crate) fn is_of_scores_alone(&self) -> bool {
        self.scored.as_ref().is_some_and(|scored| scored.diversity == 0.0)
    }

    /// The scores that determinants are weighed with.
    pub(crate) fn weighing(&self) -> Option<&Scored> {
        self.scored.as_ref().filter(|scored| scored.diversity != 0.0)
    }
}

/// A quota: text, or an object with the entries by label.
fn read_quota(value: JsValue) -> Result<QuotaRequest, JsError> {
    if let Some(text) = value.as_string() {
        return Ok(text.parse()?);
    }
    let entries: BTreeMap<String, Entry> = read("quota", ENTRIES, value)?;
    Ok(QuotaRequest::Named(entries.into_iter().map(|(name, entry)| (name, entry.range())).collect()))
}

/// A time limit in seconds.
fn read_limit(value: &JsValue) -> Result<Duration, JsError> {
    let limit = value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit.ok_or_else(|| JsError::new("timeLimit must be a number of seconds from 0 on"))
}

impl Entry {
    fn range(self) -> CountRange {
        match self {
            Self::Count(count) => count.into(),
            Self::Range(low, high) => (low..=high.unwrap_or(usize::MAX)).into(),
        }
    }
}
