//! The rows of a verb on the device: tiles, each with rows of one group, over the rows as they are stored.

use std::sync::{Arc, OnceLock};

use super::{
    buffers::{Lease, size_of},
    context::Context,
    pace::Load,
    parameters::{Parameter, parameters},
    range::QUAD,
    recording::Work,
    resident::{BLOCK, TILE},
    row_factors::Scaling,
    shaders::{RowType, Shader},
    stored::Stored,
    tiling::{Tile, Tiling},
};
use crate::{
    Features, Result,
    engine::{Precision, Rows},
};

/// How shaders read rows: with one factor per position.
pub(super) const WEIGHTED: u32 = 1;
/// How shaders read rows: in the order of positions, without factors.
const IMAGES: u32 = 2;

/// The rows s·a_i of some groups, each divided by the unit of its group.
#[derive(Debug)]
pub(super) struct DeviceRows {
    stored: Arc<Stored>,
    /// Whether all rows of the features are stored.
    is_shared: bool,
    precision: Precision,
    reading: u32,
    /// A power of two per group.
    pub(super) units: Vec<f64>,
    /// The number of rows per group.
    pub(super) lens: Vec<usize>,
    /// The chunks with rows of any group.
    pub(super) chunks: Vec<RowChunk>,
    /// The largest ‖s·a_i‖² per group, once it has been requested.
    pub(super) longest: OnceLock<Vec<f64>>,
}

/// The rows that lie in one stored chunk.
#[derive(Debug)]
pub(super) struct RowChunk {
    stored: usize,
    pub(super) tiles: Vec<Tile>,
    /// The number of rows, which shaders number tile by tile.
    pub(super) len: usize,
    /// The tiles, as shaders read them.
    pub(super) table: Lease,
    factors: Lease,
}

impl DeviceRows {
    pub(super) fn new(context: &Context, stored: Arc<Stored>, rows: &Rows<'_>) -> Result<Self> {
        let lens: Vec<usize> = rows.groups().iter().map(|group| group.items.len()).collect();
        let tiling = Tiling::new(&stored, rows);
        let (scaling, units) = Scaling::new(context.precision, &stored, rows, || tiling.stored_rows())?;
        let reading = if scaling.is_of_groups() { 0 } else { WEIGHTED };
        let chunks = tiling.chunks.iter().filter(|chunk| chunk.len > 0);
        let chunks = chunks.map(|chunk| {
            let factors = scaling.factors(rows.features(), &stored, chunk.stored_rows(tiling.chunk_rows));
            Ok(RowChunk {
                stored: chunk.number,
                tiles: chunk.tiles.iter().map(|(tile, _)| *tile).collect(),
                len: chunk.len,
                table: context.uploaded_words(&chunk.table()),
                factors: context.uploaded(&factors)?,
            })
        });
        let chunks = chunks.collect::<Result<_>>()?;
        let is_shared = stored.len() == rows.features().items();
        Ok(Self {
            is_shared,
            precision: context.precision,
            reading,
            units,
            lens,
            chunks,
            longest: OnceLock::new(),
            stored,
        })
    }

    /// The number of values per row, in groups of four.
    pub(super) fn quads(&self) -> usize {
        self.stored.quads
    }

    /// The offset of each group's rows in a list of all groups, followed by the number of all rows.
    pub(super) fn starts(&self) -> Vec<usize> {
        let mut next = 0;
        let start = |len: &usize| {
            next += len;
            next - len
        };
        let mut starts: Vec<usize> = self.lens.iter().map(start).collect();
        starts.push(next);
        starts
    }

    /// Returns the tile with this number, counted over all chunks, and the number of its chunk.
    pub(super) fn tile(&self, tile: usize) -> (usize, &Tile) {
        let mut left = tile;
        for (number, chunk) in self.chunks.iter().enumerate() {
            match chunk.tiles.get(left) {
                Some(tile) => return (number, tile),
                None => left -= chunk.tiles.len(),
            }
        }
        unreachable!("there is no tile {tile}")
    }

    /// Returns a row's chunk and its place there; `None` if the row does not exist.
    pub(super) fn place(&self, group: usize, position: usize) -> Option<(usize, usize)> {
        let (chunk, tile, row) = self.locate(group, position)?;
        Some((chunk, self.chunks[chunk].tiles[tile].start + row))
    }

    /// Returns a row's tile, counted over all chunks, and its place there; `None` if the row does not exist.
    pub(super) fn tile_place(&self, group: usize, position: usize) -> Option<(usize, usize)> {
        let (chunk, tile, row) = self.locate(group, position)?;
        let before: usize = self.chunks[..chunk].iter().map(|chunk| chunk.tiles.len()).sum();
        Some((before + tile, row))
    }

    /// Returns a row's chunk, its tile in the chunk, and its place in the tile.
    fn locate(&self, group: usize, position: usize) -> Option<(usize, usize, usize)> {
        self.chunks.iter().enumerate().find_map(|(number, chunk)| {
            let after = chunk.tiles.partition_point(|tile| (tile.group, tile.position) <= (group, position));
            let tile = chunk.tiles[..after].last().filter(|tile| tile.group == group)?;
            (position < tile.position + tile.len).then(|| (number, after - 1, position - tile.position))
        })
    }

