//! Labels, scores and ids: one value per row.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, StringArray, cast::AsArray, types};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DECIMAL128_MAX_PRECISION, DECIMAL128_MAX_SCALE, DataType};
use parquet::basic::LogicalType;
use uuid::Uuid;

use super::{ParquetFile, sentence};
use crate::failure::Failure;

/// Rows read at a time.
const BATCH: usize = 1 << 13;

/// The value of one column in one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::input) enum Cell<'a> {
    Text(&'a str),
    Integer(i128),
    Real(f64),
    Bool(bool),
}

impl ParquetFile {
    /// Passes the values of a column to `sink`, row by row: the column with this name, or the only one. `option` chooses one of
    /// several.
    pub(in crate::input) fn for_each_cell(
        &self,
        name: Option<&str>,
        option: &str,
        mut sink: impl FnMut(Cell<'_>) -> Result<(), String>,
    ) -> Result<(), Failure> {
        let column = self.choose(name, option)?;
        let reader = self.reader([column])?.with_batch_size(BATCH);
        let reader = reader.build().map_err(|error| self.failure(&error))?;
        let mut row = 0;
        for batch in reader {
            let batch = batch.map_err(|error| Failure::file(&self.path, error.to_string()))?;
            let values = self.readable(column, batch.column(0))?;
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

    /// Values of a column as text or decimal numbers, if they can be read so.
    fn readable(&self, column: usize, values: &ArrayRef) -> Result<ArrayRef, Failure> {
        let wanted = match values.data_type() {
            DataType::FixedSizeBinary(16) if self.holds_uuids(column) => {
                return Ok(Arc::new(uuids(values.as_fixed_size_binary())));
            }
            // Some writers do not mark bytes as text.
            DataType::Binary
            | DataType::LargeBinary
            | DataType::Date32
            | DataType::Date64
            | DataType::Time32(_)
            | DataType::Time64(_)
            | DataType::Timestamp(..) => DataType::Utf8,
            DataType::Decimal32(_, scale)
            | DataType::Decimal64(_, scale)
            | DataType::Decimal256(_, scale)
                if *scale <= DECIMAL128_MAX_SCALE =>
            {
                DataType::Decimal128(DECIMAL128_MAX_PRECISION, *scale)
            }
            _ => return Ok(Arc::clone(values)),
        };
        let options = CastOptions { safe: false, ..CastOptions::default() };
        cast_with_options(values, &wanted, &options).map_err(|error| {
            let kind = values.data_type();
            self.problem(
                column,
                &format!("holds {kind} that cannot be read as {wanted}: {}", sentence(&error)),
            )
        })
    }

    fn holds_uuids(&self, column: usize) -> bool {
        let field = &self.metadata.parquet_schema().root_schema().get_fields()[column];
        matches!(field.get_basic_info().logical_type_ref(), Some(LogicalType::Uuid))
    }
}

/// In the form 8-4-4-4-12.
fn uuids(values: &FixedSizeBinaryArray) -> StringArray {
    let text = |bytes: &[u8]| Uuid::from_slice(bytes).unwrap_or_default().to_string();
    values.iter().map(|bytes| bytes.map(text)).collect()
}

/// A decimal number: an integer if nothing follows the point.
fn decimal(value: i128, scale: i8) -> Cell<'static> {
    let power = 10_i128.checked_pow(scale.unsigned_abs().into());
    match power {
        Some(power) if scale >= 0 && value % power == 0 => Cell::Integer(value / power),
        Some(power) if scale < 0 && value.checked_mul(power).is_some() => Cell::Integer(value * power),
        #[expect(clippy::cast_precision_loss, reason = "the nearest real number is meant")]
        _ => Cell::Real(value as f64 / 10_f64.powi(scale.into())),
    }
}

/// Passes the cells of an array to `sink`, `None` for null. Returns `None` for types that are no cells.
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
        DataType::Decimal128(_, scale) => values
            .as_primitive::<types::Decimal128Type>()
            .iter()
            .try_for_each(|value| sink(value.map(|value| decimal(value, *scale)))),
        _ => return None,
    })
}
