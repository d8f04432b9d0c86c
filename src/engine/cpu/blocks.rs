//! Cutting groups of rows into tasks, and tasks into blocks that fit the cache.

use faer::{
    Accum, Mat, MatMut, MatRef, Par,
    linalg::matmul::triangular::{self, BlockStructure},
};

use crate::engine::{Group, Rows};

/// Rows converted to f64 at a time: 256 rows of 64 values are 128 KiB.
const BLOCK: usize = 256;
/// Rows of one task. A property of the problem, not of the machine: sums are made per task.
const TASK: usize = 8192;

/// Rows that are asked for before they are read.
pub(super) const AHEAD: usize = 16;

/// A run of rows of one group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) group: usize,
    pub(super) start: usize,
    pub(super) end: usize,
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
                // Rows of a part lie apart: the processor does not guess the next one.
                if position + AHEAD < self.end {
                    rows.features().prefetch_row(items.at(position + AHEAD));
                }
                rows.features().read_row(items.at(position), scale, row);
            }
            body(MatRef::from_column_major_slice(&buffer[..dims * (end - start)], dims, end - start));
        }
    }
}

/// A factor, and whether it is lower triangular: then half of a product is zero.
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
