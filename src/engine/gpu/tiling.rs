//! The division of the rows of a verb into tiles of at most 256 rows of one group, each in one stored chunk.

use super::{resident::TILE, stored::Stored, words};
use crate::engine::{Group, Rows};

/// In a table: the rows of the tile are listed, since they are not consecutive.
pub(super) const LISTED: u32 = u32::MAX;

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

/// Tiles before they are uploaded.
pub(super) struct Tiling {
    pub(super) chunks: Vec<ChunkTiling>,
    /// The number of rows per chunk.
    pub(super) chunk_rows: usize,
}

pub(super) struct ChunkTiling {
    pub(super) number: usize,
    /// The tiles, each with its first row in the stored chunk, or [`LISTED`].
    pub(super) tiles: Vec<(Tile, u32)>,
    pub(super) len: usize,
    /// The stored row of every position, relative to the chunk.
    rows: Vec<u32>,
}

impl Tiling {
    pub(super) fn new(stored: &Stored, rows: &Rows<'_>) -> Self {
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
    pub(super) fn stored_rows(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
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
    pub(super) fn stored_rows(&self, chunk_rows: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let first = self.number * chunk_rows;
        self.tiles.iter().flat_map(move |(tile, _)| {
            let rows = &self.rows[tile.start..tile.start + tile.len];
            rows.iter().map(move |&row| (tile.group, first + row as usize))
        })
    }

    /// The tiles as shaders read them, then the stored rows of all positions if the rows of a tile are listed.
    pub(super) fn table(&self) -> Vec<u32> {
        let mut table = Vec::with_capacity(4 * self.tiles.len());
        for (tile, item) in &self.tiles {
            table.extend([words(tile.group), words(tile.start), words(tile.len), *item]);
        }
        if self.tiles.iter().any(|(_, item)| *item == LISTED) {
            table.extend(&self.rows);
        }
        table
    }
}
