//! `row_forms`: ‖F_lᵀ a_i‖² for every row.

use faer::MatRef;

use super::{
    Gpu,
    pace::Load,
    range::{Padded, QUAD},
    resident::{BLOCK, blocks},
    shaders::Shader,
    words,
};
use crate::{Result, engine::Rows};

pub(super) fn row_forms(gpu: &Gpu, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Result<Vec<f64>> {
    gpu.map_rows("row_forms", rows, 1, |context, work, number, group, chunk, out| {
        let columns = factors[number].ncols();
        let factor = Padded::factor(context.precision, factors[number], 1.0);
        let device = work.hold(context.uploaded(&factor.values)?);
        let block = blocks(context.precision, chunk.len, group.quads, BLOCK);
        // Few enough columns at a time for one workgroup.
        let wide = BLOCK * context.pace.units_of_a_group(block.flops, block.bytes);
        for first in (0..columns.max(1)).step_by(wide) {
            let (last, all) = (columns.min(first + wide), columns.div_ceil(QUAD));
            let times = (last - first).div_ceil(BLOCK) as f64;
            context.dispatch(
                work,
                Shader::RowForms,
                &[
                    words(chunk.len),
                    words(group.quads),
                    words(all),
                    words(first / QUAD),
                    words(last.div_ceil(QUAD)),
                ],
                &[chunk.rows.as_entire_binding(), device.as_entire_binding(), out.as_entire_binding()],
                Load { flops: times * block.flops, bytes: times * block.bytes, ..block },
            )?;
        }
        Ok((group.unit * factor.unit).powi(2))
    })
}
