//! Some rows, with all columns as Arrow has them.

use std::{fs::File, ops::Range};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::Field;
use arrow_select::concat::concat_batches;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{
            ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
        },
    },
    file::metadata::PageIndexPolicy,
};

use super::{ParquetFile, sentence};
use crate::failure::Failure;

/// Rows read at a time.
const BATCH: usize = 1 << 13;

/// Columns of a file, and how they are read.
#[derive(Debug)]
pub(in crate::input) struct Columns {
    file: ParquetFile,
    /// With the types that Arrow stored, if it wrote the file, and the places of pages.
    metadata: ArrowReaderMetadata,
    /// Of the table, ascending.
    wanted: Vec<usize>,
}

impl ParquetFile {
    /// The columns that embeddings are read from.
    pub(in crate::input) fn embedding_columns(
        &self,
        list: Option<&str>,
        numbers: &[String],
    ) -> Result<Vec<usize>, Failure> {
        match numbers {
            [] => Ok(vec![self.list_column(list)?.0]),
            names => names.iter().map(|name| self.find(name)).collect(),
        }
    }

    /// All columns but some.
    pub(in crate::input) fn columns_without(self, left_out: &[usize]) -> Result<Columns, Failure> {
        let file = File::open(&self.path).map_err(|error| Failure::io(&self.path, &error))?;
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let metadata = ArrowReaderMetadata::load(&file, options).map_err(|error| self.failure(&error))?;
        let columns = (0..self.names.len()).filter(|column| !left_out.contains(column)).collect();
        Ok(Columns { file: self, metadata, wanted: columns })
    }
}

impl Columns {
    pub(in crate::input) fn fields(&self) -> impl Iterator<Item = &Field> {
        self.wanted.iter().map(|&column| self.metadata.schema().field(column))
    }

    /// Number of rows of the file.
    pub(in crate::input) fn count(&self) -> usize {
        self.file.rows()
    }

    /// Some rows of the file, ascending. Pages without any of them are not decoded where the file says where pages are.
    pub(in crate::input) fn rows(&self, rows: &[usize]) -> Result<RecordBatch, Failure> {
        let Self { file: ParquetFile { path, .. }, metadata, wanted: columns } = self;
        let (groups, ranges, total) = self.selection(rows);
        let mask = ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
        let file = File::open(path).map_err(|error| Failure::io(path, &error))?;
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_projection(mask)
            .with_row_groups(groups)
            .with_row_selection(RowSelection::from_consecutive_ranges(ranges.into_iter(), total))
            .with_batch_size(BATCH)
            .build()
            .map_err(|error| self.file.failure(&error))?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<Vec<_>, _>>();
        batches
            .and_then(|batches| concat_batches(&schema, &batches))
            .map_err(|error| Failure::file(path, sentence(&error)))
    }

    /// The row groups that hold some rows, where the rows are in these groups, and how many rows the groups have.
    fn selection(&self, wanted_rows: &[usize]) -> (Vec<usize>, Vec<Range<usize>>, usize) {
        let (mut groups, mut ranges, mut total) = (Vec::new(), Vec::new(), 0);
        let (mut rest, mut start) = (wanted_rows, 0);
        for group in 0..self.metadata.metadata().num_row_groups() {
            let rows = self.file.rows_of(group);
            let (own, others) = rest.split_at(rest.partition_point(|&row| row < start + rows));
            if !own.is_empty() {
                ranges.extend(own.iter().map(|row| total + row - start).map(|at| at..at + 1));
                groups.push(group);
                total += rows;
            }
            (rest, start) = (others, start + rows);
        }
        (groups, ranges, total)
    }
}
