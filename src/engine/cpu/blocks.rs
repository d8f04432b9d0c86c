//! Cutting groups of rows into tasks, and tasks into blocks that fit the cache.

use faer::{Accum, Mat, MatMut, MatRef, Par, linalg::matmul::matmul};

use crate::engine::{Group, Rows};

/// Rows converted to f64 at a time: 256 rows of 64 values are 128 KiB.
const BLOCK: usize = 256;
/// Rows of one task. A property of the problem, not of the machine: sums are made per task.
const TASK: usize = 8192;

/// A run of rows of one group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) group: usize,
    start: usize,
    end: usize,
}

/// All rows, in order, in runs of at most [`TASK`].
pub(super) fn tasks(rows: &Rows<'_>) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (group, members) in rows.groups().iter().enumerate() {
        let len = members.items.len();
        tasks.extend((0..len).step_by(TASK).map(|start| Task { group, start, end: len.min(start + TASK) }));
    }
    tasks
}

impl Task {
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Calls `body` with each block of scaled rows, as the columns of an n×(≤ 256) matrix.
    pub(super) fn for_each_block(&self, rows: &Rows<'_>, mut body: impl FnMut(MatRef<'_, f64>)) {
        let Group { items, scale } = rows.groups()[self.group];
        let dims = rows.features().dims();
        let mut buffer = vec![0.0; dims * BLOCK.min(self.len())];
        for start in (self.start..self.end).step_by(BLOCK) {
            let end = self.end.min(start + BLOCK);
            for (position, row) in (start..end).zip(buffer.chunks_exact_mut(dims)) {
                rows.features().read_row(items.at(position), scale, row);
            }
            body(MatRef::from_column_major_slice(&buffer[..dims * (end - start)], dims, end - start));
        }
    }
}

/// The columns of a block under a factor: `out` ← α Fᵀ `block`.
pub(super) fn apply(factor: MatRef<'_, f64>, block: MatRef<'_, f64>, weight: f64, out: MatMut<'_, f64>) {
    matmul(out, Accum::Replace, factor.transpose(), block, weight, Par::Seq);
}

/// Scratch for [`apply`], one column per row of a block.
pub(super) fn image_buffer(factor: MatRef<'_, f64>) -> Mat<f64> {
    Mat::zeros(factor.ncols(), BLOCK)
}
