//! Splits groups of rows into tasks, and tasks into blocks that fit the cache.

use faer::{
    Accum, Mat, MatMut, MatRef, Par,
    linalg::matmul::triangular::{self, BlockStructure},
};

use crate::engine::{Group, Rows};

/// Number of rows converted to f64 at a time: 256 rows of 64 values are 128 KiB.
pub(super) const BLOCK: usize = 256;
/// Rows per task. The number does not depend on the machine, because sums are computed per task.
const TASK: usize = 8192;
/// Bytes of a window, unless that is fewer than [`LEAST`] rows for every group.
const WINDOW: usize = 32 << 20;
/// Minimum number of rows of a window, for every group.
const LEAST: usize = 512;
/// Rows per tile of a swap table; tasks begin at multiples of it.
pub(super) const TILE: usize = 8;

/// Number of rows to prefetch before they are read.
pub(super) const AHEAD: usize = 16;

/// A run of rows of one group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) group: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Splits all rows into runs of at most [`TASK`]. All groups finish a window of a large matrix before any of them
/// continues, so every byte is read once, nearly in the order of the file, for any number of groups.
pub(super) fn tasks(rows: &Rows<'_>) -> Vec<Task> {
    let features = rows.features();
    let window = (WINDOW / features.row_bytes()).max(LEAST * rows.groups().len()).max(1);
    let mut starts = vec![0; rows.groups().len()];
    let mut tasks = Vec::new();
    for first in (0..features.items()).step_by(window) {
        let beyond = first + window;
        for (group, (members, start)) in rows.groups().iter().zip(&mut starts).enumerate() {
            let len = members.items.len();
            let end = if beyond < features.items() {
                let end = members.items.before(beyond);
                (end - end % TILE).max(*start)
            } else {
                len
            };
            let runs = (*start..end).step_by(TASK);
            tasks.extend(runs.map(|start| Task { group, start, end: end.min(start + TASK) }));
            *start = end;
        }
    }
    tasks
}

/// Splits `values` into a slice per task. They have `width` values per row, group by group.
pub(super) fn split<'v>(
    rows: &Rows<'_>,
    tasks: &[Task],
    mut values: &'v mut [f64],
    width: usize,
) -> Vec<&'v mut [f64]> {
    let mut groups = Vec::with_capacity(rows.groups().len());
    for group in rows.groups() {
        let (own, rest) = values.split_at_mut(group.items.len() * width);
        groups.push(own);
        values = rest;
    }
    let mut take = |task: &Task| {
        let (own, rest) = std::mem::take(&mut groups[task.group]).split_at_mut(task.len() * width);
        groups[task.group] = rest;
        own
    };
    tasks.iter().map(&mut take).collect()
}

impl Task {
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Calls `body` with each block of scaled rows, as the columns of an n×(≤ 256) matrix, until the watch ends the
    /// pass.
    pub(super) fn for_each_block(&self, rows: &Rows<'_>, mut body: impl FnMut(MatRef<'_, f64>)) {
        let Group { items, scale } = rows.groups()[self.group];
        let dims = rows.features().dims();
        let mut buffer = vec![0.0; dims * BLOCK.min(self.len())];
        for start in (self.start..self.end).step_by(BLOCK) {
            if rows.are_abandoned() {
                return;
            }
            let end = self.end.min(start + BLOCK);
            for (position, row) in (start..end).zip(buffer.chunks_exact_mut(dims)) {
                // Rows of a part are scattered, so hardware prefetching does not find the next one.
                if position + AHEAD < self.end {
                    rows.features().prefetch_row(items.at(position + AHEAD));
                }
                rows.features().read_row(items.at(position), scale, row);
            }
            body(MatRef::from_column_major_slice(&buffer[..dims * (end - start)], dims, end - start));
        }
    }
}

/// A factor, and whether it is lower triangular, which halves the work of a product.
#[derive(Clone, Copy)]
pub(super) struct Factor<'a> {
    matrix: MatRef<'a, f64>,
    transposed: BlockStructure,
}

impl<'a> Factor<'a> {
    pub(super) fn new(matrix: MatRef<'a, f64>) -> Self {
        let zero_above = |j: usize| (0..j).all(|i| matrix[(i, j)].abs() <= 0.0);
        let lower = matrix.nrows() == matrix.ncols() && (0..matrix.ncols()).all(zero_above);
        let transposed = if lower { BlockStructure::TriangularUpper } else { BlockStructure::Rectangular };
        Self { matrix, transposed }
    }

    /// `out` ← α Fᵀ `block`.
    pub(super) fn apply(&self, block: MatRef<'_, f64>, weight: f64, out: MatMut<'_, f64>) {
        let whole = BlockStructure::Rectangular;
        let factor = self.matrix.transpose();
        triangular::matmul(
            out,
            whole,
            Accum::Replace,
            factor,
            self.transposed,
            block,
            whole,
            weight,
            Par::Seq,
        );
    }

    /// Scratch for [`apply`](Factor::apply), one column per row of a block.
    pub(super) fn image_buffer(&self) -> Mat<f64> {
        Mat::zeros(self.matrix.ncols(), BLOCK)
    }
}
