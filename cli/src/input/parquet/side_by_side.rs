//! Columns of numbers, read in waves of rows by all threads and put side by side.

use rayon::prelude::*;

use super::{
    Numbers, ParquetFile,
    numbers::{Feature, NumberColumn, with_stored},
    row_groups::RowGroup,
    values::{Stored, Values},
};
use crate::failure::Failure;

/// Columns that are open at once: of rows that are filled in, so many values are next to one another.
const COLUMNS: usize = 64;
/// Rows of a wave.
const WAVE: usize = 1 << 12;
/// Rows filled in at a time, which stay in the cache.
const TILE: usize = 32;
/// Values converted at a time.
const CHUNK: usize = 1 << 10;
/// Bytes of a page, as most writers make them.
const PAGE: i64 = 1 << 20;

/// Reads the next values of a column; says no if one is missing.
type Next<T> = Box<dyn FnMut(&mut [T]) -> bool + Send>;

impl ParquetFile {
    /// Bytes of the pages that are read at once, about: of each column one as it is stored and one decompressed, with its
    /// dictionary.
    pub(super) fn columns_ahead(&self, columns: &[NumberColumn]) -> u64 {
        let of_group = |group: usize| {
            let of_column = |column: &NumberColumn| {
                let stored = self.table().row_group(group).column(column.leaf);
                let page = |bytes: i64| u64::try_from(bytes.min(PAGE)).unwrap_or(0);
                2 * page(stored.uncompressed_size()) + page(stored.compressed_size())
            };
            columns.chunks(COLUMNS).map(|block| block.iter().map(of_column).sum::<u64>()).max().unwrap_or(0)
        };
        (0..self.table().num_row_groups()).map(of_group).max().unwrap_or(0)
    }

    /// Fills in the rows of a group.
    pub(super) fn read_columns<T: Feature>(
        &self,
        columns: &[NumberColumn],
        group: RowGroup,
        out: &mut [T],
    ) -> Result<(), Failure> {
        let dims = columns.len();
        for (block, own) in columns.chunks(COLUMNS).enumerate() {
            let first = block * COLUMNS;
            let next: Option<Vec<_>> = own.iter().map(|column| self.next_of(*column, group)).collect();
            if next.is_some_and(|next| read_block(next, first, dims, out)) {
                continue;
            }
            for (feature, column) in own.iter().enumerate() {
                let put = |row: usize, value| out[row * dims + first + feature] = T::of(value);
                self.read_numbers(*column, group, put)?;
            }
        }
        Ok(())
    }

    fn next_of<T: Feature>(&self, column: NumberColumn, RowGroup { group, .. }: RowGroup) -> Option<Next<T>> {
        let pages = self.page_reader(group, column.leaf).ok()?;
        let descriptor = self.descriptor(column.leaf);
        Some(with_stored!(column.numbers, (Number, wide) => {
            converted(Values::<Number>::new(Box::new(pages), descriptor, 1), wide)
        }))
    }
}

fn converted<P: Stored + 'static, T: Feature>(
    mut values: Values<P>,
    wide: impl Fn(P) -> f64 + Send + 'static,
) -> Next<T> {
    let mut stored = [P::default(); CHUNK];
    Box::new(move |out| {
        out.chunks_mut(CHUNK).all(|out| {
            let stored = &mut stored[..out.len()];
            let is_read = values.read(stored).is_ok_and(|all| all);
            out.iter_mut().zip(stored).for_each(|(out, value)| *out = T::of(wide(*value)));
            is_read
        })
    })
}

/// Puts some columns side by side, from one of the features on.
fn read_block<T: Feature>(columns: Vec<Next<T>>, first: usize, dims: usize, out: &mut [T]) -> bool {
    let mut columns: Vec<_> = columns.into_iter().map(|next| (next, Vec::new())).collect();
    out.chunks_mut(WAVE * dims).all(|wave| {
        let rows = wave.len() / dims;
        let read = columns.par_iter_mut().map(|(next, values)| {
            values.resize(rows, T::zeroed());
            next(values)
        });
        let are_read = read.reduce(|| true, |one, other| one && other);
        let values: Vec<&[T]> = columns.iter().map(|(_, values)| &values[..]).collect();
        wave.par_chunks_mut(TILE * dims).enumerate().for_each(|(tile, out)| {
            let mut rows: Vec<&mut [T]> =
                out.chunks_exact_mut(dims).map(|row| &mut row[first..first + values.len()]).collect();
            for (at, column) in values.iter().enumerate() {
                rows.iter_mut().zip(&column[tile * TILE..]).for_each(|(row, value)| row[at] = *value);
            }
        });
        are_read
    })
}
