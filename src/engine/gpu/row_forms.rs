//! `row_forms`: ‖F_lᵀ a_i‖² for every row.

use faer::MatRef;

use super::{
    Gpu,
    kernels::Kernel,
    resident::{BLOCK, QUAD, padded_factor},
    words,
};
use crate::{Result, engine::Rows};

pub(super) fn row_forms(gpu: &Gpu, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Result<Vec<f64>> {
    gpu.map_rows("row_forms", rows, 1, |context, work, number, group, chunk, out| {
        let factor = factors[number];
        let device = work.hold(context.uploaded(&padded_factor(factor, 1.0)));
        context.dispatch(
            work,
            Kernel::RowForms,
            &[words(chunk.len), words(group.quads), words(factor.ncols().div_ceil(QUAD))],
            &[chunk.rows.as_entire_binding(), device.as_entire_binding(), out.as_entire_binding()],
            chunk.len.div_ceil(BLOCK),
        )
    })
}