    /// The rows of a chunk, uploaded if necessary.
    ///
    /// # Errors
    /// Errors of the device.
    pub(super) fn load<'r>(
        &'r self,
        context: &'r Context,
        features: &Features,
        work: &mut Work,
        chunk: &'r RowChunk,
    ) -> Result<LoadedChunk<'r>> {
        let (quads, reading, row_type) = (self.quads(), self.reading, self.stored.row_type);
        let stored = self.stored.chunk(context, features, work, chunk.stored)?;
        Ok(LoadedChunk { context, rows: self, chunk, stored, row_type, quads, reading })
    }

    /// Whether all rows stay on the device.
    pub(super) fn stays(&self) -> bool {
        self.stored.stays()
    }

    /// Bytes on the device, without the rows that all lists share.
    pub(super) fn bytes(&self) -> u64 {
        let own = if self.is_shared { 0 } else { self.stored.bytes() };
        own + self.chunks.iter().map(|chunk| chunk.table.size() + chunk.factors.size()).sum::<u64>()
    }

    /// The number of tiles.
    pub(super) fn tiles(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.tiles.len()).sum()
    }

    /// Submits the recorded commands if they hold rows that do not stay on the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub(super) fn let_go(&self, context: &Context, work: &mut Work) -> Result<()> {
        if self.stays() { Ok(()) } else { context.submit_so_far(work).map(drop) }
    }

    /// Uploads all rows if they stay on the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub(super) fn stay(&self, context: &Context, features: &Features) -> Result<()> {
        let chunks = if self.stays() { &self.chunks[..] } else { &[] };
        let mut work = context.work("rows");
        chunks.iter().try_for_each(|chunk| self.load(context, features, &mut work, chunk).map(drop))
    }

    /// Uploads a squared length per row, given group after group, to one buffer per chunk in the order of its rows.
    ///
    /// # Errors
    /// Errors of the device.
    pub(super) fn upload_squares(&self, context: &Context, squares: &[f64]) -> Result<Vec<Lease>> {
        let starts = self.starts();
        let of_chunk = |chunk: &RowChunk| {
            let mut own = Vec::with_capacity(chunk.len);
            for tile in &chunk.tiles {
                let (unit, first) = (self.units[tile.group], starts[tile.group] + tile.position);
                own.extend(squares[first..first + tile.len].iter().map(|square| square / (unit * unit)));
            }
            context.uploaded(&own)
        };
        self.chunks.iter().map(of_chunk).collect()
    }

    /// The load of a product of rows with a vector, with one tile of rows per workgroup.
    pub(super) fn tile_load(&self, tiles: usize) -> Load {
        let values = (TILE * self.quads() * QUAD) as f64;
        Load { groups: tiles, flops: 2.0 * values, bytes: values * self.stored.row_type.width() as f64 }
    }

    /// The load of a product of the rows of tiles with a matrix of this many columns, with one block of rows and
    /// columns per workgroup.
    pub(super) fn block_load(&self, tiles: usize, columns: usize) -> Load {
        let terms = (self.quads() * QUAD) as f64;
        let (side, width) = (BLOCK as f64, size_of(self.precision) as f64);
        Load {
            groups: tiles * (TILE / BLOCK) * columns.div_ceil(BLOCK),
            flops: 2.0 * side * side * terms,
            bytes: (2.0 * side * terms + side * side) * width,
        }
    }
}

/// The rows of one chunk on the device, or images of them.
#[derive(Debug)]
pub(super) struct LoadedChunk<'r> {
    pub(super) context: &'r Context,
    pub(super) rows: &'r DeviceRows,
    pub(super) chunk: &'r RowChunk,
    stored: wgpu::Buffer,
    row_type: RowType,
    quads: usize,
    reading: u32,
}

impl LoadedChunk<'_> {
    /// Images of the rows, in the device's precision and in the order of positions.
    pub(super) fn images(&self, stored: wgpu::Buffer, quads: usize) -> Self {
        let row_type = RowType::of(self.context.precision);
        Self { stored, row_type, quads, reading: IMAGES, ..*self }
    }

    /// Records a shader that reads the rows, with its own parameters and buffers.
    pub(super) fn dispatch(
        &self,
        work: &mut Work,
        shader: Shader,
        parameters: &[Parameter],
        buffers: &[&wgpu::Buffer],
        load: Load,
    ) -> Result<()> {
        let Self { chunk, quads, reading, .. } = *self;
        let of_rows = parameters! { tiles: chunk.tiles.len(), quads, reading };
        self.context.dispatch(
            work,
            shader.on(self.row_type),
            &[&of_rows, parameters].concat(),
            &[&[&self.stored, &chunk.table, &chunk.factors], buffers].concat(),
            load,
        )
    }
}

impl RowChunk {
    /// Ranges of tiles of the same group, with the group.
    pub(super) fn spans(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> + '_ {
        let mut next = 0;
        self.tiles.chunk_by(|one, other| one.group == other.group).map(move |tiles| {
            let first = next;
            next += tiles.len();
            (tiles[0].group, first..next)
        })
    }
}
