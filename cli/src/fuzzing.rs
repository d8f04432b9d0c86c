//! Entry points of fuzz targets, in addition to whole commands; not a stable interface.

#![allow(missing_docs, reason = "not a public interface")]

use std::path::Path;

use bytesize::ByteSize;
use partition_dpp::{Partition, Subset, data::LabelCopies, error::ParseError};

use crate::{
    failure::Failure,
    input,
    memory::Limit,
    quota::{Asked, TypedQuota},
};

/// Rows, columns and numbers.
pub type Matrix = (usize, usize, Vec<f64>);

fn message_of(failure: &Failure) -> String {
    failure.to_string()
}

pub fn csv_features(text: &[u8]) -> Result<Matrix, String> {
    let matrix = input::csv_text::features(text, name(), Limit::of(Some(ByteSize::mb(1))));
    matrix.map_err(|failure| message_of(&failure))
}

pub fn csv_kernel(text: &[u8]) -> Result<Matrix, String> {
    input::csv_text::kernel(text, name(), Limit::of(Some(ByteSize::mb(1))))
        .map_err(|failure| message_of(&failure))
}

pub fn csv_labels(text: &[u8], column: Option<&str>) -> Result<Partition, String> {
    input::csv_text::labels(text, name(), column).map_err(|failure| message_of(&failure))
}

pub fn csv_multi_labels(text: &[u8], columns: Option<&str>) -> Result<LabelCopies, String> {
    input::csv_text::multi_labels(text, name(), columns).map_err(|failure| message_of(&failure))
}

pub fn json_sets(text: &[u8], items: usize) -> Result<Vec<Subset>, String> {
    input::sets::from_text(text, items)
}

/// The quota of every part, as it is printed.
pub fn quota(text: &str, partition: &Partition, total: Option<usize>) -> Result<String, String> {
    let typed: TypedQuota = text.parse().map_err(|error: ParseError| error.to_string())?;
    typed
        .resolve(partition, total)
        .map(|quota| Asked { quota: Some(&quota), has_ranges: typed.has_ranges }.to_string())
        .map_err(|failure| message_of(&failure))
}

fn name() -> &'static Path {
    Path::new("input.csv")
}
