//! `swap_table`: C = WᵀAᵀ, a run per slot.

use std::sync::Arc;

use faer::{ColRef, Mat, MatRef};

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    range::{Padded, QUAD, unit_of},
    resident::{BLOCK, DeviceGroup, TILE, blocks, rows_per_binding},
    row_norms::row_norms,
    shaders::Shader,
    words,
};
use crate::{
    Result,
    engine::{Precision, Rows, SwapNumbers},
};

/// A table on the device.
#[derive(Debug)]
pub(super) struct DeviceSwaps {
    pub(super) gpu: Gpu,
    pub(super) groups: Vec<GroupSwaps>,
    /// Number of swaps so far.
    pub(super) updates: usize,
}

#[derive(Debug)]
pub(super) struct GroupSwaps {
    pub(super) rows: Arc<DeviceGroup>,
    /// The divisor of the duals of every slot.
    pub(super) slots: Vec<f64>,
    pub(super) pieces: Vec<Piece>,
    /// The largest ‖a_j‖².
    pub(super) longest: f64,
}

/// The numbers of some rows of a chunk, as many as can be bound.
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
) -> Result<DeviceSwaps> {
    let context = gpu.context();
    let norms = match context.precision {
        Precision::F32 => row_norms(gpu, rows)?,
        Precision::F64 => Vec::new(),
    };
    let groups = gpu.with_room("swap_table", || {
        let mut groups = Vec::with_capacity(duals.len());
        let mut start = 0;
        for (rows, &duals) in gpu.resident().groups(context, rows)?.into_iter().zip(duals) {
            let len: usize = rows.chunks.iter().map(|chunk| chunk.len).sum();
            let own = start..start + len;
            start += len;
            let longest =
                norms.get(own.clone()).map_or(0.0, |norms| norms.iter().copied().fold(0.0, f64::max));
            let slots = units(context.precision, duals);
            let pieces = pieces(context, &rows, duals, &slots, &residuals[own])?;
            groups.push(GroupSwaps { rows, slots, pieces, longest });
        }
        Ok(groups)
    })?;
    Ok(DeviceSwaps { gpu: gpu.clone(), groups, updates: 0 })
}

impl DeviceSwaps {
    /// The whole table, by group.
    pub(super) fn numbers(&self) -> Result<Vec<SwapNumbers>> {
        let context = self.gpu.context();
        context.checked("swap_gains", || {
            let read = |group: &GroupSwaps| {
                let len = group.rows.chunks.iter().map(|chunk| chunk.len).sum();
                let unit = group.rows.unit;
                let mut numbers = SwapNumbers {
                    coefficients: Mat::zeros(group.slots.len(), len),
                    residuals: vec![f64::NEG_INFINITY; len],
                };
                let width = size_of(context.precision) as u64;
                for piece in &group.pieces {
                    let count = width * piece.len as u64;
                    let parts = [
                        (&*piece.residuals, 0, count),
                        (&*piece.coefficients, 0, count * group.slots.len() as u64),
                    ];
                    let found = context.download(context.work("swap_gains"), &parts)?;
                    let residuals = context.values_or_lowest("swap_gains", &found[0])?;
                    let values = context.values("swap_gains", &found[1])?;
                    let start = piece.start(&group.rows);
                    for at in 0..piece.len {
                        numbers.residuals[start + at] = residuals[at] * (unit * unit);
                        for (slot, own) in group.slots.iter().enumerate() {
                            numbers.coefficients[(slot, start + at)] =
                                values[slot * piece.len + at] * (own * unit);
                        }
                    }
                }
                Ok(numbers)
            };
            self.groups.iter().map(read).collect()
        })
    }
}

/// The divisor of the duals of every slot. A slot of zeros, for additions, takes the smallest.
fn units(precision: Precision, duals: MatRef<'_, f64>) -> Vec<f64> {
    let unit = |dual: ColRef<'_, f64>| {
        let is_zero = dual.iter().all(|&x| x == 0.0);
        (!is_zero).then(|| unit_of(precision, dual.iter().copied()))
    };
    let units: Vec<Option<f64>> = duals.col_iter().map(unit).collect();
    let smallest = units.iter().flatten().copied().reduce(f64::min).unwrap_or(1.0);
    units.into_iter().map(|unit| unit.unwrap_or(smallest)).collect()
}

fn pieces(
    context: &Context,
    rows: &DeviceGroup,
    duals: MatRef<'_, f64>,
    units: &[f64],
    residuals: &[f64],
) -> Result<Vec<Piece>> {
    let slots = duals.ncols();
    let mut pieces = Vec::new();
    if slots == 0 {
        return Ok(pieces);
    }
    let most = rows_per_binding(context, slots * size_of(context.precision));
    let duals = Mat::from_fn(duals.nrows(), slots, |i, slot| duals[(i, slot)] / units[slot]);
    let factor = context.uploaded(&Padded::factor(Precision::F64, duals.as_ref(), 1.0).values)?;
    let residuals: Vec<f64> = residuals.iter().map(|d| d / (rows.unit * rows.unit)).collect();
    let mut work = context.work("swap_table");
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
                residuals: context.uploaded(&residuals[start..start + len])?,
                values: context.reals(2 * tiles),
                places: context.storage(8 * tiles as u64),
            };
            context.dispatch(
                &mut work,
                Shader::SwapTable,
                &[
                    words(len),
                    words(rows.quads),
                    words(slots.div_ceil(QUAD)),
                    words(slots),
                    words(slots.div_ceil(BLOCK)),
                    words(first),
                ],
                &[
                    chunk.rows.as_entire_binding(),
                    factor.as_entire_binding(),
                    piece.coefficients.as_entire_binding(),
                ],
                blocks(context.precision, len, rows.quads, slots),
            )?;
            pieces.push(piece);
        }
    }
    context.submit(work)?;
    Ok(pieces)
}
