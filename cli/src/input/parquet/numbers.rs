//! Features from columns of numbers, one feature a column.

use partition_dpp::Features;
use rayon::prelude::*;

use super::{
    Numbers, ParquetFile, matrix,
    row_groups::{Memory, RowGroup},
    values::Stored,
};
use crate::{
    failure::Failure,
    memory::{Limit, Use},
};

/// Rows read at a time.
const CHUNK: usize = 1 << 13;

/// A column of numbers, and where its values are.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberColumn {
    column: usize,
    pub(super) leaf: usize,
    pub(super) numbers: Numbers,
}

/// What numbers are read as: f32 where all columns hold such, else f64.
pub(super) trait Feature: matrix::Feature {
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

/// Runs a body for the type that numbers are stored as, and what makes them f64.
macro_rules! with_stored {
    ($numbers:expr, ($type:ident, $wide:ident) => $body:expr) => {{
        macro_rules! run {
            ($stored:ty, $of:expr) => {{
                type $type = $stored;
                let $wide = $of;
                $body
            }};
        }
        match $numbers {
            Numbers::Bool => run!(bool, |value: bool| f64::from(value)),
            Numbers::Signed => run!(i32, |value: i32| f64::from(value)),
            Numbers::Unsigned => run!(i32, |value: i32| f64::from(value.cast_unsigned())),
            Numbers::SignedLong => run!(i64, |value: i64| value as f64),
            Numbers::UnsignedLong => run!(i64, |value: i64| value.cast_unsigned() as f64),
            Numbers::F16 => run!(half::f16, |value: half::f16| f64::from(value)),
            Numbers::F32 => run!(f32, |value: f32| f64::from(value)),
            Numbers::F64 => run!(f64, |value: f64| value),
        }
    }};
}
pub(super) use with_stored;

impl ParquetFile {
    /// The rows of some columns of numbers, side by side.
    pub(in crate::input) fn columns(
        &self,
        names: &[String],
        limit: &mut Limit,
        made: Use,
    ) -> Result<Features, Failure> {
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
    ) -> Result<Features, Failure> {
        let memory = Memory { limit, made, ahead: self.columns_ahead(columns) };
        self.features(columns.len(), memory, |groups: &mut [(RowGroup, &mut [T])]| {
            // Threads that columns leave idle read other row groups.
            let at_once = (rayon::current_num_threads() / columns.len()).max(1);
            groups.chunks_mut(at_once).try_for_each(|groups| {
                let read = groups.par_iter_mut().map(|(group, out)| self.read_columns(columns, *group, out));
                // The first row at fault, whichever thread finds it.
                read.collect::<Vec<_>>().into_iter().collect()
            })
        })
    }

    /// Reads a column, whatever its encoding, and says what is wrong with it.
    pub(super) fn read_numbers(
        &self,
        column: NumberColumn,
        group: RowGroup,
        put: impl FnMut(usize, f64),
    ) -> Result<(), Failure> {
        with_stored!(column.numbers, (Number, wide) => self.read_values::<Number>((column, group), wide, put))
    }

    fn read_values<T: Stored>(
        &self,
        (NumberColumn { column, leaf, .. }, RowGroup { group, first_row, rows }): (NumberColumn, RowGroup),
        wide: impl Fn(T) -> f64,
        mut put: impl FnMut(usize, f64),
    ) -> Result<(), Failure> {
        let mut reader = self.reader::<T::Physical>(group, leaf)?;
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
            values.iter().enumerate().for_each(|(at, value)| put(done + at, wide(T::of(value))));
            done += wanted;
        }
        Ok(())
    }
}
