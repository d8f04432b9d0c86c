// The rows of a verb: tiles of at most 256 rows of one group, which refer to rows as stored.
//
// table: group, first position, number of rows and first stored row of every tile; then the stored row of every
// position, for tiles whose rows are not consecutive. factors: the factor of the rows of every group or (WEIGHTED) of
// every position. IMAGES are rows in the order of positions, without factors.
const TILE: u32 = 256u;
const LISTED: u32 = 0xffffffffu;
const WEIGHTED: u32 = 1u;
const IMAGES: u32 = 2u;

@group(0) @binding(2) var<storage, read> table: array<u32>;
@group(0) @binding(3) var<storage, read> factors: array<real>;

struct Tile { group: u32, start: u32, rows: u32, item: u32 }

fn tile_at(number: u32) -> Tile {
  let at = 4u * number;
  return Tile(table[at], table[at + 1u], table[at + 2u], table[at + 3u]);
}

// Returns the start of a row of a tile.
fn row_start(tile: Tile, at: u32) -> u32 {
  if (parameters.reading & IMAGES) != 0u {
    return (tile.start + at) * parameters.quads;
  }
  if tile.item == LISTED {
    return table[4u * parameters.tiles + tile.start + at] * parameters.quads;
  }
  return (tile.item + at) * parameters.quads;
}

fn row_factor(tile: Tile, at: u32) -> real {
  if (parameters.reading & IMAGES) != 0u {
    return ONE;
  }
  if (parameters.reading & WEIGHTED) != 0u {
    return factors[tile.start + at];
  }
  return factors[tile.group];
}

// Returns four values of a row for a sum, multiplied by the row's factor unless the factor follows the sum. It
// follows if sums are wider than rows, so that squares of rows neither over- nor underflow.
fn term(at: u32, factor: real) -> real4 {
  if FACTOR_LAST {
    return stored_quad(at);
  }
  return factor * stored_quad(at);
}

// Returns the factor of a sum of a row's terms.
fn last_factor(tile: Tile, at: u32) -> real {
  if FACTOR_LAST {
    return row_factor(tile, at);
  }
  return ONE;
}
