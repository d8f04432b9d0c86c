//! Numbers and text from .csv files; errors name row, column and line.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use csv::{ByteRecord, Reader, ReaderBuilder, Trim};

use super::{
    columns::{self, names_of},
    csv_lines::Lines,
};
use crate::{failure::Failure, memory::Limit, output};

/// A matrix of numbers, row by row.
#[derive(Debug)]
pub(super) struct Matrix {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) values: Vec<f64>,
    /// The reason why the first row is a header, if it is almost a row of numbers.
    pub(super) doubt: Option<String>,
}

/// How to read the first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstRow {
    /// As a header if any of its cells is not a number.
    MayBeHeader,
    /// As numbers, like all others.
    IsData,
}

/// The records of a file, all of the same length. Rows count from 0 after the header.
pub(super) struct Records<'a, R> {
    path: &'a Path,
    reader: Reader<Lines<R>>,
    record: ByteRecord,
    columns: Option<usize>,
    next_row: usize,
    /// The line of the record.
    line: u64,
}

/// One row.
pub(super) struct Row<'r> {
    path: &'r Path,
    cells: &'r ByteRecord,
    number: usize,
    line: u64,
}

impl<'a> Records<'a, File> {
    pub(super) fn open(path: &'a Path) -> Result<Self, Failure> {
        if path.is_dir() {
            return Err(Failure::file(path, "this is a folder"));
        }
        Ok(Self::new(path, File::open(path).map_err(|error| Failure::io(path, &error))?))
    }
}

impl<'a, R: Read> Records<'a, R> {
    /// Records of any source; the path is for messages.
    pub(super) fn new(path: &'a Path, source: R) -> Self {
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .from_reader(Lines::new(source));
        Self { path, reader, record: ByteRecord::new(), columns: None, next_row: 0, line: 0 }
    }

    /// The next row, `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Row<'_>>, Failure> {
        let path = self.path;
        let more = self.reader.read_byte_record(&mut self.record);
        if !more.map_err(|error| Failure::file(path, error.to_string()))? {
            return Ok(None);
        }
        if let Some(start) = self.reader.get_mut().next_start() {
            self.line = start.line;
            if let Some(blank) = start.blank {
                let problem = format!("line {blank} is blank: delete it, or write what is missing");
                return Err(Failure::file(path, problem));
            }
        }
        let row = Row { path, cells: &self.record, number: self.next_row, line: self.line };
        self.next_row += 1;
        let (found, needed) = (row.cells.len(), *self.columns.get_or_insert(row.cells.len()));
        if found != needed {
            let cells = if found == 1 { "cell" } else { "cells" };
            return Err(row.problem(&format!("has {found} {cells}; the first line has {needed}")));
        }
        Ok(Some(row))
    }

    /// Reads the header and finds a column in it: the one with a name, or the only one. `option` chooses one of several.
    pub(super) fn find_column(&mut self, wanted: Option<&str>, option: &str) -> Result<usize, Failure> {
        let path = self.path;
        let Some(header) = self.next()? else { return Err(Failure::file(path, "the file is empty")) };
        let column = columns::choose(&names_of(&header)?, path, wanted, option)?;
        self.that_was_a_header();
        Ok(column)
    }

    /// Declares the row just read a header: rows count from the next one.
    pub(super) fn that_was_a_header(&mut self) {
        self.next_row = 0;
    }
}

