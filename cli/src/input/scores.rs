//! The score of each item.

use std::path::Path;

use partition_dpp::data::NpyArray;

use super::{
    Format,
    arguments::Column,
    csv::{Records, shorten},
    format,
    parquet::{Cell, ParquetFile},
};
use crate::failure::Failure;

/// Reads scores from files, one file after the other.
pub(super) fn read(Column { files, name: column }: Column<'_>) -> Result<Vec<f64>, Failure> {
    let mut scores = Vec::new();
    for path in files {
        match format(path)? {
            Format::Csv => {
                let mut records = Records::open(path)?;
                let column = records.find_column(column, "--score-column")?;
                while let Some(row) = records.next()? {
                    let score = finite(row.number(column)?);
                    scores.push(score.map_err(|problem| row.cell_problem(column, &problem))?);
                }
            }
            Format::Npy => scores.extend(read_npy(path, column)?),
            Format::Parquet => ParquetFile::open(path)?.for_each_cell(column, "--score-column", |cell| {
                scores.push(match cell {
                    Cell::Real(number) => finite(number)?,
                    #[expect(clippy::cast_precision_loss, reason = "scores are real numbers")]
                    Cell::Integer(number) => number as f64,
                    Cell::Bool(value) => f64::from(u8::from(value)),
                    Cell::Text(text) => {
                        return Err(format!("'{}' is not a number", shorten(text.as_bytes())));
                    }
                });
                Ok(())
            })?,
        }
    }
    Ok(scores)
}

fn read_npy(path: &Path, column: Option<&str>) -> Result<Vec<f64>, Failure> {
    if let Some(column) = column {
        let problem = format!("a .npy file has no column {column}; omit --score-column");
        return Err(Failure::file(path, problem));
    }
    let scores = NpyArray::open(path).and_then(|array| array.numbers()).map_err(Failure::in_file(path))?;
    for (row, &score) in scores.iter().enumerate() {
        finite(score).map_err(|problem| Failure::file(path, format!("row {row}: {problem}")))?;
    }
    Ok(scores)
}

fn finite(score: f64) -> Result<f64, String> {
    if score.is_finite() {
        Ok(score)
    } else {
        Err(format!("the score is {score}; every score must be a finite number"))
    }
}
