//! Features: a column of lists of numbers, all of one length, or columns of numbers side by side.

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, ListArray, PrimitiveArray, RecordBatch,
    cast::AsArray,
    types::{Float16Type, Float32Type, Float64Type},
};
use arrow_cast::cast;
use arrow_schema::DataType;
use parquet::{arrow::arrow_reader::ParquetRecordBatchReader, file::metadata::RowGroupMetaData};
use partition_dpp::{Features, data::Scalar};
use rayon::prelude::*;

use super::{ParquetFile, columns, matrix::Matrix, sentence};
use crate::{
    catch_panic::catch_panic,
    failure::Failure,
    memory::{Limit, Use},
};

/// Values decoded at a time, about.
const VALUES: usize = 1 << 18;
/// The most rows decoded at a time.
const ROWS: usize = 1 << 13;
/// The most columns that are open at once in a row group.
const COLUMNS: usize = 64;
/// Rows filled in at a time, which stay in the cache.
const TILE: usize = 32;
/// Bytes of a page, as most writers make them.
const PAGE: u64 = 1 << 20;

/// A type of features, and Arrow's name for it.
trait Feature: ArrowPrimitiveType<Native: Scalar> {}

impl<T: ArrowPrimitiveType<Native: Scalar>> Feature for T {}

/// Columns that are read together, ascending.
type Block<'c> = &'c [usize];

/// Some rows that a file stores together.
#[derive(Clone, Copy)]
struct RowGroup {
    group: usize,
    first_row: usize,
}

impl ParquetFile {
    /// The rows of a column of lists of floating-point numbers: the only one, unless it is named.
    pub(in crate::input) fn embeddings(
        &self,
        name: Option<&str>,
        limit: &mut Limit,
        made: Use,
    ) -> Result<Features, Failure> {
        let (column, kind) = self.list_column(name)?;
        match kind {
            DataType::Float16 => self.lists::<Float16Type>(column, limit, made),
            DataType::Float64 => self.lists::<Float64Type>(column, limit, made),
            _ => self.lists::<Float32Type>(column, limit, made),
        }
    }

    /// The rows of some columns of numbers, side by side: in f32 where all hold such, else in f64.
    pub(in crate::input) fn columns(
        &self,
        names: &[String],
        limit: &mut Limit,
        made: Use,
    ) -> Result<Features, Failure> {
        let columns = names.iter().map(|name| self.number_column(self.find(name)?));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let is_short = |&column: &usize| matches!(self.kind(column), DataType::Float16 | DataType::Float32);
        if columns.iter().all(is_short) {
            self.side_by_side::<Float32Type>(&columns, limit, made)
        } else {
            self.side_by_side::<Float64Type>(&columns, limit, made)
        }
    }

    /// A column of lists, and the type of their values.
    pub(super) fn list_column(&self, name: Option<&str>) -> Result<(usize, &DataType), Failure> {
        let as_list = |column: usize| match self.kind(column) {
            DataType::List(item) if item.data_type().is_floating() => Some((column, item.data_type())),
            _ => None,
        };
        if let Some(name) = name {
            let column = self.find(name)?;
            let problem = "does not hold lists of floating-point numbers";
            return as_list(column).ok_or_else(|| self.problem(column, problem));
        }
        let mut lists = (0..self.names.len()).filter_map(as_list);
        match (lists.next(), lists.next()) {
            (Some(list), None) => Ok(list),
            (Some(first), Some(second)) => {
                let [first, second] = [first, second].map(|(column, _)| &self.names[column]);
                let problem = format!(
                    "columns '{first}' and '{second}' hold lists of numbers; choose one with --embedding-column"
                );
                Err(Failure::file(&self.path, problem))
            }
            (None, _) => {
                let listed = columns::list(self.names.iter().map(String::as_str).collect());
                let problem = format!(
                    "no column holds lists of floating-point numbers; name columns of numbers with --embedding-columns (the columns are {listed})"
                );
                Err(Failure::file(&self.path, problem))
            }
        }
    }

    /// A column, if it holds numbers; dates and decimal fractions are refused.
    fn number_column(&self, column: usize) -> Result<usize, Failure> {
        match self.kind(column) {
            kind if kind.is_integer() || kind.is_floating() || *kind == DataType::Boolean => Ok(column),
            DataType::List(item) if item.data_type().is_numeric() => {
                Err(self.problem(column, "holds lists; name it with --embedding-column"))
            }
            _ => Err(self.problem(column, "does not hold numbers")),
        }
    }

    fn kind(&self, column: usize) -> &DataType {
        self.metadata.schema().field(column).data_type()
    }

