//! Verbs that compute some numbers for every row.

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    device_rows::{DeviceRows, LoadedChunk, RowChunk},
    recording::Work,
    tiling::Tile,
};
use crate::{Result, engine::Rows, parallel::map_ordered_mut};

/// The most bytes of answers that wait on the device.
const MOST_WAITING: u64 = 1 << 27;
/// The number of tiles whose numbers a thread reads at a time.
const TASK: usize = 64;

/// Numbers that are computed for every row.
pub(super) trait PerRow {
    /// The number of values per row.
    fn width(&self) -> usize;

    /// The factor of a group's numbers, given the unit of its rows.
    fn unit(&self, group: usize, unit: f64) -> f64;

    /// Records the computation for a chunk.
    fn record(&self, work: &mut Work, loaded: &LoadedChunk<'_>, out: &Lease) -> Result<()>;
}

impl Gpu {
    /// Computes the numbers of every row, group after group. The device works on the first chunks while others are
    /// uploaded. Answers are read together.
    pub(super) fn map_rows<P: PerRow>(
        &self,
        what: &'static str,
        rows: &Rows<'_>,
        prepare: impl Fn(&Context) -> Result<P>,
    ) -> Result<Vec<f64>> {
        let context = self.context();
        self.with_room(what, || {
            let per_row = prepare(context)?;
            let on_device = self.resident().rows(context, rows)?;
            let mut answers = Answers::new(what, context, &on_device, &per_row);
            let mut work = context.work(what);
            for (number, chunk) in on_device.chunks.iter().enumerate() {
                if number > 0 {
                    context.submit_so_far(&mut work)?;
                }
                let out = context.reals(chunk.len * per_row.width());
                let loaded = on_device.load(context, rows.features(), &mut work, chunk)?;
                per_row.record(&mut work, &loaded, &out)?;
                answers.await_chunk(chunk, out)?;
            }
            answers.read(work)?;
            Ok(answers.values)
        })
    }
}

/// The numbers of all rows. For some chunks they are still on the device.
struct Answers<'r, P> {
    what: &'static str,
    context: &'r Context,
    per_row: &'r P,
    /// The unit of every group.
    units: Vec<f64>,
    starts: Vec<usize>,
    waiting: Vec<(&'r RowChunk, Lease)>,
    bytes: u64,
    values: Vec<f64>,
}

impl<'r, P: PerRow> Answers<'r, P> {
    fn new(what: &'static str, context: &'r Context, rows: &DeviceRows, per_row: &'r P) -> Self {
        let starts = rows.starts();
        let all = starts.last().map_or(0, |all| all * per_row.width());
        let unit = |(group, &unit): (usize, &f64)| per_row.unit(group, unit);
        Self {
            what,
            context,
            per_row,
            units: rows.units.iter().enumerate().map(unit).collect(),
            starts,
            waiting: Vec::new(),
            bytes: 0,
            values: vec![0.0; all],
        }
    }

    fn await_chunk(&mut self, chunk: &'r RowChunk, out: Lease) -> Result<()> {
        let own = self.bytes_of(chunk);
        if self.bytes + own > MOST_WAITING {
            self.read(self.context.work(self.what))?;
        }
        self.bytes += own;
        self.waiting.push((chunk, out));
        Ok(())
    }

    fn bytes_of(&self, chunk: &RowChunk) -> u64 {
        (chunk.len * self.per_row.width() * size_of(self.context.precision)) as u64
    }

    /// Reads the waiting answers, after the recorded commands.
    fn read(&mut self, work: Work) -> Result<()> {
        let parts: Vec<(&wgpu::Buffer, u64, u64)> =
            self.waiting.iter().map(|(chunk, out)| (&**out, 0, self.bytes_of(chunk))).collect();
        let (context, units, width) = (self.context, &self.units, self.per_row.width());
        let (starts, values, chunks) = (&self.starts, &mut self.values, self.waiting.iter());
        let are_finite = context.downloaded(work, &parts, |found| {
            found.iter().zip(chunks).all(|(bytes, (chunk, _))| {
                let row_bytes = width * size_of(context.precision);
                let read = |(tile, own): &mut (&Tile, &mut [f64])| {
                    context.scaled(&bytes[tile.start * row_bytes..], units[tile.group], own)
                };
                let mut tiles = own_values(chunk, starts, width, values);
                let tasks = tiles.chunks_mut(TASK).collect();
                map_ordered_mut(tasks, |_, tiles| tiles.iter_mut().all(read)).into_iter().all(|are| are)
            })
        })?;
        self.waiting.clear();
        self.bytes = 0;
        if are_finite { Ok(()) } else { Err(context.not_finite(self.what).into()) }
    }
}

/// The tiles of a chunk, each with its slice of the numbers of all rows.
fn own_values<'v, 'c>(
    chunk: &'c RowChunk,
    starts: &[usize],
    width: usize,
    values: &'v mut [f64],
) -> Vec<(&'c Tile, &'v mut [f64])> {
    let (mut rest, mut end) = (values, 0);
    let own = |tile: &'c Tile| {
        let start = (starts[tile.group] + tile.position) * width;
        let (own, after) = std::mem::take(&mut rest)[start - end..].split_at_mut(tile.len * width);
        (rest, end) = (after, start + own.len());
        (tile, own)
    };
    chunk.tiles.iter().map(own).collect()
}
