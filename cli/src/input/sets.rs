//! Sets of items: a JSON list of lists of indices.

use std::{
    fmt,
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use partition_dpp::Subset;
use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::Value;

use super::columns::thousands;
use crate::failure::Failure;

/// The most bytes of a file.
const MOST_BYTES: usize = 100_000_000;
/// The most indices in a file.
const MOST_INDICES: usize = 10_000_000;

/// Reads sets of `items` items.
pub(crate) fn read(path: &Path, items: usize) -> Result<Vec<Subset>, Failure> {
    if path.is_dir() {
        return Err(Failure::file(path, "this is a folder"));
    }
    let file = File::open(path).map_err(|error| Failure::io(path, &error))?;
    let mut text = Vec::new();
    let limited = BufReader::new(file).take(MOST_BYTES as u64 + 1);
    { limited }.read_to_end(&mut text).map_err(|error| Failure::io(path, &error))?;
    from_text(&text, items).map_err(|problem| Failure::file(path, problem))
}

/// Reads sets from text.
pub(crate) fn from_text(text: &[u8], items: usize) -> Result<Vec<Subset>, String> {
    parse(text, items, [MOST_BYTES, MOST_INDICES])
}

fn parse(text: &[u8], items: usize, [most_bytes, most_indices]: [usize; 2]) -> Result<Vec<Subset>, String> {
    if text.len() > most_bytes {
        let limit = thousands(most_bytes);
        return Err(format!(
            "more than {limit} bytes, the most allowed; divide the sets among several files"
        ));
    }
    // Every index except the first follows a comma, which bounds the number of indices.
    let indices = text.split(|&byte| byte == b',').count();
    if indices > most_indices {
        let (indices, limit) = (thousands(indices), thousands(most_indices));
        return Err(format!(
            "about {indices} indices; at most {limit} are allowed; divide the sets among several files"
        ));
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    let mut problem = None;
    let sets = Sets { items, problem: &mut problem }.deserialize(&mut reader);
    let sets = sets.and_then(|sets| reader.end().map(|()| sets));
    sets.map_err(|error| problem.unwrap_or_else(|| format!("not JSON: {error}")))
}

/// Reads set by set, so that at most one is held as a list of values.
struct Sets<'p> {
    items: usize,
    /// The fault of sets that are valid JSON.
    problem: &'p mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Sets<'_> {
    type Value = Vec<Subset>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Subset>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Visitors of anything but a list, which refuse it.
macro_rules! refuse {
    ($($visit:ident: $type:ty, $kind:literal;)*) => {
        $(fn $visit<E: serde::de::Error>(self, _: $type) -> Result<Vec<Subset>, E> {
            self.refuse($kind)
        })*
    };
}

impl<'de> Visitor<'de> for Sets<'_> {
    type Value = Vec<Subset>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of lists of indices")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Subset>, A::Error> {
        let mut sets = Vec::new();
        while let Some(set) = list.next_element::<Value>()? {
            match subset(&set, self.items) {
                Ok(set) => sets.push(set),
                Err(problem) => {
                    *self.problem = Some(format!("set {}: {problem}", sets.len()));
                    return Err(A::Error::custom(""));
                }
            }
        }
        Ok(sets)
    }

    refuse! {
        visit_bool: bool, "a boolean";
        visit_i64: i64, "a number";
        visit_u64: u64, "a number";
        visit_f64: f64, "a number";
        visit_str: &str, "a string";
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Vec<Subset>, E> {
        self.refuse("null")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, _: A) -> Result<Vec<Subset>, A::Error> {
        self.refuse("an object")
    }
}

impl Sets<'_> {
    fn refuse<E: serde::de::Error>(self, kind: &str) -> Result<Vec<Subset>, E> {
        *self.problem = Some(format!("{kind}; a list of lists of indices is needed"));
        Err(E::custom(""))
    }
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

/// The type of a value, in words; the value itself may be long.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_told() {
        let limited = |text: &str| parse(text.as_bytes(), 9, [20, 5]);
        assert_eq!(limited("[[0,1], [2,3]]").unwrap().len(), 2);
        assert!(limited("[[0, 1], [2, 3], [4]]").unwrap_err().contains("20 bytes, the most"));
        assert_eq!(limited("[[0,1],[2,3],[4]]").unwrap().len(), 3);
        assert!(
            limited("[[0,1],[2,3],[4,5]]").unwrap_err().contains("about 6 indices; at most 5 are allowed")
        );
    }
}
