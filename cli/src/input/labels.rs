//! The part of each item.

use std::{borrow::Borrow, collections::HashMap, fmt, hash::Hash, io::Read, path::Path};

use partition_dpp::{Error, Partition};

use super::{
    Format,
    arguments::Column,
    csv::Records,
    format, npy,
    parquet::{Cell, ParquetFile},
};
use crate::failure::Failure;

/// A label, ordered by number if all labels are integers, otherwise by text.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Label {
    /// `None` for all labels, or for no label.
    number: Option<i128>,
    text: String,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The labels of many items; each distinct label is stored once.
struct Labels<K> {
    index: HashMap<K, u32>,
    /// Index of each item's label, in order of appearance.
    kinds: Vec<u32>,
}

impl<K: Hash + Eq> Labels<K> {
    fn new() -> Self {
        Self { index: HashMap::new(), kinds: Vec::new() }
    }

    fn push<Q: Hash + Eq + ToOwned<Owned = K> + ?Sized>(&mut self, label: &Q) -> Result<(), Failure>
    where
        K: Borrow<Q>,
    {
        let kind = if let Some(&kind) = self.index.get(label) {
            kind
        } else {
            let items = self.kinds.len() + 1;
            let too_many = |_| Failure::Library(Error::TooManyItems { items, limit: u32::MAX as usize });
            let kind = u32::try_from(self.index.len()).map_err(too_many)?;
            self.index.insert(label.to_owned(), kind);
            kind
        };
        self.kinds.push(kind);
        Ok(())
    }

    /// The distinct labels in order of appearance, and the number of each item's.
    fn by_appearance(self) -> (Vec<String>, Vec<u32>)
    where
        K: ToString,
    {
        let mut texts = vec![String::new(); self.index.len()];
        self.index.iter().for_each(|(label, &kind)| texts[kind as usize] = label.to_string());
        (texts, self.kinds)
    }
}

/// The parts, in the order of their labels.
fn group((texts, kinds): (Vec<String>, Vec<u32>), path: &Path) -> Result<Partition, Failure> {
    if kinds.is_empty() {
        return Err(Failure::file(path, "the file has no labels"));
    }
    let labels = ordered(texts);
    Partition::of(kinds.iter().map(|&kind| &labels[kind as usize])).map_err(Failure::in_file(path))
}

/// Reads the labels of this many items from files, one file after the other.
pub(super) fn read(source: Column<'_>, items: usize) -> Result<Partition, Failure> {
    group(kinds(source, items, "label")?, &source.files[0])
}

/// The distinct labels of this many items in order of appearance, and the number of each item's; `what` a label is called in
/// messages.
pub(super) fn kinds(
    source: Column<'_>,
    items: usize,
    what: &str,
) -> Result<(Vec<String>, Vec<u32>), Failure> {
    let Column { files, name: column } = source;
    let formats = files.iter().map(|path| format(path)).collect::<Result<Vec<_>, _>>()?;
    if formats.iter().all(|&format| format == Format::Npy) {
        // Integers are looked up as integers, which avoids a string for each.
        let mut labels = Labels::new();
        for path in files {
            read_npy(path, column, items, |label| labels.push(&label))?;
        }
        return Ok(labels.by_appearance());
    }
    let mut labels = Labels::new();
    for (path, format) in files.iter().zip(formats) {
        match format {
            Format::Csv => labels.push_column(Records::open(path)?, column, what)?,
            Format::Npy => read_npy(path, column, items, |label| labels.push(&*label.to_string()))?,
            Format::Parquet => labels.push_cells(&ParquetFile::open(path)?, column, what)?,
        }
    }
    Ok(labels.by_appearance())
}

fn read_npy(
    path: &Path,
    column: Option<&str>,
    items: usize,
    sink: impl FnMut(i128) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if let Some(column) = column {
        let problem = format!("a .npy file has no column {column}; omit --label-column");
        return Err(Failure::file(path, problem));
    }
    npy::read_integers(path, items, sink)
}

/// Reads labels from .csv text.
pub(super) fn read_csv<R: Read>(source: R, path: &Path, column: Option<&str>) -> Result<Partition, Failure> {
    let mut labels = Labels::new();
    labels.push_column(Records::new(path, source), column, "label")?;
    group(labels.by_appearance(), path)
}

/// Labels with their order.
pub(super) fn ordered(labels: Vec<String>) -> Vec<Label> {
    let numbers: Option<Vec<i128>> = labels.iter().map(|label| label.parse().ok()).collect();
    match numbers {
        Some(numbers) => numbers
            .into_iter()
            .zip(labels)
            .map(|(number, text)| Label { number: Some(number), text })
            .collect(),
        None => labels.into_iter().map(|text| Label { number: None, text }).collect(),
    }
}

impl Labels<String> {
    /// The labels of a column of a .parquet file.
    fn push_cells(&mut self, file: &ParquetFile, column: Option<&str>, what: &str) -> Result<(), Failure> {
        // Integers are looked up as integers first, which avoids a string for each.
        let mut integers: HashMap<i128, u32> = HashMap::new();
        file.for_each_cell(column, "--label-column", |cell| {
            let added = match cell {
                // As .csv files are read.
                Cell::Text(text) => match text.trim_ascii() {
                    "" => return Err(format!("the {what} is empty")),
                    text => self.push(text),
                },
                Cell::Integer(number) => match integers.get(&number) {
                    Some(&kind) => {
                        self.kinds.push(kind);
                        Ok(())
                    }
                    None => self.push(&*number.to_string()).map(|()| {
                        integers.extend(self.kinds.last().map(|&kind| (number, kind)));
                    }),
                },
                Cell::Bool(value) => self.push(if value { "true" } else { "false" }),
                Cell::Real(number) if number.fract() == 0.0 => self.push(&*format!("{number:.0}")),
                Cell::Real(number) => {
                    return Err(format!("the {what} {number} is neither text nor an integer"));
                }
            };
            added.map_err(|error| error.to_string())
        })
    }

    /// The labels of a column.
    fn push_column<R: Read>(
        &mut self,
        mut records: Records<'_, R>,
        column: Option<&str>,
        what: &str,
    ) -> Result<(), Failure> {
        let column = records.find_column(column, "--label-column")?;
        while let Some(row) = records.next()? {
            match row.text(column)? {
                "" => return Err(row.cell_problem(column, &format!("the {what} is empty"))),
                label => self.push(label)?,
            }
        }
        Ok(())
    }
}
