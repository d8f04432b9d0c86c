//! `gain_update`: d ← d − (A q)² and the largest d of every group.

use std::sync::Arc;

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    range::Padded,
    resident::{DeviceGroup, TILE, tiles},
    shaders::Shader,
    words,
};
use crate::{
    Result,
    engine::{GainTable, Precision, Rows, Top, sealed::Sealed},
};

/// Tiles whose gains are read together where rounding cannot distinguish them.
const TILES_TOGETHER: usize = 1024;

/// A table on the device.
#[derive(Debug)]
pub(super) struct DeviceGains {
    gpu: Gpu,
    groups: Vec<GroupGains>,
    /// Groups that are open.
    open: Vec<bool>,
    /// Group and position of rows removed since the last update.
    removed: Vec<(usize, usize)>,
    /// Number of directions so far.
    updates: usize,
}

#[derive(Debug)]
struct GroupGains {
    rows: Arc<DeviceGroup>,
    chunks: Vec<ChunkGains>,
    /// The largest gain at the start.
    reference: f64,
}

#[derive(Debug)]
struct ChunkGains {
    gains: Lease,
    /// Largest and second largest of every tile.
    values: Lease,
    /// Position of the largest.
    positions: Lease,
}

pub(super) fn gain_table(gpu: &Gpu, rows: &Rows<'_>, gains: &[f64]) -> Result<DeviceGains> {
    let context = gpu.context();
    let groups = gpu.with_room("gain_table", || {
        let mut rest = gains;
        let mut groups = Vec::with_capacity(rows.groups().len());
        for rows in gpu.resident().groups(context, rows)? {
            let len = rows.chunks.iter().map(|chunk| chunk.len).sum();
            let (own, others) = rest.split_at(len);
            rest = others;
            let square = rows.unit * rows.unit;
            let chunk = |chunk: &super::resident::Chunk| {
                let tiles = chunk.len.div_ceil(TILE);
                let gains: Vec<f64> =
                    own[chunk.start..chunk.start + chunk.len].iter().map(|gain| gain / square).collect();
                Ok(ChunkGains {
                    gains: context.uploaded(&gains)?,
                    values: context.reals(2 * tiles),
                    positions: context.storage(4 * tiles as u64),
                })
            };
            let chunks = rows.chunks.iter().map(chunk).collect::<Result<_>>()?;
            let reference = own.iter().copied().fold(0.0, f64::max);
            groups.push(GroupGains { rows, chunks, reference });
        }
        Ok(groups)
    })?;
    let open = vec![true; rows.groups().len()];
    Ok(DeviceGains { gpu: gpu.clone(), groups, open, removed: Vec::new(), updates: 0 })
}

impl Sealed for DeviceGains {}

impl GainTable for DeviceGains {
    fn update(&mut self, direction: Option<&[f64]>) -> Result<Vec<Vec<Top>>> {
        let gpu = self.gpu.clone();
        let context = gpu.context();
        context.checked("gain_update", || {
            let lowest = [f64::NEG_INFINITY];
            for (group, position) in self.removed.drain(..) {
                let group = &self.groups[group];
                let at = group.rows.chunks.partition_point(|chunk| chunk.start + chunk.len <= position);
                context.write(&group.chunks[at].gains, position - group.rows.chunks[at].start, &lowest)?;
            }
            self.updates += usize::from(direction.is_some());
            let tiles = self.run(context, direction)?;
            let mut tops = vec![Vec::new(); self.open.len()];
            for (group, tiles) in tiles {
                tops[group] = self.leading(context, group, &tiles)?;
            }
            Ok(tops)
        })
    }

    fn remove(&mut self, group: usize, position: usize) {
        self.removed.push((group, position));
    }

    fn close(&mut self, group: usize) {
        self.open[group] = false;
    }

    fn read(&self) -> Result<Vec<Vec<f64>>> {
        let context = self.gpu.context();
        context.checked("gain_update", || {
            let read = |group: &GroupGains| {
                let width = size_of(context.precision) as u64;
                let chunks = group.chunks.iter().zip(&group.rows.chunks);
                let parts: Vec<(&wgpu::Buffer, u64, u64)> =
                    chunks.map(|(own, rows)| (&*own.gains, 0, width * rows.len as u64)).collect();
                let bytes = context.download(context.work("gain_update"), &parts)?.concat();
                let gains = context.values_or_lowest("gain_update", &bytes)?;
                Ok(gains.iter().map(|gain| gain * group.rows.unit * group.rows.unit).collect())
            };
            self.groups.iter().map(read).collect()
        })
    }
}

/// The result of a tile.
struct TileTop {
    chunk: usize,
    /// First row of the tile in the chunk.
    first: usize,
    top: Top,
    second: f64,
}

