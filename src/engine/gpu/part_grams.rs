//! `part_grams`: G_l = Σ b_i b_iᵀ, in runs of rows; the host adds the runs in f64.

use faer::Mat;

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::{Context, Work},
    kernels::Kernel,
    resident::{BLOCK, Chunk, DeviceGroup, QUAD},
    whiten_rows, words,
};
use crate::{
    Result,
    engine::{RowMap, Rows},
};

/// Rows of a run at least: fewer are not worth a matrix of their own.
const SHORTEST_RUN: usize = 256;
/// Runs of a chunk at most: their matrices travel to the host.
const MOST_RUNS: usize = 256;

pub(super) fn part_grams(gpu: &Gpu, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Result<Vec<Mat<f64>>> {
    let context = gpu.context();
    let size = map.map_or(rows.features().dims(), |map| map.factor.ncols());
    gpu.with_room("part_grams", || {
        let mut grams = vec![Mat::<f64>::zeros(size, size); rows.groups().len()];
        for (number, gram) in grams.iter_mut().enumerate() {
            let group = gpu.resident().group(context, rows, number);
            for chunk in &group.chunks {
                add_chunk(context, map, number, &group, chunk, gram)?;
            }
            for j in 1..size {
                for i in 0..j {
                    gram[(i, j)] = gram[(j, i)];
                }
            }
        }
        Ok(grams)
    })
}

/// Adds the Gram matrix of a chunk: the lower half.
fn add_chunk(
    context: &Context,
    map: Option<&RowMap<'_>>,
    number: usize,
    group: &DeviceGroup,
    chunk: &Chunk,
    gram: &mut Mat<f64>,
) -> Result<()> {
    let mut work = context.work();
    let Some(map) = map else {
        return add_rows(context, work, &chunk.rows, chunk.len, group.quads, gram);
    };
    let pitch = map.factor.ncols().next_multiple_of(QUAD);
    let images = context.reals(chunk.len * pitch);
    whiten_rows::record(context, &mut work, map, number, group, chunk, pitch, &images)?;
    add_rows(context, work, &images, chunk.len, pitch / QUAD, gram)
}

fn add_rows(
    context: &Context,
    mut work: Work,
    rows: &Lease,
    len: usize,
    quads: usize,
    gram: &mut Mat<f64>,
) -> Result<()> {
    let pitch = quads * QUAD;
    let bytes = pitch * pitch * size_of(context.precision);
    let fit = usize::try_from(context.largest_binding).unwrap_or(usize::MAX) / bytes;
    let runs = len.div_ceil(SHORTEST_RUN).min(MOST_RUNS).min(fit.max(1));
    let run = len.div_ceil(runs);
    let runs = len.div_ceil(run);
    let blocks = pitch.div_ceil(BLOCK);
    let partials = context.reals(runs * pitch * pitch);
    context.dispatch(
        &mut work,
        Kernel::PartGrams,
        &[words(len), words(quads), words(blocks), words(run)],
        &[rows.as_entire_binding(), partials.as_entire_binding()],
        runs * blocks * (blocks + 1) / 2,
    )?;
    let found = context.download(work, "part_grams", &[(&partials, 0, (runs * bytes) as u64)])?;
    let values = context.values(&found.concat());
    for partial in values.chunks_exact(pitch * pitch) {
        for j in 0..gram.ncols() {
            for i in j..gram.nrows() {
                gram[(i, j)] += partial[i * pitch + j];
            }
        }
    }
    Ok(())
}
