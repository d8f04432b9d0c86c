//! The user's names of the items.

use std::{collections::HashMap, path::Path};

use serde::{Serialize, Serializer};

use super::{
    Format,
    arguments::Column,
    csv::{Records, shorten},
    format, npy,
    parquet::{Cell, ParquetFile},
};
use crate::failure::Failure;

/// The id of every item: text, or integers.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    /// All ids, one after the other: millions of strings would take several times as much.
    text: String,
    /// The end of each id.
    ends: Vec<usize>,
    /// Whether they are integers that JSON writes as numbers.
    are_integers: bool,
}

/// An id as JSON: a number if all ids are.
pub(crate) enum Id<'a> {
    Integer(i64),
    Text(&'a str),
}

impl Ids {
    /// Reads the ids from files, one file after the other.
    pub(super) fn read(Column { files, name: column }: Column<'_>) -> Result<Self, Failure> {
        let mut ids = Self { text: String::new(), ends: Vec::new(), are_integers: true };
        for path in files {
            match format(path)? {
                Format::Csv => ids.push_column(path, column)?,
                Format::Npy => npy::read_integers(path, usize::MAX, |id| {
                    ids.push_integer(id);
                    Ok(())
                })?,
                Format::Parquet => ParquetFile::open(path)?.for_each_cell(column, "--id-column", |cell| {
                    match cell {
                        // As .csv files are read.
                        Cell::Text(text) => ids.push(text.trim_ascii()),
                        Cell::Integer(number) => ids.push_integer(number),
                        Cell::Bool(_) | Cell::Real(_) => return Err("ids are text or integers".into()),
                    }
                    Ok(())
                })?,
            }
        }
        Ok(ids)
    }

    fn push_column(&mut self, path: &Path, column: Option<&str>) -> Result<(), Failure> {
        let mut records = Records::open(path)?;
        let column = records.find_column(column, "--id-column")?;
        while let Some(row) = records.next()? {
            match row.text(column)? {
                "" => return Err(row.cell_problem(column, "the cell is empty, and every item needs an id")),
                id => self.push(id),
            }
        }
        Ok(())
    }

    fn push_integer(&mut self, id: i128) {
        self.are_integers &= i64::try_from(id).is_ok();
        self.text.push_str(&id.to_string());
        self.ends.push(self.text.len());
    }

    fn push(&mut self, id: &str) {
        self.are_integers = false;
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    /// Number of ids.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The id of one item.
    pub(crate) fn of(&self, item: usize) -> &str {
        let start = if item == 0 { 0 } else { self.ends[item - 1] };
        &self.text[start..self.ends[item]]
    }

    /// The id of one item, for JSON.
    pub(crate) fn json(&self, item: usize) -> Id<'_> {
        let text = self.of(item);
        match text.parse() {
            Ok(number) if self.are_integers => Id::Integer(number),
            _ => Id::Text(text),
        }
    }

    /// The items with these ids.
    ///
    /// # Errors
    /// For an id that no item has, or several.
    pub(super) fn find(&self, wanted: &[String]) -> Result<Vec<usize>, Failure> {
        let items = self.places(wanted)?;
        let only = |(id, items): (&String, &Vec<usize>)| match items[..] {
            [first, second, ..] => {
                let id = shorten(id.as_bytes());
                Err(Failure::Arguments(format!("items {first} and {second} both have the id '{id}'")))
            }
            _ => Ok(items[0]),
        };
        wanted.iter().zip(&items).map(only).collect()
    }

    /// All items with these ids.
    ///
    /// # Errors
    /// For an id that no item has.
    pub(super) fn find_all(&self, wanted: &[String]) -> Result<Vec<usize>, Failure> {
        Ok(self.places(wanted)?.concat())
    }

    /// For every id the items that have it, at least one.
    fn places(&self, wanted: &[String]) -> Result<Vec<Vec<usize>>, Failure> {
        let mut found: HashMap<&str, Vec<usize>> =
            wanted.iter().map(|id| (id.as_str(), Vec::new())).collect();
        for item in 0..self.len() {
            if let Some(items) = found.get_mut(self.of(item)) {
                items.push(item);
            }
        }
        let of = |id: &String| match &found[id.as_str()][..] {
            [] => Err(Failure::Arguments(format!("no item has the id '{}'", shorten(id.as_bytes())))),
            items => Ok(items.to_vec()),
        };
        wanted.iter().map(of).collect()
    }
}

impl Serialize for Id<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Id::Integer(number) => serializer.serialize_i64(*number),
            Id::Text(text) => serializer.serialize_str(text),
        }
    }
}
