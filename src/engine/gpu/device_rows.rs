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
    shaders::{Shader, Variant},
    stored::Stored,
    words,
};
use crate::{
    Features, Result,
    engine::{Group, Precision, Rows},
};

/// In a table: the rows of the tile are listed, since they are not consecutive.
pub(super) const LISTED: u32 = u32::MAX;
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
    table: Lease,
    factors: Lease,
}

/// At most 256 rows of one group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub(super) group: usize,
    /// The first row in the chunk.
    pub(super) start: usize,
    pub(super) len: usize,
    /// The position of that row in the group.
    pub(super) position: usize,
}

impl DeviceRows {
    pub(super) fn new(context: &Context, stored: Arc<Stored>, rows: &Rows<'_>) -> Result<Self> {
        let lens: Vec<usize> = rows.groups().iter().map(|group| group.items.len()).collect();
        let tiling = Tiling::new(&stored, rows);
        let (scaling, units) = Scaling::new(context.precision, &stored, rows, || tiling.stored_rows())?;
        let reading = if scaling.is_of_groups() { 0 } else { WEIGHTED };
        let chunks = tiling.chunks.iter().filter(|chunk| chunk.len > 0);
        let chunks = chunks.map(|chunk| {
            let table = context.storage(4 * chunk.table_len() as u64);
            context.send_bytes(&table, 0, bytemuck::cast_slice(&chunk.table()));
            let factors = scaling.factors(rows.features(), &stored, chunk.stored_rows(tiling.chunk_rows));
            Ok(RowChunk {
                stored: chunk.number,
                tiles: chunk.tiles.iter().map(|(tile, _)| *tile).collect(),
                len: chunk.len,
                table,
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

    /// The variant of a shader for the stored type of rows.
    pub(super) fn variant(&self, shader: Shader) -> Variant {
        shader.on(self.stored.row_type)
    }

    /// The rows of a chunk as they are stored, uploaded if necessary.
    ///
    /// # Errors
    /// Errors of the device.
    pub(super) fn load(
        &self,
        context: &Context,
        features: &Features,
        work: &mut Work,
        chunk: &RowChunk,
    ) -> Result<wgpu::Buffer> {
        self.stored.chunk(context, features, work, chunk.stored)
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
        if self.stays() {
            return Ok(());
        }
        let done = std::mem::replace(work, context.work(work.what));
        context.submit(done).map(drop)
    }

    /// The rows of every chunk, if all of them stay on the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub(super) fn stay(&self, context: &Context, features: &Features) -> Result<Option<Vec<wgpu::Buffer>>> {
        if !self.stored.stays() {
            return Ok(None);
        }
        let mut work = context.work("rows");
        let chunks = self.chunks.iter().map(|chunk| self.load(context, features, &mut work, chunk));
        chunks.collect::<Result<_>>().map(Some)
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

    /// The first parameters of every shader that reads rows.
    pub(super) fn parameters(&self, chunk: &RowChunk, own: &[Parameter]) -> Vec<Parameter> {
        let rows = parameters! { tiles: chunk.tiles.len(), quads: self.quads(), reading: self.reading };
        [&rows[..], own].concat()
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

impl RowChunk {
    /// The table of tiles, for shaders that read no rows.
    pub(super) fn table(&self) -> &Lease {
        &self.table
    }

    /// The bindings of a shader that reads rows: the rows, the table, the factors, then the shader's own bindings.
    pub(super) fn bindings<'b>(
        &'b self,
        rows: &'b wgpu::Buffer,
        own: &[&'b wgpu::Buffer],
    ) -> Vec<wgpu::BindingResource<'b>> {
        let all = [rows, &self.table, &self.factors].into_iter().chain(own.iter().copied());
        all.map(wgpu::Buffer::as_entire_binding).collect()
    }

    /// The first parameters of a shader that reads images of the rows instead of the rows.
    pub(super) fn image_parameters(&self, quads: usize, own: &[Parameter]) -> Vec<Parameter> {
        [&parameters! { tiles: self.tiles.len(), quads, reading: IMAGES }[..], own].concat()
    }

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

/// Tiles before they are uploaded.
struct Tiling {
    chunks: Vec<ChunkTiling>,
    /// The number of rows per chunk.
    chunk_rows: usize,
}

struct ChunkTiling {
    number: usize,
    /// The tiles, each with its first row in the stored chunk, or [`LISTED`].
    tiles: Vec<(Tile, u32)>,
    len: usize,
    /// The stored row of every position, relative to the chunk.
    rows: Vec<u32>,
}

impl Tiling {
    fn new(stored: &Stored, rows: &Rows<'_>) -> Self {
        let (chunks, chunk_rows) = stored.chunks();
        let empty = |number| ChunkTiling { number, tiles: Vec::new(), len: 0, rows: Vec::new() };
        let mut tiling = Self { chunks: (0..chunks).map(empty).collect(), chunk_rows };
        // A copy of all rows is in the order of the features. Any other copy is in the order of the groups.
        let is_all = stored.len() == rows.features().items();
        let mut before = 0;
        for (group, Group { items, .. }) in rows.groups().iter().enumerate() {
            let row = |position: usize| if is_all { items.at(position) } else { before + position };
            let mut position = 0;
            while position < items.len() {
                position += tiling.add_tile(group, position, items.len(), row);
            }
            before += items.len();
        }
        tiling
    }

    /// The group of every row, and the place where the row is stored.
    fn stored_rows(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.chunks.iter().flat_map(|chunk| chunk.stored_rows(self.chunk_rows))
    }

    /// Adds a tile that begins at a position of a group; returns its number of rows.
    fn add_tile(&mut self, group: usize, position: usize, end: usize, row: impl Fn(usize) -> usize) -> usize {
        let first = row(position);
        let number = first / self.chunk_rows;
        let chunk = &mut self.chunks[number];
        let start = chunk.len;
        let mut follow = true;
        let mut len = 0;
        while len < TILE && position + len < end {
            let row = row(position + len);
            if row / self.chunk_rows != number {
                break;
            }
            follow &= row == first + len;
            chunk.rows.push(words(row % self.chunk_rows));
            len += 1;
        }
        chunk.len += len;
        let item = if follow { chunk.rows[start] } else { LISTED };
        chunk.tiles.push((Tile { group, start, len, position }, item));
        len
    }
}

impl ChunkTiling {
    /// The group and the place of every row of this chunk, by position.
    fn stored_rows(&self, chunk_rows: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let first = self.number * chunk_rows;
        self.tiles.iter().flat_map(move |(tile, _)| {
            let rows = &self.rows[tile.start..tile.start + tile.len];
            rows.iter().map(move |&row| (tile.group, first + row as usize))
        })
    }

    fn is_listed(&self) -> bool {
        self.tiles.iter().any(|(_, item)| *item == LISTED)
    }

    fn table_len(&self) -> usize {
        4 * self.tiles.len() + if self.is_listed() { self.len } else { 0 }
    }

    fn table(&self) -> Vec<u32> {
        let mut table = Vec::with_capacity(self.table_len());
        for (tile, item) in &self.tiles {
            table.extend([words(tile.group), words(tile.start), words(tile.len), *item]);
        }
        if self.is_listed() {
            table.extend(&self.rows);
        }
        table
    }
}
