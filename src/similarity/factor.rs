//! The Cholesky factor of K_S, which grows by one item at a time.

use super::{
    function::{Columns, KernelFunction, check_finite},
    rows::dots,
};
use crate::{Result, engine::row_kernels::CHUNK, linalg::kernels::dot};

/// L with L Lᵀ = K_S, row by row.
#[derive(Debug)]
pub(crate) struct Factor<'k> {
    kernel: &'k dyn KernelFunction,
    columns: Columns,
    /// Chunks per row; rows have zeros beyond the diagonal.
    stride: usize,
    rows: Vec<[f64; CHUNK]>,
    /// The diagonal of L.
    pivots: Vec<f64>,
}

/// The row that an item would add, and scratch to compute it.
#[derive(Debug, Default)]
pub(crate) struct NextRow {
    row: Vec<f64>,
    buffer: Vec<[f64; CHUNK]>,
}

impl NextRow {
    /// L⁻¹ K_{S,j}.
    pub(crate) fn row(&self) -> &[f64] {
        &self.row
    }
}

impl<'k> Factor<'k> {
    /// The factor of no items, with room for `most`.
    pub(crate) fn new(kernel: &'k dyn KernelFunction, most: usize) -> Self {
        let (columns, stride) = (Columns::new(kernel.width()), most.div_ceil(CHUNK));
        Self { kernel, columns, stride, rows: Vec::new(), pivots: Vec::new() }
    }

    pub(crate) fn kernel(&self) -> &'k dyn KernelFunction {
        self.kernel
    }

    /// The number of items.
    pub(crate) fn len(&self) -> usize {
        self.pivots.len()
    }

    /// S, in the order in which it grew.
    pub(crate) fn items(&self) -> &[u32] {
        self.columns.items()
    }

    /// K_ij of an item with the chosen items from `start` on.
    pub(crate) fn entries(
        &self,
        item: usize,
        start: usize,
        buffer: &mut Vec<[f64; CHUNK]>,
        out: &mut [f64],
    ) -> Result<()> {
        self.kernel.entries(item, self.columns.range(start, start + out.len()), buffer, out);
        let columns = self.items()[start..].iter().zip(out.iter());
        columns.into_iter().try_for_each(|(&column, &value)| check_finite(item, column as usize, value))
    }

    /// Σ_u L_tu x_u for the rows from `start` on.
    pub(crate) fn products(&self, x: &[[f64; CHUNK]], start: usize, out: &mut [f64]) {
        dots(x, &self.rows[start * self.stride..], self.stride, out);
    }

    /// L_tu for u ≤ t.
    pub(crate) fn entry(&self, t: usize, u: usize) -> f64 {
        if u == t { self.pivots[t] } else { self.row(t)[u] }
    }

    /// Row t of L without its diagonal, followed by zeros.
    pub(crate) fn row(&self, t: usize) -> &[f64] {
        self.rows[t * self.stride..(t + 1) * self.stride].as_flattened()
    }

    /// Returns K_jj − ‖L⁻¹ K_{S,j}‖², and leaves L⁻¹ K_{S,j} in `next`.
    ///
    /// # Cost
    /// |S| entries of K and |S|² operations.
    pub(crate) fn residual(&self, item: usize, diagonal: f64, next: &mut NextRow) -> Result<f64> {
        let NextRow { row, buffer } = next;
        row.resize(self.len(), 0.0);
        self.entries(item, 0, buffer, row)?;
        let mut residual = diagonal;
        for t in 0..row.len() {
            row[t] = (row[t] - dot(&self.row(t)[..t], &row[..t])) / self.pivots[t];
            residual -= row[t] * row[t];
        }
        Ok(residual)
    }

    /// Adds the item for which [`residual`](Self::residual) was computed last.
    pub(crate) fn push(&mut self, item: usize, residual: f64, next: &NextRow) {
        let start = self.rows.len();
        self.rows.resize(start + self.stride, [0.0; CHUNK]);
        self.rows[start..].as_flattened_mut()[..next.row.len()].copy_from_slice(&next.row);
        self.pivots.push(residual.sqrt());
        self.columns.push(self.kernel, item);
    }

    /// ln det K_S.
    pub(crate) fn log_det(&self) -> f64 {
        self.pivots.iter().map(|pivot| 2.0 * pivot.ln()).sum()
    }
}
