//! What the integration tests share: data, oracles that use none of the library's numerics, and comparisons with them.
#![allow(clippy::needless_range_loop, reason = "oracles index as their formulas do")]
#![allow(unreachable_pub, reason = "a module of test binaries")]
#![allow(dead_code, reason = "every test binary uses its own part of this module")]

pub mod checked;
#[macro_use]
pub mod conditions;
#[cfg(feature = "gpu")]
#[macro_use]
pub mod engines;
#[cfg(feature = "npy")]
pub mod faces;
pub mod grid;
pub mod local_search;
pub mod models;
pub mod naive;
pub mod npy;
pub mod oracle;
pub mod random;
pub mod ranges;
pub mod rounding;
pub mod solvers;
pub mod stats;
pub mod synthetic;
pub mod table;
pub mod truth;
pub mod unconstrained;
pub mod watches;

use std::path::PathBuf;

use serde_json::Value;

/// Matches an error by variant and fields, and looks for texts in its one-line message.
#[allow(unused_macros, reason = "not every test binary provokes errors")]
macro_rules! assert_error {
    ($result:expr, $pattern:pat $(if $guard:expr)?, [$($text:expr),*]) => {{
        let error: partition_dpp::Error = $result.expect_err("an error was expected");
        let message = error.to_string();
        assert!(matches!(error, $pattern $(if $guard)?), "{error:?}");
        for text in [$($text),*] {
            assert!(message.contains(text), "{text:?} is not in {message:?}");
        }
        assert!(!message.contains('\n') && message.len() > 10, "{message:?}");
    }};
}

/// A case of `known-answers.json`: computed elsewhere, without floating point.
pub struct Case {
    pub name: String,
    /// Rows of A, or of K for a dense case.
    pub rows: Vec<Vec<f64>>,
    pub dense: bool,
    pub labels: Vec<usize>,
    pub quota: Vec<usize>,
    pub log_z: f64,
    /// Empty where enumeration was too long.
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

    /// The features, or the library's factor of the dense kernel.
    pub fn features(&self) -> partition_dpp::Features {
        if self.dense {
            partition_dpp::Kernel::from_dense(self.items(), &self.flat()).unwrap().features().clone()
        } else {
            partition_dpp::Features::from_rows(self.items(), self.rows[0].len(), self.flat()).unwrap()
        }
    }

    pub fn oracle(&self) -> oracle::Determinants {
        if self.dense {
            oracle::Determinants::of_kernel(self.rows.clone())
        } else {
            oracle::Determinants::of_features(self.rows.clone())
        }
    }
}

/// All cases.
pub fn known_answers() -> Vec<Case> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/known-answers.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    file["cases"].as_array().unwrap().iter().map(parse_case).collect()
}

/// The cases whose subsets were enumerated.
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

/// A folder of real data, or `None` (with a note) where it is absent.
pub fn real_data(folder: &str) -> Option<PathBuf> {
    let root = std::env::var_os("PDPP_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")), PathBuf::from);
    let path = root.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("SKIPPED: no {} (set PDPP_DATA to the data folder)", path.display());
    None
}

/// Runs `body` with this many threads.
#[cfg(feature = "parallel")]
pub fn with_threads<T: Send>(threads: usize, body: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(body)
}

/// Without the `parallel` feature there is one thread.
#[cfg(not(feature = "parallel"))]
pub fn with_threads<T: Send>(_threads: usize, body: impl FnOnce() -> T + Send) -> T {
    body()
}