impl DeviceGains {
    /// Updates all open groups and reads the results of their tiles.
    fn run(&self, context: &Context, direction: Option<&[f64]>) -> Result<Vec<(usize, Vec<TileTop>)>> {
        let update = u32::from(direction.is_some());
        let direction = Padded::vector(Precision::F64, direction.unwrap_or(&[0.0]));
        let direction = context.uploaded(&direction.values)?;
        let mut work = context.work("gain_update");
        let mut parts: Vec<(&wgpu::Buffer, u64, u64)> = Vec::new();
        let width = size_of(context.precision) as u64;
        let opened = || self.groups.iter().enumerate().filter(|(group, _)| self.open[*group]);
        for (_, group) in opened() {
            for (rows, own) in group.rows.chunks.iter().zip(&group.chunks) {
                let load = tiles(context.precision, rows.len, group.rows.quads);
                context.dispatch(
                    &mut work,
                    Shader::GainUpdate,
                    &[words(rows.len), words(group.rows.quads), update],
                    &[
                        rows.rows.as_entire_binding(),
                        direction.as_entire_binding(),
                        own.gains.as_entire_binding(),
                        own.values.as_entire_binding(),
                        own.positions.as_entire_binding(),
                    ],
                    load,
                )?;
                parts.push((&own.values, 0, 2 * width * load.groups as u64));
                parts.push((&own.positions, 0, 4 * load.groups as u64));
            }
        }
        let mut found = context.download(work, &parts)?.into_iter();
        let mut tops = Vec::new();
        for (number, group) in opened() {
            let square = group.rows.unit * group.rows.unit;
            let mut tiles = Vec::new();
            for (chunk, rows) in group.rows.chunks.iter().enumerate() {
                let (Some(values), Some(positions)) = (found.next(), found.next()) else { break };
                let values = context.values_or_lowest("gain_update", &values)?;
                let positions = bytemuck::pod_collect_to_vec::<u8, u32>(&positions);
                for (tile, (values, position)) in values.chunks_exact(2).zip(positions).enumerate() {
                    let [gain, second] = [values[0] * square, values[1] * square];
                    let top = Top { position: rows.start + position as usize, gain };
                    tiles.push(TileTop { chunk, first: tile * TILE, top, second });
                }
            }
            tops.push((number, tiles));
        }
        Ok(tops)
    }

    /// The largest gain of a group, and in single precision those that may be larger.
    fn leading(&self, context: &Context, group: usize, tiles: &[TileTop]) -> Result<Vec<Top>> {
        let mut best = None;
        tiles.iter().for_each(|tile| Top::keep_larger(&mut best, Some(tile.top)));
        let Some(best) = best.filter(|best| best.gain > f64::NEG_INFINITY) else { return Ok(Vec::new()) };
        if context.precision == Precision::F64 {
            return Ok(vec![best]);
        }
        let floor = best.gain - self.tolerance(group);
        let mut leading = vec![best];
        let is_rival = |top: &Top| top.position != best.position && top.gain >= floor;
        let (several, single): (Vec<&TileTop>, Vec<_>) = tiles.iter().partition(|tile| tile.second >= floor);
        leading.extend(single.iter().map(|tile| tile.top).filter(is_rival));
        for tiles in several.chunks(TILES_TOGETHER) {
            leading.extend(self.read_tiles(context, group, tiles)?.into_iter().filter(is_rival));
        }
        Ok(leading)
    }

    /// A bound on the rounding error of a gain: every update adds the error of a product of n terms.
    fn tolerance(&self, group: usize) -> f64 {
        let GroupGains { rows, reference, .. } = &self.groups[group];
        let (terms, updates) = ((rows.quads * 4) as f64, self.updates as f64);
        f64::from(f32::EPSILON) * reference * (2.0 * (terms * (updates + 1.0)).sqrt() + updates.sqrt() + 4.0)
    }

    /// All gains of some tiles.
    fn read_tiles(&self, context: &Context, group: usize, tiles: &[&TileTop]) -> Result<Vec<Top>> {
        let GroupGains { rows, chunks, .. } = &self.groups[group];
        let width = size_of(context.precision);
        let part = |tile: &&TileTop| {
            let len = TILE.min(rows.chunks[tile.chunk].len - tile.first);
            (&*chunks[tile.chunk].gains, (tile.first * width) as u64, (len * width) as u64)
        };
        let parts: Vec<_> = tiles.iter().map(part).collect();
        let found = context.download(context.work("gain_update"), &parts)?;
        let mut tops = Vec::new();
        for (tile, bytes) in tiles.iter().zip(&found) {
            let first = rows.chunks[tile.chunk].start + tile.first;
            let gains = context.values_or_lowest("gain_update", bytes)?;
            let top = |(at, gain)| Top { position: first + at, gain: gain * (rows.unit * rows.unit) };
            tops.extend(gains.into_iter().enumerate().map(top));
        }
        Ok(tops)
    }
}
