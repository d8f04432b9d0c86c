//! `part_grams`: G_l = Σ b_i b_iᵀ, in runs of tiles that the device adds. There is one wait per batch of groups.

use std::ops::Range;

use faer::Mat;

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    device_rows::{DeviceRows, LoadedChunk, RowChunk},
    map_rows::PerRow,
    pace::Load,
    parameters::parameters,
    range::QUAD,
    recording::Work,
    resident::{BLOCK, TILE},
    shaders::Shader,
    whiten_rows::Images,
    words,
};
use crate::{
    Result,
    engine::{Precision, RowMap, Rows},
};

/// The most runs of a chunk, apart from one per group. Each run takes a matrix.
const MOST_RUNS: usize = 256;
/// The most bytes of matrices of runs.
const MOST_BYTES: usize = 1 << 27;

pub(super) fn part_grams(gpu: &Gpu, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Result<Vec<Mat<f64>>> {
    let context = gpu.context();
    let size = map.map_or(rows.features().dims(), |map| map.factor.ncols());
    gpu.with_room("part_grams", || {
        let pitch = size.next_multiple_of(QUAD);
        let images = map.map(|map| Images::upload(context, map, pitch)).transpose()?;
        let on_device = gpu.resident().rows(context, rows)?;
        let sums = Sums { context, rows: &on_device, size, pitch };
        let mut found = Vec::with_capacity(rows.groups().len());
        for groups in sums.batches() {
            let totals = context.reals(2 * sums.values() * groups.len());
            let mut so_far = vec![Start::Anew; groups.len()];
            let mut work = context.work("part_grams");
            for chunk in &on_device.chunks {
                let runs = sums.runs(chunk, &groups);
                if runs.is_empty() {
                    continue;
                }
                if so_far.contains(&Start::Before) {
                    // The device works on some rows while others are uploaded.
                    context.submit_so_far(&mut work)?;
                }
                let loaded = on_device.load(context, rows.features(), &mut work, chunk)?;
                let terms = match &images {
                    Some(images) => {
                        let out = context.reals(chunk.len * pitch);
                        images.record(&mut work, &loaded, &out)?;
                        loaded.images(work.hold(out), pitch / QUAD)
                    }
                    None => loaded,
                };
                sums.add(&mut work, &terms, &runs, (&groups, &mut so_far), &totals)?;
            }
            let unit = |l: usize| match &images {
                Some(images) => images.unit(l, on_device.units[l]),
                None => on_device.units[l],
            };
            found.extend(sums.read(work, &totals, (&groups, &so_far), unit)?);
        }
        Ok(found)
    })
}

/// The value at which a sum begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// Zero.
    Anew,
    /// The sum so far.
    Before,
}

/// Some tiles of one group.
struct Run {
    group: usize,
    first: usize,
    tiles: usize,
}

/// Gram matrices of one size.
struct Sums<'r> {
    context: &'r Context,
    rows: &'r DeviceRows,
    size: usize,
    /// The number of values per row of a matrix.
    pitch: usize,
}

