//! Features, read row group by row group into one matrix.

use partition_dpp::Features;

use super::{
    ParquetFile,
    matrix::{Feature, Matrix},
};
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

/// The memory that reading takes.
#[derive(Debug)]
pub(super) struct Memory<'l> {
    pub(super) limit: &'l mut Limit,
    pub(super) made: Use,
    /// Bytes that are read ahead, beside the matrix.
    pub(super) ahead: u64,
}

impl ParquetFile {
    /// A matrix with this many columns; `read` fills in the rows of all groups.
    pub(super) fn features<T: Feature>(
        &self,
        dims: usize,
        Memory { limit, made, ahead }: Memory<'_>,
        read: impl FnOnce(&mut [(RowGroup, &mut [T])]) -> Result<(), Failure>,
    ) -> Result<Features, Failure> {
        let rows = self.rows();
        if rows == 0 {
            return Err(Failure::file(&self.path, "the file has no rows"));
        }
        let bytes = (rows as u64).saturating_mul(dims as u64).saturating_mul(size_of::<T>() as u64);
        limit.check_features(&self.path, [rows as u64, dims as u64], bytes.saturating_add(ahead), made)?;
        limit.take(bytes);
        let mut matrix = Matrix::zeros(rows, dims).map_err(|error| Failure::io(&self.path, &error))?;
        let (mut rest, mut first_row, mut groups) = (matrix.values_mut(), 0, Vec::new());
        for group in 0..self.table().num_row_groups() {
            let rows = self.rows_of(group);
            let (own, others) = rest.split_at_mut(rows * dims);
            groups.push((RowGroup { group, first_row, rows }, own));
            (rest, first_row) = (others, first_row + rows);
        }
        read(&mut groups)?;
        matrix.into_features().map_err(Failure::in_file(&self.path))
    }
}
