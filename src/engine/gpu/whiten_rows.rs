//! `whiten_rows`: w_l Fᵀ a_i for every row.

use super::{
    Gpu,
    buffers::Lease,
    context::Context,
    range::{Padded, QUAD},
    resident::{BLOCK, Chunk, DeviceGroup, blocks},
    shaders::Shader,
    submissions::Work,
    words,
};
use crate::{
    Result,
    engine::{RowMap, Rows},
};

pub(super) fn whiten_rows(gpu: &Gpu, rows: &Rows<'_>, map: &RowMap<'_>) -> Result<Vec<f64>> {
    let width = map.factor.ncols();
    gpu.map_rows("whiten_rows", rows, width, |context, work, number, group, chunk, out| {
        record(context, work, map, number, group, chunk, width, out)
    })
}

/// Records the images of a chunk's rows, `width` values each, zeros beyond the columns of the factor; returns their
/// factor.
#[expect(clippy::too_many_arguments, reason = "a dispatch of two verbs")]
pub(super) fn record(
    context: &Context,
    work: &mut Work,
    map: &RowMap<'_>,
    number: usize,
    group: &DeviceGroup,
    chunk: &Chunk,
    width: usize,
    out: &Lease,
) -> Result<f64> {
    let factor = Padded::factor(context.precision, map.factor, map.weights[number]);
    let device = work.hold(context.uploaded(&factor.values)?);
    context.dispatch(
        work,
        Shader::WhitenRows,
        &[
            words(chunk.len),
            words(group.quads),
            words(map.factor.ncols().div_ceil(QUAD)),
            words(width),
            words(width.div_ceil(BLOCK)),
        ],
        &[chunk.rows.as_entire_binding(), device.as_entire_binding(), out.as_entire_binding()],
        blocks(context.precision, chunk.len, group.quads, width),
    )?;
    Ok(group.unit * factor.unit)
}
