//! `swap_table`: C = WᵀAᵀ, a run per slot.

use std::sync::Arc;

use faer::{Mat, MatRef};

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    kernels::Kernel,
    resident::{BLOCK, DeviceGroup, QUAD, TILE, padded_factor, rows_per_binding},
    row_norms::row_norms,
    words,
};
use crate::{
    Result,
    engine::{Precision, Rows, SwapNumbers, SwapTable, swaps::SwapValues},
};

/// A table on the device.
#[derive(Debug)]
pub(crate) struct DeviceSwaps {
    pub(super) gpu: Gpu,
    pub(super) groups: Vec<GroupSwaps>,
    /// Exchanges so far.
    pub(super) updates: usize,
}

#[derive(Debug)]
pub(super) struct GroupSwaps {
    pub(super) rows: Arc<DeviceGroup>,
    pub(super) slots: usize,
    pub(super) pieces: Vec<Piece>,
    /// The largest ‖a_j‖².
    pub(super) longest: f64,
}

/// Numbers of some rows of a chunk: as many as can be bound.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) chunk: usize,
    /// First row, in the chunk.
    pub(super) first: usize,
    pub(super) len: usize,
    pub(super) coefficients: Lease,
    pub(super) residuals: Lease,
    pub(super) values: Lease,
    pub(super) places: Lease,
}

impl Piece {
    /// Position of its first row in the group.
    pub(super) fn start(&self, rows: &DeviceGroup) -> usize {
        rows.chunks[self.chunk].start + self.first
    }

    pub(super) fn tiles(&self) -> usize {
        self.len.div_ceil(TILE)
    }
}

pub(super) fn swap_table(
    gpu: &Gpu,
    rows: &Rows<'_>,
    duals: &[MatRef<'_, f64>],
    residuals: &[f64],
) -> Result<SwapTable> {
    let context = gpu.context();
    let norms = match context.precision {
        Precision::F32 => row_norms(gpu, rows)?,
        Precision::F64 => Vec::new(),
    };
    let groups = gpu.with_room("swap_table", || {
        let mut groups = Vec::with_capacity(duals.len());
        let mut start = 0;
        for (rows, &duals) in gpu.resident().groups(context, rows).into_iter().zip(duals) {
            let len: usize = rows.chunks.iter().map(|chunk| chunk.len).sum();
            let own = start..start + len;
            start += len;
            let longest =
                norms.get(own.clone()).map_or(0.0, |norms| norms.iter().copied().fold(0.0, f64::max));
            let pieces =
                if duals.ncols() == 0 { Vec::new() } else { pieces(context, &rows, duals, &residuals[own])? };
            groups.push(GroupSwaps { rows, slots: duals.ncols(), pieces, longest });
        }
        Ok(groups)
    })?;
    Ok(SwapTable { values: SwapValues::Device(DeviceSwaps { gpu: gpu.clone(), groups, updates: 0 }) })
}

fn pieces(
    context: &Context,
    rows: &DeviceGroup,
    duals: MatRef<'_, f64>,
    residuals: &[f64],
) -> Result<Vec<Piece>> {
    let slots = duals.ncols();
    let most = rows_per_binding(context, slots * size_of(context.precision));
    let factor = context.uploaded(&padded_factor(duals, 1.0));
    let blocks = slots.div_ceil(BLOCK);
    let mut pieces = Vec::new();
    let mut work = context.work();
    for (number, chunk) in rows.chunks.iter().enumerate() {
        for first in (0..chunk.len).step_by(most) {
            let len = most.min(chunk.len - first);
            let start = chunk.start + first;
            let tiles = len.div_ceil(TILE);
            let piece = Piece {
                chunk: number,
                first,
                len,
                coefficients: context.reals(slots * len),
                residuals: context.uploaded(&residuals[start..start + len]),
                values: context.reals(2 * tiles),
                places: context.storage(8 * tiles as u64),
            };
            context.dispatch(
                &mut work,
                Kernel::SwapTable,
                &[
                    words(len),
                    words(rows.quads),
                    words(slots.div_ceil(QUAD)),
                    words(slots),
                    words(blocks),
                    words(first),
                ],
                &[
                    chunk.rows.as_entire_binding(),
                    factor.as_entire_binding(),
                    piece.coefficients.as_entire_binding(),
                ],
                len.div_ceil(BLOCK) * blocks,
            )?;
            pieces.push(piece);
        }
    }
    context.submit(work);
    Ok(pieces)
}

impl DeviceSwaps {
    /// All numbers, by group.
    pub(crate) fn read(&self) -> Result<Vec<SwapNumbers>> {
        let context = self.gpu.context();
        context.checked("swap_gains", || {
            let read = |group: &GroupSwaps| {
                let len = group.rows.chunks.iter().map(|chunk| chunk.len).sum();
                let mut numbers = SwapNumbers {
                    coefficients: Mat::zeros(group.slots, len),
                    residuals: vec![f64::NEG_INFINITY; len],
                };
                let width = size_of(context.precision) as u64;
                for piece in &group.pieces {
                    let count = width * piece.len as u64;
                    let parts = [
                        (&*piece.residuals, 0, count),
                        (&*piece.coefficients, 0, count * group.slots as u64),
                    ];
                    let found = context.download(context.work(), "swap_gains", &parts)?;
                    let (residuals, values) = (context.values(&found[0]), context.values(&found[1]));
                    let start = piece.start(&group.rows);
                    for at in 0..piece.len {
                        numbers.residuals[start + at] = residuals[at];
                        for slot in 0..group.slots {
                            numbers.coefficients[(slot, start + at)] = values[slot * piece.len + at];
                        }
                    }
                }
                Ok(numbers)
            };
            self.groups.iter().map(read).collect()
        })
    }
}
