//! `whiten_rows`: w_l Fᵀ a_i for every row.

use super::{
    Gpu,
    buffers::Lease,
    context::{Context, Work},
    kernels::Kernel,
    resident::{BLOCK, Chunk, DeviceGroup, QUAD, padded_factor},
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

/// The images of a chunk's rows, `width` values each; zeros beyond the columns of the factor.
#[expect(clippy::too_many_arguments, reason = "what a dispatch needs, for the two verbs that need it")]
pub(super) fn record(
    context: &Context,
    work: &mut Work,
    map: &RowMap<'_>,
    number: usize,
    group: &DeviceGroup,
    chunk: &Chunk,
    width: usize,
    out: &Lease,
) -> Result<()> {
    let factor = work.hold(context.uploaded(&padded_factor(map.factor, map.weights[number])));
    let blocks = width.div_ceil(BLOCK);
    context.dispatch(
        work,
        Kernel::WhitenRows,
        &[
            words(chunk.len),
            words(group.quads),
            words(map.factor.ncols().div_ceil(QUAD)),
            words(width),
            words(blocks),
        ],
        &[chunk.rows.as_entire_binding(), factor.as_entire_binding(), out.as_entire_binding()],
        chunk.len.div_ceil(BLOCK) * blocks,
    )
}
