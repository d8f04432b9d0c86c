//! Features from columns of numbers, one feature a column.

use half::f16;
use parquet::data_type::{
    BoolType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
};
use partition_dpp::Features;

use super::{Numbers, ParquetFile, row_groups::RowGroup};
use crate::{
    failure::Failure,
    memory::{Limit, Use},
};

/// Rows read at a time.
const CHUNK: usize = 1 << 13;

/// A column of numbers, and where its values are.
#[derive(Clone, Copy, Debug)]
struct NumberColumn {
    column: usize,
    leaf: usize,
    numbers: Numbers,
}

/// What numbers are read as: f32 where all columns hold such, else f64.
trait Feature: partition_dpp::data::Scalar {
    fn of(value: f64) -> Self;
}

impl Feature for f32 {
    #[expect(clippy::cast_possible_truncation, reason = "values were f32, or f16")]
    fn of(value: f64) -> Self {
        value as f32
    }
}

impl Feature for f64 {
    fn of(value: f64) -> Self {
        value
    }
}

impl ParquetFile {
    /// The rows of some columns of numbers, side by side.
    pub(in crate::input) fn columns(
        &self,
        names: &[String],
        limit: &mut Limit,
        made: Use,
    ) -> Result<Features<'static>, Failure> {
        let columns = names.iter().map(|name| self.number_column(self.find(name)?));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        if columns.iter().all(|column| matches!(column.numbers, Numbers::F16 | Numbers::F32)) {
            self.side_by_side::<f32>(&columns, limit, made)
        } else {
            self.side_by_side::<f64>(&columns, limit, made)
        }
    }

    fn number_column(&self, column: usize) -> Result<NumberColumn, Failure> {
        let mut leaves = self.leaves(column);
        let (Some(leaf), None) = (leaves.next(), leaves.next()) else {
            return Err(self.problem(column, "does not hold numbers"));
        };
        let descriptor = self.descriptor(leaf);
        match Numbers::of(&descriptor) {
            Some(numbers) if descriptor.max_rep_level() == 0 => Ok(NumberColumn { column, leaf, numbers }),
            Some(_) => Err(self.problem(column, "holds lists; name it with --embedding-column")),
            None => Err(self.problem(column, "does not hold numbers")),
        }
    }

    fn side_by_side<T: Feature>(
        &self,
        columns: &[NumberColumn],
        limit: &mut Limit,
        made: Use,
    ) -> Result<Features<'static>, Failure> {
        let dims = columns.len();
        self.features(dims, limit, made, |group, out: &mut [T]| {
            columns.iter().enumerate().try_for_each(|(feature, column)| {
                let put = |row: usize, value| out[row * dims + feature] = T::of(value);
                self.read_numbers(*column, group, put)
            })
        })
    }

    fn read_numbers(
        &self,
        column: NumberColumn,
        group: RowGroup,
        put: impl FnMut(usize, f64),
    ) -> Result<(), Failure> {
        let at = (column, group);
        match column.numbers {
            Numbers::Bool => self.read_values::<BoolType>(at, |&value| value.into(), put),
            Numbers::Signed => self.read_values::<Int32Type>(at, |&value| value.into(), put),
            Numbers::Unsigned => self.read_values::<Int32Type>(at, |value| value.cast_unsigned().into(), put),
            Numbers::SignedLong => self.read_values::<Int64Type>(at, |&value| value as f64, put),
            Numbers::UnsignedLong => {
                self.read_values::<Int64Type>(at, |value| value.cast_unsigned() as f64, put)
            }
            Numbers::F16 => {
                let wide =
                    |bytes: &[u8]| bytes.first_chunk().map_or(f64::NAN, |b| f16::from_le_bytes(*b).into());
                self.read_values::<FixedLenByteArrayType>(at, |value| wide(value.data()), put)
            }
            Numbers::F32 => self.read_values::<FloatType>(at, |&value| value.into(), put),
            Numbers::F64 => self.read_values::<DoubleType>(at, |&value| value, put),
        }
    }

    fn read_values<T: DataType>(
        &self,
        (NumberColumn { column, leaf, .. }, RowGroup { group, first_row, rows }): (NumberColumn, RowGroup),
        wide: impl Fn(&T::T) -> f64,
        mut put: impl FnMut(usize, f64),
    ) -> Result<(), Failure> {
        let mut reader = self.reader::<T>(group, leaf)?;
        let whole = self.descriptor(leaf).max_def_level();
        let (mut definitions, mut values) = (Vec::new(), Vec::new());
        let mut done = 0;
        while done < rows {
            definitions.clear();
            values.clear();
            let wanted = CHUNK.min(rows - done);
            let read = reader.read_records(wanted, Some(&mut definitions), None, &mut values);
            let (found, ..) = read.map_err(|error| self.failure(&error))?;
            if let Some(at) = definitions.iter().position(|&level| level != whole) {
                return Err(self.row_problem(column, first_row + done + at, "there is no value"));
            }
            if found < wanted {
                let row = first_row + done + found;
                return Err(self.row_problem(column, row, "the file ends before this row"));
            }
            values.iter().enumerate().for_each(|(at, value)| put(done + at, wide(value)));
            done += wanted;
        }
        Ok(())
    }
}
