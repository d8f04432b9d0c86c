//! Sets of items: a JSON list of lists of indices.

use std::{fs, path::Path};

use partition_dpp::Subset;
use serde_json::Value;

use crate::failure::Failure;

/// Reads sets out of `items` items.
pub(crate) fn read(path: &Path, items: usize) -> Result<Vec<Subset>, Failure> {
    let text = fs::read(path).map_err(|error| Failure::io(path, &error))?;
    let value: Value =
        serde_json::from_slice(&text).map_err(|error| Failure::file(path, format!("not JSON: {error}")))?;
    let Value::Array(sets) = value else {
        return Err(Failure::file(path, format!("{}; a list of lists of indices is needed", kind(&value))));
    };
    let in_set = |number: usize, problem: String| Failure::file(path, format!("set {number}: {problem}"));
    let sets = sets.iter().enumerate();
    sets.map(|(number, set)| subset(set, items).map_err(|problem| in_set(number, problem))).collect()
}

fn subset(set: &Value, items: usize) -> Result<Subset, String> {
    let Value::Array(indices) = set else {
        return Err(format!("{}, not a list of indices", kind(set)));
    };
    let indices = indices.iter().map(index).collect::<Result<_, _>>()?;
    Subset::new(indices, items).map_err(|error| error.to_string())
}

fn index(value: &Value) -> Result<usize, String> {
    let index = value.as_u64().and_then(|index| usize::try_from(index).ok());
    index.ok_or_else(|| match value {
        Value::Number(number) => format!("{number} is not the index of an item"),
        _ => format!("{} is not the index of an item", kind(value)),
    })
}

/// What a value is, in words: its text may be long.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
