//! Columns of .parquet files.

mod cells;
mod features;
mod matrix;
mod rows;

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
    },
    errors::ParquetError,
    file::metadata::{ColumnChunkMetaData, ParquetMetaData},
};

pub(super) use self::{cells::Cell, rows::Columns};
use super::columns;
use crate::failure::Failure;

/// A file whose metadata have been read.
#[derive(Debug)]
pub(super) struct ParquetFile {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    /// Of the columns of the table.
    names: Vec<String>,
}

impl ParquetFile {
    /// Opens a file and reads its metadata.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        // Anything else would block, or have no end to begin from.
        if !path.metadata().map_err(|error| Failure::io(path, &error))?.is_file() {
            return Err(Failure::file(path, "this is not a regular file"));
        }
        let file = File::open(path).map_err(|error| Failure::io(path, &error))?;
        // Columns as the file stores them: text is text, whether it was a category or not.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = ArrowReaderMetadata::load(&file, options).map_err(|error| {
            Failure::file(path, format!("this is not a .parquet file: {}", sentence(&error)))
        })?;
        let schema = metadata.parquet_schema().root_schema();
        let names: Vec<String> = schema.get_fields().iter().map(|field| field.name().to_owned()).collect();
        // The reader leaves out columns that hold nothing, and counts the others.
        if metadata.schema().fields().len() != names.len() {
            return Err(Failure::file(path, "a column holds no values at all"));
        }
        let opened = Self { path: path.to_owned(), metadata, names };
        opened.check_places()?;
        Ok(opened)
    }

    /// Refuses columns at negative places, which the readers take for granted.
    fn check_places(&self) -> Result<(), Failure> {
        for (group, columns) in self.table().row_groups().iter().enumerate() {
            let is_broken = |column: &ColumnChunkMetaData| {
                let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
                start.min(column.compressed_size()).min(column.uncompressed_size()) < 0
            };
            if let Some(leaf) = columns.columns().iter().position(is_broken) {
                let column = self.metadata.parquet_schema().get_column_root_idx(leaf);
                let problem = format!("has a negative offset in row group {group}: the file is broken");
                return Err(self.problem(column, &problem));
            }
        }
        Ok(())
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        (0..self.table().num_row_groups()).map(|group| self.rows_of(group)).sum()
    }

    fn rows_of(&self, group: usize) -> usize {
        usize::try_from(self.table().row_group(group).num_rows()).unwrap_or(0)
    }

    fn table(&self) -> &ParquetMetaData {
        self.metadata.metadata()
    }

    /// Whether there is a column with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// The column of the table with a name.
    fn find(&self, name: &str) -> Result<usize, Failure> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        columns::find(&names, &self.path, name)
    }

    /// The column with a name, or the only one; `option` names one of several.
    fn choose(&self, name: Option<&str>, option: &str) -> Result<usize, Failure> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        columns::choose(&names, &self.path, name, option)
    }

    /// A reader of some columns of the table, in the order of the table.
    fn reader(
        &self,
        columns: impl IntoIterator<Item = usize>,
    ) -> Result<ParquetRecordBatchReaderBuilder<File>, Failure> {
        let file = File::open(&self.path).map_err(|error| Failure::io(&self.path, &error))?;
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), columns);
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
        Ok(reader.with_projection(mask))
    }

    fn failure(&self, error: &ParquetError) -> Failure {
        Failure::file(&self.path, sentence(error))
    }

    fn problem(&self, column: usize, problem: &str) -> Failure {
        Failure::file(&self.path, format!("column '{}' {problem}", self.names[column]))
    }

    fn row_problem(&self, column: usize, row: usize, problem: &str) -> Failure {
        Failure::file(&self.path, format!("row {row}, column '{}': {problem}", self.names[column]))
    }
}

/// An error as one line.
fn sentence(error: &impl ToString) -> String {
    let text = error.to_string();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.trim_start_matches("Parquet error: ").to_owned()
}
