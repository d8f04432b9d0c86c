//! Labels, scores and ids: one value a row.

use std::fs::File;

use arrow_array::{Array, cast::AsArray, types};
use arrow_schema::DataType;
use parquet::arrow::{ProjectionMask, arrow_reader::ParquetRecordBatchReaderBuilder};

use super::ParquetFile;
use crate::failure::Failure;

/// Rows read at a time.
const BATCH: usize = 1 << 13;

/// The value of a column in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::input) enum Cell<'a> {
    Text(&'a str),
    Integer(i128),
    Real(f64),
    Bool(bool),
}

impl ParquetFile {
    /// Hands over the values of a column, row by row: the only column, unless it is named by what `option` is given.
    pub(in crate::input) fn for_each_cell(
        &self,
        name: Option<&str>,
        option: &str,
        mut sink: impl FnMut(Cell<'_>) -> Result<(), String>,
    ) -> Result<(), Failure> {
        let column = self.choose(name, option)?;
        let file = File::open(&self.path).map_err(|error| Failure::io(&self.path, &error))?;
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), [column]);
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
            .with_projection(mask)
            .with_batch_size(BATCH)
            .build()
            .map_err(|error| self.failure(&error))?;
        let mut row = 0;
        for batch in reader {
            let batch = batch.map_err(|error| Failure::file(&self.path, error.to_string()))?;
            let values = batch.column(0);
            let read = cells(values.as_ref(), |cell| {
                let cell = cell.ok_or_else(|| "there is no value".to_owned());
                cell.and_then(&mut sink).map_err(|problem| self.row_problem(column, row, &problem))?;
                row += 1;
                Ok(())
            });
            read.unwrap_or_else(|| Err(self.problem(column, "holds neither text nor numbers")))?;
        }
        Ok(())
    }
}

/// Hands over the cells of an array, `None` for null; itself `None` for types that are no cells.
fn cells<E>(
    values: &dyn Array,
    mut sink: impl FnMut(Option<Cell<'_>>) -> Result<(), E>,
) -> Option<Result<(), E>> {
    macro_rules! primitive {
        ($type:ident, $cell:ident) => {
            values
                .as_primitive::<types::$type>()
                .iter()
                .try_for_each(|value| sink(value.map(|value| Cell::$cell(value.into()))))
        };
    }
    Some(match values.data_type() {
        DataType::Utf8 => values.as_string::<i32>().iter().try_for_each(|text| sink(text.map(Cell::Text))),
        DataType::LargeUtf8 => {
            values.as_string::<i64>().iter().try_for_each(|text| sink(text.map(Cell::Text)))
        }
        DataType::Boolean => values.as_boolean().iter().try_for_each(|value| sink(value.map(Cell::Bool))),
        DataType::Int8 => primitive!(Int8Type, Integer),
        DataType::Int16 => primitive!(Int16Type, Integer),
        DataType::Int32 => primitive!(Int32Type, Integer),
        DataType::Int64 => primitive!(Int64Type, Integer),
        DataType::UInt8 => primitive!(UInt8Type, Integer),
        DataType::UInt16 => primitive!(UInt16Type, Integer),
        DataType::UInt32 => primitive!(UInt32Type, Integer),
        DataType::UInt64 => primitive!(UInt64Type, Integer),
        DataType::Float16 => primitive!(Float16Type, Real),
        DataType::Float32 => primitive!(Float32Type, Real),
        DataType::Float64 => primitive!(Float64Type, Real),
        _ => return None,
    })
}
