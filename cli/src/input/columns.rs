//! Columns by name.

use std::path::Path;

use super::csv::{Row, shorten};
use crate::failure::Failure;

/// The most names that a message lists.
const MOST: usize = 10;

pub(super) fn names_of<'r>(header: &'r Row<'_>) -> Result<Vec<&'r str>, Failure> {
    (0..header.len()).map(|column| header.text(column)).collect()
}

/// The index of the column with a name, or of the only column; `option` names one of several.
pub(super) fn choose(
    names: &[&str],
    path: &Path,
    wanted: Option<&str>,
    option: &str,
) -> Result<usize, Failure> {
    wanted.map_or_else(|| only(names, path, option), |name| find(names, path, name))
}

fn only(names: &[&str], path: &Path, option: &str) -> Result<usize, Failure> {
    match names.len() {
        1 => Ok(0),
        several => {
            let listed = list(names.to_vec());
            let problem = format!("there are {several} columns ({listed}); choose one with {option}");
            Err(Failure::file(path, problem))
        }
    }
}

/// The index of the column with this name.
pub(super) fn find(names: &[&str], path: &Path, wanted: &str) -> Result<usize, Failure> {
    let mut matches = (0..names.len()).filter(|&column| names[column] == wanted);
    match (matches.next(), matches.next()) {
        (Some(column), None) => Ok(column),
        (Some(first), Some(second)) => {
            let problem = match wanted {
                "" => format!("columns {first} and {second} have no name"),
                name => {
                    format!("columns {first} and {second} have the same name, {}", shorten(name.as_bytes()))
                }
            };
            Err(Failure::file(path, problem))
        }
        (None, _) => {
            let mut nearest = names.to_vec();
            if names.len() > MOST {
                nearest.sort_by_cached_key(|name| strsim::damerau_levenshtein(name, wanted));
            }
            let (wanted, listed) = (shorten(wanted.as_bytes()), list(nearest));
            Err(Failure::file(path, format!("there is no column '{wanted}'; the columns are {listed}")))
        }
    }
}

/// The first few names.
pub(crate) fn list(names: Vec<&str>) -> String {
    let more = names.len().saturating_sub(MOST);
    let shown = names.into_iter().take(MOST).map(|name| match name {
        "" => "''".to_owned(),
        name => shorten(name.as_bytes()),
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown}, … and {} more", thousands(more)) } else { shown }
}

/// With a space between thousands.
pub(crate) fn thousands(number: usize) -> String {
    match (number / 1000, number % 1000) {
        (0, units) => units.to_string(),
        (thousand, units) => format!("{} {units:03}", thousands(thousand)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_few_in_a_message() {
        assert_eq!(list(vec!["a", "", "c"]), "a, '', c");
        let names: Vec<String> = (0..2001).map(|column| format!("c{column}")).collect();
        let listed = list(names.iter().map(String::as_str).collect());
        assert_eq!(listed, "c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, … and 1 991 more");
        let found = [7, 1000, 12_345, 1_234_567].map(thousands);
        assert_eq!(found, ["7", "1 000", "12 345", "1 234 567"]);
    }
}