impl Row<'_> {
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    fn is_numeric(&self) -> bool {
        (0..self.len()).all(|column| self.parse(column).is_some())
    }

    /// A sentence if this header may be a row of numbers: only one cell is not a number, or one looks like a number.
    fn doubt_as_header(&self) -> Option<String> {
        let mut odd = (0..self.len()).filter(|&column| self.parse(column).is_none());
        let only = odd.clone().nth(1).is_none() && self.len() > 1;
        let meant = |&column: &usize| {
            let cell = self.cells[column].trim_ascii_start();
            let digits = cell.strip_prefix(b"-").or_else(|| cell.strip_prefix(b"+")).unwrap_or(cell);
            digits.strip_prefix(b".").unwrap_or(digits).first().is_some_and(u8::is_ascii_digit)
        };
        let column = if only { odd.next() } else { odd.find(meant) }?;
        let (line, cell) = (self.line, shorten(&self.cells[column]));
        Some(format!(
            "line {line} is read as a header, because '{cell}' in column {column} is not a number; if it is a row, write \
             its numbers as 1000 or 1.5"
        ))
    }

    /// A cell as a number.
    pub(super) fn number(&self, column: usize) -> Result<f64, Failure> {
        self.parse(column).ok_or_else(|| match &self.cells[column] {
            [] => self.cell_problem(column, "the cell is empty"),
            cell => {
                self.cell_problem(column, &format!("'{}' is not a number{}", shorten(cell), advice(cell)))
            }
        })
    }

    fn parse(&self, column: usize) -> Option<f64> {
        std::str::from_utf8(&self.cells[column]).ok()?.parse().ok()
    }

    /// A cell as text.
    pub(super) fn text(&self, column: usize) -> Result<&str, Failure> {
        std::str::from_utf8(&self.cells[column])
            .map_err(|_| self.cell_problem(column, "the cell is not UTF-8 text"))
    }

    pub(super) fn cell_problem(&self, column: usize, problem: &str) -> Failure {
        let (row, line) = (self.number, self.line);
        Failure::file(self.path, format!("row {row}, column {column} (line {line}): {problem}"))
    }

    fn problem(&self, problem: &str) -> Failure {
        Failure::file(self.path, format!("row {} (line {}) {problem}", self.number, self.line))
    }
}

/// What a cell that should be a number tells of the whole file.
fn advice(cell: &[u8]) -> &'static str {
    match cell {
        _ if cell.contains(&0) => "; save the file as UTF-8",
        _ if cell.contains(&b';') || cell.contains(&b'\t') => {
            "; separate cells by commas, and write decimals with a point"
        }
        _ => "",
    }
}

/// The first characters of a cell.
pub(super) fn shorten(cell: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(cell);
    if text.chars().count() <= LONGEST {
        return text.into_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

/// Refuses files that name their columns in another way or order than the first: rows are joined by position.
pub(super) fn check_headers<'a>(files: impl Iterator<Item = &'a PathBuf>) -> Result<(), Failure> {
    let mut first: Option<(&PathBuf, Vec<String>)> = None;
    for path in files {
        let mut records = Records::open(path)?;
        let Some(row) = records.next()? else { continue };
        if row.is_numeric() {
            continue;
        }
        let names: Vec<String> = row.cells.iter().map(shorten).collect();
        let (other, expected) = first.get_or_insert_with(|| (path, names.clone()));
        if names.len() == expected.len() && names != *expected {
            let differ = |column: &usize| names[*column] != expected[*column];
            let column = (0..names.len()).find(differ).unwrap_or_default();
            let (name, expected, other) = (&names[column], &expected[column], other.display());
            let problem = format!(
                "column {column} is '{name}', but '{expected}' in {other}: write the columns in one order"
            );
            return Err(Failure::file(path, problem));
        }
    }
    Ok(())
}

pub(super) fn read_matrix(path: &Path, first_row: FirstRow, limit: Limit) -> Result<Matrix, Failure> {
    let matrix = matrix_of(Records::open(path)?, first_row, limit)?;
    if let Some(doubt) = &matrix.doubt {
        output::note(&format!("{}: {doubt}", path.display()));
    }
    Ok(matrix)
}

/// Reads a matrix from records.
pub(super) fn matrix_of<R: Read>(
    mut records: Records<'_, R>,
    first_row: FirstRow,
    limit: Limit,
) -> Result<Matrix, Failure> {
    let path = records.path;
    let mut matrix = Matrix { rows: 0, columns: 0, values: Vec::new(), doubt: None };
    let mut at_start = true;
    while let Some(row) = records.next()? {
        let header = at_start && first_row == FirstRow::MayBeHeader && !row.is_numeric();
        if !header {
            for column in 0..row.len() {
                matrix.values.push(row.number(column)?);
            }
            matrix.rows += 1;
            let bytes = 8 * matrix.values.len() as u64;
            limit.check(bytes, || format!("{} has {} rows and more", path.display(), matrix.rows))?;
        }
        matrix.columns = row.len();
        at_start = false;
        if header {
            matrix.doubt = row.doubt_as_header();
            records.that_was_a_header();
        }
    }
    if at_start {
        return Err(Failure::file(path, "the file is empty"));
    }
    if matrix.rows == 0 {
        return Err(Failure::file(path, "the file has a header and no rows"));
    }
    Ok(matrix)
}
