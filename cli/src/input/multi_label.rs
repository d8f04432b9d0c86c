//! Items with several labels: a .csv of 0/1 columns, one per label.

use std::{io::Read, path::Path};

use partition_dpp::data::LabelCopies;

use super::{
    Format,
    columns::{self, names_of},
    csv::{Records, Row},
    format,
    labels::{Label, ordered},
};
use crate::failure::Failure;

/// The name of a first column that counts the items.
const COUNTER: &str = "item";

/// Reads the wanted columns, a list separated by commas, or all columns.
pub(super) fn read(path: &Path, wanted: Option<&str>) -> Result<LabelCopies, Failure> {
    if format(path)? != Format::Csv {
        let problem = "--multi-label needs a .csv with names of labels, one 0/1 column per label";
        return Err(Failure::file(path, problem));
    }
    copies_of(Records::open(path)?, path, wanted)
}

/// Reads the wanted columns from records.
pub(super) fn copies_of<R: Read>(
    mut records: Records<'_, R>,
    path: &Path,
    wanted: Option<&str>,
) -> Result<LabelCopies, Failure> {
    let Some(header) = records.next()? else { return Err(Failure::file(path, "the file is empty")) };
    let table = Table::new(&header, path, wanted)?;
    records.that_was_a_header();
    let mut items = Vec::new();
    while let Some(row) = records.next()? {
        items.push(table.labels(&row, items.len())?);
    }
    LabelCopies::from_labels(&items).map_err(Failure::in_file(path))
}

/// The columns of the table.
struct Table {
    is_counted: bool,
    /// Indices of the columns of labels.
    columns: Vec<usize>,
    labels: Vec<Label>,
}

impl Table {
    fn new(header: &Row<'_>, path: &Path, wanted: Option<&str>) -> Result<Self, Failure> {
        let names = names_of(header)?;
        let unnamed = names.iter().position(|name| name.is_empty());
        let wanted: Vec<&str> = match (wanted, unnamed) {
            (Some(list), _) => list.split(',').map(str::trim).collect(),
            (None, Some(column)) => {
                let advice = "choose the columns of labels with --label-column";
                return Err(Failure::file(path, format!("column {column} has no name; {advice}")));
            }
            (None, None) => names.iter().copied().skip(usize::from(names[0] == COUNTER)).collect(),
        };
        let columns =
            wanted.iter().map(|name| columns::find(&names, path, name)).collect::<Result<Vec<_>, _>>()?;
        if let Some(at) = (0..columns.len()).find(|&at| columns[..at].contains(&columns[at])) {
            return Err(Failure::Arguments(format!("--label-column names {} twice", wanted[at])));
        }
        let is_counted = names[0] == COUNTER && !columns.contains(&0);
        Ok(Self { is_counted, columns, labels: ordered(wanted.into_iter().map(str::to_owned).collect()) })
    }

    fn labels(&self, row: &Row<'_>, item: usize) -> Result<Vec<&Label>, Failure> {
        if self.is_counted && row.text(0)?.parse() != Ok(item) {
            let problem = format!("'{}', but the items are counted 0, 1, 2, …", row.text(0)?);
            return Err(row.cell_problem(0, &problem));
        }
        let mut labels = Vec::new();
        for (&column, label) in self.columns.iter().zip(&self.labels) {
            match row.text(column)? {
                "1" => labels.push(label),
                "0" => {}
                other => {
                    let problem = format!(
                        "'{other}' under {label} is neither 0 nor 1; choose the columns of labels with --label-column"
                    );
                    return Err(row.cell_problem(column, &problem));
                }
            }
        }
        Ok(labels)
    }
}
