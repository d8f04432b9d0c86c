//! `part_grams`: G_l = Σ b_i b_iᵀ, in runs of rows; the host adds the runs in f64.

use faer::Mat;

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    pace::Load,
    range::QUAD,
    resident::{BLOCK, Chunk, DeviceGroup},
    shaders::Shader,
    submissions::Work,
    whiten_rows, words,
};
use crate::{
    Result,
    engine::{RowMap, Rows},
};

/// The least number of rows of a run; each run takes a matrix.
const SHORTEST_RUN: usize = 256;
/// The most runs read together, except for large matrices, as their matrices are downloaded to the host.
const MOST_RUNS: usize = 256;

pub(super) fn part_grams(gpu: &Gpu, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Result<Vec<Mat<f64>>> {
    let context = gpu.context();
    let size = map.map_or(rows.features().dims(), |map| map.factor.ncols());
    gpu.with_room("part_grams", || {
        let mut grams = vec![Mat::<f64>::zeros(size, size); rows.groups().len()];
        for (number, gram) in grams.iter_mut().enumerate() {
            let group = gpu.resident().group(context, rows, number)?;
            for chunk in &group.chunks {
                add_chunk(context, map, number, &group, chunk, gram)?;
            }
            for j in 0..size {
                for i in 0..=j {
                    // The computed entries are on and below the diagonal; their sum shows infinities.
                    if !gram[(j, i)].is_finite() {
                        return Err(Context::not_finite("part_grams").into());
                    }
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
    let mut work = context.work("part_grams");
    let Some(map) = map else {
        return add_rows(context, work, &chunk.rows, chunk.len, group.quads, group.unit, gram);
    };
    let pitch = map.factor.ncols().next_multiple_of(QUAD);
    let images = context.reals(chunk.len * pitch);
    let unit = whiten_rows::record(context, &mut work, map, number, group, chunk, pitch, &images)?;
    add_rows(context, work, &images, chunk.len, pitch / QUAD, unit, gram)
}

/// Adds Σ b bᵀ of some rows that were divided by `unit`.
fn add_rows(
    context: &Context,
    work: Work,
    rows: &Lease,
    len: usize,
    quads: usize,
    unit: f64,
    gram: &mut Mat<f64>,
) -> Result<()> {
    let pitch = quads * QUAD;
    let width = size_of(context.precision);
    let bytes = pitch * pitch * width;
    // A block of a row's products, so that no run is too long for one workgroup.
    let (flops, row_bytes) = ((2 * BLOCK * BLOCK) as f64, (2 * BLOCK * width) as f64);
    let longest = context.pace.units_of_a_group(flops, row_bytes).max(SHORTEST_RUN);
    let run = len.div_ceil(len.div_ceil(SHORTEST_RUN).min(MOST_RUNS)).min(longest);
    let runs = len.div_ceil(run);
    let fit = usize::try_from(context.largest_binding).unwrap_or(usize::MAX) / bytes;
    let blocks = pitch.div_ceil(BLOCK);
    let pairs = blocks * (blocks + 1) / 2;
    let together = runs.min(MOST_RUNS).min(fit.max(1));
    let partials = context.reals(together * pitch * pitch);
    let mut recorded = Some(work);
    for first in (0..runs).step_by(together) {
        let count = together.min(runs - first);
        let mut work = recorded.take().unwrap_or_else(|| context.work("part_grams"));
        context.dispatch(
            &mut work,
            Shader::PartGrams,
            &[words(len), words(quads), words(blocks), words(run), words(first)],
            &[rows.as_entire_binding(), partials.as_entire_binding()],
            Load { groups: count * pairs, flops: flops * run as f64, bytes: row_bytes * run as f64 },
        )?;
        let found = context.download(work, &[(&partials, 0, (count * bytes) as u64)])?;
        for partial in context.widened(&found.concat()).chunks_exact(pitch * pitch) {
            for j in 0..gram.ncols() {
                for i in j..gram.nrows() {
                    gram[(i, j)] += partial[i * pitch + j] * (unit * unit);
                }
            }
        }
    }
    Ok(())
}