    /// The number of values of the list of the first row.
    fn length_of_first(&self, column: usize) -> Result<usize, Failure> {
        let Some(group) = (0..self.table().num_row_groups()).find(|&group| self.rows_of(group) > 0) else {
            return Err(Failure::file(&self.path, "the file has no rows"));
        };
        let mut reader = self.reader_of(group, &[column], 1)?;
        let batch = self.next_batch(&mut reader, &[column], 0, 1)?;
        let lists = batch.column(0).as_list::<i32>();
        let dims = lists.value_length(0);
        match problem_of_list(lists, 0, dims) {
            Some(problem) => Err(self.row_problem(column, 0, &problem)),
            None => Ok(usize::try_from(dims).unwrap_or(0)),
        }
    }

    fn lists<T: Feature>(&self, column: usize, limit: &mut Limit, made: Use) -> Result<Features, Failure> {
        let dims = self.length_of_first(column)?;
        self.matrix::<T>(dims, &[&[column]], limit, made, |_, arrays, first_row, out| {
            let lists = arrays[0].as_list::<i32>();
            let length = i32::try_from(dims).unwrap_or(i32::MAX);
            let problem = |row: usize| Some((row, problem_of_list(lists, row, length)?));
            if let Some((row, problem)) = (0..lists.len()).find_map(problem) {
                return Err(self.row_problem(column, first_row + row, &problem));
            }
            let start = usize::try_from(lists.value_offsets()[0]).unwrap_or(0);
            out.copy_from_slice(&lists.values().as_primitive::<T>().values()[start..start + out.len()]);
            Ok(())
        })
    }

    fn side_by_side<T: Feature>(
        &self,
        features: &[usize],
        limit: &mut Limit,
        made: Use,
    ) -> Result<Features, Failure> {
        let dims = features.len();
        let mut columns = features.to_vec();
        columns.sort_unstable();
        columns.dedup();
        let blocks: Vec<Block<'_>> = columns.chunks(COLUMNS).collect();
        self.matrix::<T>(dims, &blocks, limit, made, |block, arrays, first_row, out| {
            let missing = |(array, column): (&ArrayRef, &usize)| {
                let gaps = array.nulls().filter(|nulls| nulls.null_count() > 0)?;
                Some(((0..array.len()).find(|&row| gaps.is_null(row))?, *column))
            };
            if let Some((row, column)) = arrays.iter().zip(block).filter_map(missing).min() {
                return Err(self.row_problem(column, first_row + row, "there is no value"));
            }
            let number =
                |array: &ArrayRef| cast(array, &T::DATA_TYPE).map(|array| array.as_primitive::<T>().clone());
            let numbers = arrays.par_iter().map(number).collect::<Result<Vec<PrimitiveArray<T>>, _>>();
            let numbers = numbers.map_err(|error| Failure::file(&self.path, sentence(&error)))?;
            let of_block = features.iter().enumerate().filter_map(|(feature, column)| {
                Some((feature, &numbers[block.binary_search(column).ok()?].values()[..]))
            });
            let of_block: Vec<(usize, &[T::Native])> = of_block.collect();
            out.par_chunks_mut(TILE * dims).enumerate().for_each(|(tile, out)| {
                for (feature, values) in &of_block {
                    let own = out.iter_mut().skip(*feature).step_by(dims);
                    own.zip(&values[tile * TILE..]).for_each(|(out, value)| *out = *value);
                }
            });
            Ok(())
        })
    }