impl Sums<'_> {
    /// The number of values per matrix.
    fn values(&self) -> usize {
        self.pitch * self.pitch
    }

    /// The number of matrices that fit into a binding.
    fn most(&self) -> usize {
        let bytes = self.values() * size_of(self.context.precision);
        let room = usize::try_from(self.context.largest_binding).unwrap_or(usize::MAX).min(MOST_BYTES);
        (room / bytes.max(1)).max(1)
    }

    /// Batches of groups whose sums fit into a binding.
    fn batches(&self) -> Vec<Range<usize>> {
        let (all, most) = (self.rows.lens.len(), (self.most() / 2).max(1));
        (0..all).step_by(most).map(|first| first..all.min(first + most)).collect()
    }

    /// Operations and bytes read per tile, in a block of the matrix.
    fn of_a_tile(&self) -> (f64, f64) {
        let width = size_of(self.context.precision);
        ((2 * TILE * BLOCK * BLOCK) as f64, (2 * TILE * BLOCK * width) as f64)
    }

    /// The runs of some groups: long enough that there are few, and short enough for one workgroup.
    fn runs(&self, chunk: &RowChunk, groups: &Range<usize>) -> Vec<Run> {
        let (flops, bytes) = self.of_a_tile();
        let longest = self.context.pace.units_of_a_group(flops, bytes);
        let tiles = chunk.tiles.len().div_ceil(MOST_RUNS).min(longest);
        let own = chunk.spans().filter(|(group, _)| groups.contains(group));
        let run = |(group, span): (usize, Range<usize>)| {
            let end = span.end;
            span.step_by(tiles).map(move |first| Run { group, first, tiles: tiles.min(end - first) })
        };
        own.flat_map(run).collect()
    }

    /// Adds Σ b bᵀ of all runs to the totals of their groups: first the matrices of the runs, then their sums.
    fn add(
        &self,
        work: &mut Work,
        terms: &LoadedChunk<'_>,
        runs: &[Run],
        (groups, so_far): (&Range<usize>, &mut [Start]),
        totals: &Lease,
    ) -> Result<()> {
        let context = self.context;
        let most = self.most().min(MOST_RUNS + groups.len()).min(runs.len());
        let table: Vec<[u32; 2]> = runs.iter().map(|run| [words(run.first), words(run.tiles)]).collect();
        let table = work.hold(context.uploaded_words(table.as_flattened()));
        let spans = work.hold(context.uploaded_words(&spans(runs, groups, so_far)));
        let partials = context.reals(most * self.values());
        for first in (0..runs.len()).step_by(most) {
            let last = runs.len().min(first + most);
            self.record_runs(work, terms, &runs[first..last], first, &[&table, &partials])?;
            let (quads, blocks) = (self.values() / QUAD, (self.values() / QUAD).div_ceil(TILE));
            let added = (last - first).div_ceil(groups.len()) + 2;
            let bytes = (added * TILE * QUAD * size_of(context.precision)) as f64;
            context.dispatch(
                work,
                Shader::SumRuns,
                &parameters! { quads, first, last, blocks, zero: 0_u32 },
                &[&partials, &spans, totals],
                Load { groups: blocks * groups.len(), flops: 7.0 * (added * TILE * QUAD) as f64, bytes },
            )?;
        }
        work.hold(partials);
        runs.iter().for_each(|run| so_far[run.group - groups.start] = Start::Before);
        Ok(())
    }

    fn record_runs(
        &self,
        work: &mut Work,
        terms: &LoadedChunk<'_>,
        runs: &[Run],
        first: usize,
        own: &[&wgpu::Buffer],
    ) -> Result<()> {
        let blocks = self.pitch.div_ceil(BLOCK);
        let (flops, bytes) = self.of_a_tile();
        let longest = runs.iter().map(|run| run.tiles).max().unwrap_or(0) as f64;
        let load = Load {
            groups: runs.len() * blocks * (blocks + 1) / 2,
            flops: flops * longest,
            bytes: bytes * longest,
        };
        terms.dispatch(work, Shader::PartGrams, &parameters! { blocks, first }, own, load)
    }

    /// Reads the sums of some groups. `unit` gives the divisor of a group's rows.
    fn read(
        &self,
        work: Work,
        totals: &Lease,
        (groups, so_far): (&Range<usize>, &[Start]),
        unit: impl Fn(usize) -> f64,
    ) -> Result<Vec<Mat<f64>>> {
        let context = self.context;
        // In f64, the sums add no more rounding than the runs, so their rounding errors are not read.
        let numbers = self.values() * if context.precision == Precision::F32 { 2 } else { 1 };
        let width = size_of(context.precision);
        let place = |own: usize| ((2 * own * self.values() * width) as u64, (numbers * width) as u64);
        let parts: Vec<(&wgpu::Buffer, u64, u64)> = (0..groups.len())
            .filter(|&own| so_far[own] == Start::Before)
            .map(|own| (&**totals, place(own).0, place(own).1))
            .collect();
        let mut found = context.download(work, &parts)?.into_iter();
        let gram = |(group, start): (usize, &Start)| {
            if *start == Start::Anew {
                return Ok(Mat::zeros(self.size, self.size));
            }
            let values = context.widened(&found.next().unwrap_or_default());
            let (sums, lost) = values.split_at(self.values());
            let unit = unit(group);
            let entry = |i: usize, j: usize| {
                // The entry on or below the diagonal.
                let at = i.max(j) * self.pitch + i.min(j);
                (sums[at] + lost.get(at).unwrap_or(&0.0)) * (unit * unit)
            };
            let gram = Mat::from_fn(self.size, self.size, entry);
            let is_finite = (0..self.size).all(|j| gram.col(j).iter().all(|x| x.is_finite()));
            if is_finite { Ok(gram) } else { Err(context.not_finite("part_grams").into()) }
        };
        groups.clone().zip(so_far).map(gram).collect()
    }
}

/// The first run of every group, the end of its runs, and whether its sum begins with them.
fn spans(runs: &[Run], groups: &Range<usize>, so_far: &[Start]) -> Vec<u32> {
    let span = |(group, start): (usize, &Start)| {
        let first = runs.partition_point(|run| run.group < group);
        let last = runs.partition_point(|run| run.group <= group);
        [words(first), words(last), u32::from(*start == Start::Anew), 0]
    };
    groups.clone().zip(so_far).flat_map(span).collect()
}
