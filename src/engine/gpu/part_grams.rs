//! `part_grams`: G_l = Σ b_i b_iᵀ, in runs of rows that the device adds; one wait for all groups.

use faer::Mat;

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    pace::Load,
    range::QUAD,
    resident::{BLOCK, TILE},
    shaders::Shader,
    submissions::Work,
    whiten_rows, words,
};
use crate::{
    Result,
    engine::{Precision, RowMap, Rows},
};

/// The least number of rows of a run; each run takes a matrix.
const SHORTEST_RUN: usize = 256;
/// The most runs whose matrices are held.
const MOST_RUNS: usize = 256;

pub(super) fn part_grams(gpu: &Gpu, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Result<Vec<Mat<f64>>> {
    let context = gpu.context();
    let size = map.map_or(rows.features().dims(), |map| map.factor.ncols());
    gpu.with_room("part_grams", || {
        let mut sums = Sums::new(context, size);
        let mut found = Vec::with_capacity(rows.groups().len());
        for number in 0..rows.groups().len() {
            let group = gpu.resident().group(context, rows, number)?;
            if group.chunks.is_empty() {
                found.push(None);
                continue;
            }
            let total = context.reals(2 * sums.values());
            let mut unit = group.unit;
            for (at, chunk) in group.chunks.iter().enumerate() {
                let mut work = context.work("part_grams");
                let start = if at == 0 { Start::Anew } else { Start::Before };
                if let Some(map) = map {
                    let pitch = sums.pitch;
                    let images = context.reals(chunk.len * pitch);
                    unit =
                        whiten_rows::record(context, &mut work, map, number, &group, chunk, pitch, &images)?;
                    sums.add(&mut work, (&images, chunk.len), &total, start)?;
                    work.hold(images);
                } else {
                    sums.add(&mut work, (&chunk.rows, chunk.len), &total, start)?;
                }
                // The device works on these rows while others are uploaded.
                context.submit(work)?;
            }
            found.push(Some((total, unit)));
        }
        sums.read(&found)
    })
}

/// Where a sum begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// At zero.
    Anew,
    /// Where it was.
    Before,
}

/// Gram matrices of one size.
struct Sums<'c> {
    context: &'c Context,
    size: usize,
    /// Numbers in a row of a matrix.
    pitch: usize,
    /// Matrices of runs.
    partials: Option<Lease>,
}

impl<'c> Sums<'c> {
    fn new(context: &'c Context, size: usize) -> Self {
        Self { context, size, pitch: size.next_multiple_of(QUAD), partials: None }
    }

    /// Numbers in a matrix.
    fn values(&self) -> usize {
        self.pitch * self.pitch
    }

    /// Matrices that fit into a binding.
    fn most(&self) -> usize {
        let bytes = self.values() * size_of(self.context.precision);
        let fit = usize::try_from(self.context.largest_binding).unwrap_or(usize::MAX) / bytes;
        fit.clamp(1, MOST_RUNS)
    }

    /// Adds Σ b bᵀ of some rows to `total`: matrices of runs, then their sum.
    fn add(
        &mut self,
        work: &mut Work,
        (rows, len): (&Lease, usize),
        total: &Lease,
        mut start: Start,
    ) -> Result<()> {
        let (context, most) = (self.context, self.most());
        let (quads, blocks) = (self.pitch / QUAD, self.pitch.div_ceil(BLOCK));
        let width = size_of(context.precision);
        // A block of a row's products, so that no run is too long for one workgroup.
        let (flops, row_bytes) = ((2 * BLOCK * BLOCK) as f64, (2 * BLOCK * width) as f64);
        let longest = context.pace.units_of_a_group(flops, row_bytes).max(SHORTEST_RUN);
        let run = len.div_ceil(len.div_ceil(SHORTEST_RUN).min(MOST_RUNS)).min(longest);
        let runs = len.div_ceil(run);
        let values = self.values();
        let partials = self.partials.get_or_insert_with(|| context.reals(most * values));
        for first in (0..runs).step_by(most) {
            let count = most.min(runs - first);
            context.dispatch(
                work,
                Shader::PartGrams,
                &[words(len), words(quads), words(blocks), words(run), words(first)],
                &[rows.as_entire_binding(), partials.as_entire_binding()],
                Load {
                    groups: count * blocks * (blocks + 1) / 2,
                    flops: flops * run as f64,
                    bytes: row_bytes * run as f64,
                },
            )?;
            let (terms, bytes) = ((count + 2) as f64, (TILE * QUAD * width) as f64);
            context.dispatch(
                work,
                Shader::SumRuns,
                &[words(values / QUAD), words(count), u32::from(start == Start::Anew), 0],
                &[partials.as_entire_binding(), total.as_entire_binding()],
                Load {
                    groups: (values / QUAD).div_ceil(TILE),
                    flops: 7.0 * terms * (TILE * QUAD) as f64,
                    bytes: bytes * terms,
                },
            )?;
            start = Start::Before;
        }
        Ok(())
    }

    /// Reads all sums, of rows that were divided by these units; `None` for a group without rows.
    fn read(&self, totals: &[Option<(Lease, f64)>]) -> Result<Vec<Mat<f64>>> {
        let context = self.context;
        // In f64 the rounding of the sums is no more than that of the runs.
        let numbers = self.values() * if context.precision == Precision::F32 { 2 } else { 1 };
        let bytes = (numbers * size_of(context.precision)) as u64;
        let parts: Vec<(&wgpu::Buffer, u64, u64)> =
            totals.iter().flatten().map(|(total, _)| (&**total, 0, bytes)).collect();
        let mut found = context.download(context.work("part_grams"), &parts)?.into_iter();
        let gram = |total: &Option<(Lease, f64)>| {
            let Some((_, unit)) = total else { return Ok(Mat::zeros(self.size, self.size)) };
            let bytes = found.next().unwrap_or_default();
            let values = context.widened(&bytes);
            let (sums, lost) = values.split_at(self.values());
            let entry = |i: usize, j: usize| {
                // On and below the diagonal.
                let at = i.max(j) * self.pitch + i.min(j);
                (sums[at] + lost.get(at).unwrap_or(&0.0)) * (unit * unit)
            };
            let gram = Mat::from_fn(self.size, self.size, entry);
            let is_finite = (0..self.size).all(|j| gram.col(j).iter().all(|x| x.is_finite()));
            if is_finite { Ok(gram) } else { Err(Context::not_finite("part_grams").into()) }
        };
        totals.iter().map(gram).collect()
    }
}
