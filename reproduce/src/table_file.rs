//! Tables of the data sets.

use std::path::{Path, PathBuf};

use partition_dpp::Features;

use crate::failure::Failure;

/// A .csv file with a header.
#[derive(Debug)]
pub(crate) struct TableFile {
    path: PathBuf,
    header: csv::StringRecord,
    records: Vec<csv::StringRecord>,
}

impl TableFile {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let cannot = |error: csv::Error| Failure::file(path, error.to_string());
        let mut reader = csv::Reader::from_path(path).map_err(cannot)?;
        let header = reader.headers().map_err(cannot)?.clone();
        let records = reader.into_records().collect::<Result<_, _>>().map_err(cannot)?;
        Ok(Self { path: path.to_owned(), header, records })
    }

    /// Returns all values of the named column.
    pub(crate) fn column(&self, name: &str) -> Result<Vec<&str>, Failure> {
        let at = self.header.iter().position(|column| column == name);
        let at = at.ok_or_else(|| Failure::file(&self.path, format!("there is no column {name}")))?;
        // The reader checks that all records are as long as the header.
        Ok(self.records.iter().map(|record| record.get(at).unwrap_or_default()).collect())
    }

    /// Returns all values of the named column as numbers.
    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<usize>, Failure> {
        let parse = |(row, text): (usize, &str)| {
            text.parse().map_err(|_| {
                Failure::file(&self.path, format!("row {}, column {name}: '{text}' is not a number", row + 2))
            })
        };
        self.column(name)?.into_iter().enumerate().map(parse).collect()
    }
}

/// Opens the features of a data set, of any size and type.
pub(crate) fn open(path: &Path) -> Result<Features, Failure> {
    Features::open_npy(path).map_err(Failure::in_file(path))
}

/// Returns some rows of the features.
pub(crate) fn rows(features: &Features, items: &[usize], path: &Path) -> Result<Vec<Vec<f64>>, Failure> {
    if let Some(item) = items.iter().find(|item| **item >= features.items()) {
        let problem = format!("there is no row {item}: there are {} rows", features.items());
        return Err(Failure::file(path, problem));
    }
    Ok(items.iter().map(|&item| features.row(item)).collect())
}
