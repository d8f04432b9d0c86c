//! .csv text in memory.

use std::path::Path;

use partition_dpp::{Partition, data::LabelCopies};

use super::{
    csv::{FirstRow, Records, matrix_of},
    labels, multi_label,
};
use crate::{failure::Failure, memory::Limit};

type Matrix = (usize, usize, Vec<f64>);

/// Features; here and below the path is for messages.
pub(crate) fn features(text: &[u8], path: &Path, limit: Limit) -> Result<Matrix, Failure> {
    matrix(text, path, FirstRow::MayBeHeader, limit)
}

/// A kernel; that it is square is not checked here.
pub(crate) fn kernel(text: &[u8], path: &Path, limit: Limit) -> Result<Matrix, Failure> {
    matrix(text, path, FirstRow::IsData, limit)
}

fn matrix(text: &[u8], path: &Path, first_row: FirstRow, limit: Limit) -> Result<Matrix, Failure> {
    let matrix = matrix_of(Records::new(path, text), first_row, limit)?;
    Ok((matrix.rows, matrix.columns, matrix.values))
}

/// One label per item.
pub(crate) fn labels(text: &[u8], path: &Path, column: Option<&str>) -> Result<Partition, Failure> {
    labels::read_csv(text, path, column)
}

/// Any number of labels per item.
pub(crate) fn multi_labels(text: &[u8], path: &Path, wanted: Option<&str>) -> Result<LabelCopies, Failure> {
    multi_label::copies_of(Records::new(path, text), path, wanted)
}
