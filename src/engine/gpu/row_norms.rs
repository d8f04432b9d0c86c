//! `row_norms`: ‖a_i‖² for every row.

use super::{Gpu, resident::tiles, shaders::Shader, words};
use crate::{Result, engine::Rows};

pub(super) fn row_norms(gpu: &Gpu, rows: &Rows<'_>) -> Result<Vec<f64>> {
    gpu.map_rows("row_norms", rows, 1, |context, work, _, group, chunk, out| {
        context.dispatch(
            work,
            Shader::RowNorms,
            &[words(chunk.len), words(group.quads)],
            &[chunk.rows.as_entire_binding(), out.as_entire_binding()],
            tiles(context.precision, chunk.len, group.quads),
        )?;
        Ok(group.unit * group.unit)
    })
}
