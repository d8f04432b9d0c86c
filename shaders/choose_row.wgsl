// Finds the row of the chosen tile at which the running sum of weights passes the rest of the random sum.
//
// weights: one per row of a chunk, whose first tile is first_tile and whose first row is first_row; found: the third
// number is the rest at the tile's start, the fourth receives the row's weight; marks: the second word is the tile,
// the third receives the row. One workgroup; it does nothing if the tile is in another chunk.

struct Parameters { start: u32, rows: u32, first_tile: u32, first_row: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> weights: array<real>;
@group(0) @binding(2) var<storage, read_write> found: array<real>;
@group(0) @binding(3) var<storage, read_write> marks: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32) {
  let p = parameters;
  let tile = marks[1];
  let tiles = (p.rows + TILE - 1u) / TILE;
  let is_here = tile != NONE && tile >= p.first_tile && tile - p.first_tile < tiles;
  var first = 0u;
  if is_here {
    first = (tile - p.first_tile) * TILE;
  }
  var weight = ZERO;
  if first + thread < p.rows {
    weight = weights[first + thread];
  }
  if is_broken(weight) {
    weight = HIGHEST;
  }
  sh_weights[thread] = weight;
  workgroupBarrier();
  if thread == 0u && is_here {
    let chosen = passed(found[2]);
    if chosen.at != NONE {
      found[3] = sh_weights[chosen.at];
      marks[2] = p.first_row + first + chosen.at;
    }
  }
}
