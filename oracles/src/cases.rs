//! Problems with known answers that were computed independently.

use partition_dpp::{Features, Kernel};
use serde_json::Value;

use crate::{exact::Minors, oracle::Determinants, repository};

/// A case of `known-answers.json`, computed independently and without floating point.
pub struct Case {
    pub name: String,
    /// Rows of A, or of K for a dense case.
    pub rows: Vec<Vec<f64>>,
    pub dense: bool,
    pub labels: Vec<usize>,
    pub quota: Vec<usize>,
    pub log_z: f64,
    /// Empty if enumeration takes too long.
    pub marginals: Vec<f64>,
    pub log_probs: Vec<(Vec<usize>, f64)>,
    /// The most probable set and its ln det.
    pub map: Option<(Vec<usize>, f64)>,
}

impl Case {
    pub fn items(&self) -> usize {
        self.rows.len()
    }

    pub fn flat(&self) -> Vec<f64> {
        self.rows.concat()
    }

    /// Returns the features, or the library's factor of the dense kernel.
    pub fn features(&self) -> Features {
        if self.dense {
            Kernel::from_dense(self.items(), &self.flat()).unwrap().features().clone()
        } else {
            Features::from_rows(self.items(), self.rows[0].len(), self.flat()).unwrap()
        }
    }

    pub fn minors(&self) -> Minors {
        if self.dense { Minors::of_kernel(&self.rows) } else { Minors::of_features(&self.rows) }
    }

    pub fn oracle(&self) -> Determinants {
        if self.dense {
            Determinants::of_kernel(self.rows.clone())
        } else {
            Determinants::of_features(self.rows.clone())
        }
    }
}

/// Returns all cases.
pub fn known_answers() -> Vec<Case> {
    let text = std::fs::read_to_string(repository().join("tests/data/known-answers.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    file["cases"].as_array().unwrap().iter().map(parse_case).collect()
}

/// Returns the cases whose subsets were enumerated.
pub fn enumerable_cases() -> Vec<Case> {
    let cases: Vec<Case> = known_answers().into_iter().filter(|case| !case.marginals.is_empty()).collect();
    assert_eq!(cases.len(), 15, "every enumerable case must be tested");
    cases
}

fn parse_case(case: &Value) -> Case {
    let floats = |value: &Value| -> Vec<f64> {
        value.as_array().into_iter().flatten().map(|x| x.as_f64().unwrap()).collect()
    };
    let sizes = |value: &Value| -> Vec<usize> {
        value
            .as_array()
            .into_iter()
            .flatten()
            .map(|x| usize::try_from(x.as_u64().unwrap()).unwrap())
            .collect()
    };
    let dense = case.get("kernel").is_some();
    let rows = if dense { &case["kernel"] } else { &case["features"] };
    let sets = case.get("sets").and_then(Value::as_array).cloned().unwrap_or_default();
    let map = case.get("map").map(|map| (sizes(&map["set"]), map["log_det"].as_f64().unwrap()));
    Case {
        map,
        name: case["name"].as_str().unwrap().to_owned(),
        rows: rows.as_array().unwrap().iter().map(floats).collect(),
        dense,
        labels: sizes(&case["labels"]),
        quota: sizes(&case["quota"]),
        log_z: case["log_z"].as_f64().unwrap(),
        marginals: floats(&case["marginals"]),
        log_probs: sets
            .iter()
            .map(|set| (sizes(&set["set"]), set["log_prob"].as_f64().unwrap_or(f64::NEG_INFINITY)))
            .collect(),
    }
}