    /// Reads all blocks of columns; `put` writes some rows of a block, from a first row on, to their place.
    fn matrix<T: Feature>(
        &self,
        dims: usize,
        blocks: &[Block<'_>],
        limit: &mut Limit,
        made: Use,
        put: impl Fn(Block<'_>, &[ArrayRef], usize, &mut [T::Native]) -> Result<(), Failure> + Sync,
    ) -> Result<Features, Failure> {
        let rows = self.rows();
        if rows == 0 {
            return Err(Failure::file(&self.path, "the file has no rows"));
        }
        // Threads that the columns of a block leave idle read other row groups.
        let threads = rayon::current_num_threads();
        let at_once = threads.div_ceil(blocks[0].len());
        let bytes = (rows as u64).saturating_mul(dims as u64).saturating_mul(size_of::<T::Native>() as u64);
        let ahead = self.bytes_ahead(dims, blocks).saturating_mul(at_once as u64);
        limit.check_features(&self.path, [rows as u64, dims as u64], bytes.saturating_add(ahead), made)?;
        limit.take(bytes);
        let mut matrix = Matrix::zeros(rows, dims).map_err(|error| Failure::io(&self.path, &error))?;
        let (mut rest, mut first_row, mut groups) = (matrix.values_mut(), 0, Vec::new());
        for group in 0..self.table().num_row_groups() {
            let rows = self.rows_of(group);
            groups
                .push((RowGroup { group, first_row }, rest.split_off_mut(..rows * dims).unwrap_or_default()));
            first_row += rows;
        }
        for groups in groups.chunks_mut(at_once) {
            let read = groups.par_iter_mut().map(|(group, out)| {
                blocks.iter().try_for_each(|block| self.read_block(block, *group, dims, out, &put))
            });
            // The first row at fault, whichever thread finds it.
            read.collect::<Vec<_>>().into_iter().collect::<Result<(), _>>()?;
        }
        matrix.into_features().map_err(Failure::in_file(&self.path))
    }

    fn read_block<T: Scalar>(
        &self,
        block: Block<'_>,
        RowGroup { group, first_row }: RowGroup,
        dims: usize,
        out: &mut [T],
        put: impl Fn(Block<'_>, &[ArrayRef], usize, &mut [T]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let at_once = (VALUES / dims).clamp(1, ROWS);
        let columns: Vec<Block<'_>> =
            block.chunks(block.len().div_ceil(rayon::current_num_threads())).collect();
        let readers = columns.iter().map(|columns| self.reader_of(group, columns, at_once));
        let mut readers = readers.collect::<Result<Vec<_>, _>>()?;
        for (batch, out) in out.chunks_mut(at_once * dims).enumerate() {
            let (start, rows) = (first_row + batch * at_once, out.len() / dims);
            let next = readers.par_iter_mut().zip(&columns);
            let next = next.map(|(reader, columns)| self.next_batch(reader, columns, start, rows));
            let batches = next.collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, _>>()?;
            let arrays: Vec<ArrayRef> = batches.iter().flat_map(RecordBatch::columns).cloned().collect();
            put(block, &arrays, start, out)?;
        }
        Ok(())
    }

    fn reader_of(
        &self,
        group: usize,
        columns: Block<'_>,
        rows: usize,
    ) -> Result<ParquetRecordBatchReader, Failure> {
        let builder = self.reader(columns.iter().copied())?.with_row_groups(vec![group]);
        builder.with_batch_size(rows).build().map_err(|error| self.failure(&error))
    }

    /// The next rows, which are these.
    fn next_batch(
        &self,
        reader: &mut ParquetRecordBatchReader,
        columns: Block<'_>,
        first_row: usize,
        rows: usize,
    ) -> Result<RecordBatch, Failure> {
        // The reader takes headers of pages for whole when it looks ahead.
        let Some(batch) = catch_panic(|| reader.next()) else {
            return Err(Failure::file(&self.path, "the file is broken"));
        };
        let batch = batch.transpose().map_err(|error| Failure::file(&self.path, sentence(&error)))?;
        let found = batch.as_ref().map_or(0, RecordBatch::num_rows);
        batch
            .filter(|_| found == rows)
            .ok_or_else(|| self.row_problem(columns[0], first_row + found, "the file ends before this row"))
    }

    /// Bytes that are read ahead in a row group, about: of each column of a block a page as it is stored and one
    /// decompressed, with its dictionary, and the values of the next rows with their levels.
    fn bytes_ahead(&self, dims: usize, blocks: &[Block<'_>]) -> u64 {
        let schema = self.metadata.parquet_schema();
        let of_block = |(group, block): (&RowGroupMetaData, &Block<'_>)| -> u64 {
            let own = group.columns().iter().enumerate();
            let own = own.filter(|(leaf, _)| block.binary_search(&schema.get_column_root_idx(*leaf)).is_ok());
            let page = |bytes: i64| u64::try_from(bytes).unwrap_or(0).min(PAGE);
            own.map(|(_, column)| 2 * page(column.uncompressed_size()) + page(column.compressed_size())).sum()
        };
        let groups = self.table().row_groups();
        let pages = groups.iter().flat_map(|group| blocks.iter().map(move |block| (group, block)));
        pages.map(of_block).max().unwrap_or(0)
            + 16 * VALUES.max(dims).min(self.rows().saturating_mul(dims)) as u64
    }
}

/// The problem with the list of a row that should have `dims` values.
fn problem_of_list(lists: &ListArray, row: usize, dims: i32) -> Option<String> {
    let length = lists.value_length(row);
    if lists.is_null(row) {
        return Some("there is no list".to_owned());
    }
    if length == 0 {
        return Some("the list is empty".to_owned());
    }
    if lists.values().null_count() > 0 && lists.value(row).null_count() > 0 {
        return Some("a value of the list is missing".to_owned());
    }
    (length != dims).then(|| format!("the list has {length} values; the list in row 0 has {dims}"))
}
