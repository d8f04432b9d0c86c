//! Features, read row group by row group.

use partition_dpp::{Features, data::Scalar};
use rayon::prelude::*;

use super::ParquetFile;
use crate::{
    failure::Failure,
    memory::{Limit, Use},
};

/// Some rows that a file stores together.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowGroup {
    /// Which of the file.
    pub(super) group: usize,
    pub(super) first_row: usize,
    pub(super) rows: usize,
}

impl ParquetFile {
    /// A matrix with this many columns; `read` fills in the rows of a group. Groups are read in parallel.
    pub(super) fn features<T: Scalar>(
        &self,
        dims: usize,
        limit: &mut Limit,
        made: Use,
        read: impl Fn(RowGroup, &mut [T]) -> Result<(), Failure> + Sync,
    ) -> Result<Features<'static>, Failure> {
        let rows = self.rows();
        let bytes = (rows as u64).saturating_mul(dims as u64).saturating_mul(size_of::<T>() as u64);
        limit.check_features(&self.path, [rows as u64, dims as u64], bytes, made)?;
        limit.take(bytes);
        let mut values = vec![T::zeroed(); rows * dims];
        let (mut rest, mut first_row, mut tasks) = (&mut values[..], 0, Vec::new());
        for group in 0..self.table().num_row_groups() {
            let rows = self.rows_of(group);
            let (own, others) = rest.split_at_mut(rows * dims);
            tasks.push((RowGroup { group, first_row, rows }, own));
            (rest, first_row) = (others, first_row + rows);
        }
        let read = tasks.into_par_iter().map(|(group, own)| read(group, own));
        // The first row at fault, whichever thread finds it.
        read.collect::<Vec<_>>().into_iter().collect::<Result<(), _>>()?;
        Features::from_rows(rows, dims, values).map_err(Failure::in_file(&self.path))
    }
}
