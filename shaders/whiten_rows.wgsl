// Fᵀ a_i for every row.
//
// factor: 4·quads rows of column_quads·4 values; images: `width` values per position. Four workgroups per tile and 64
// columns, of 64 rows each.

struct Parameters {
  start: u32, tiles: u32, quads: u32, reading: u32,
  column_quads: u32, width: u32, column_blocks: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read> factor: array<real4>;
@group(0) @binding(5) var<storage, read_write> images: array<real>;

fn store(tile: Tile, row: u32, column: u32, values: real4) {
  let p = parameters;
  if row >= tile.rows {
    return;
  }
  for (var c = 0u; c < 4u; c++) {
    if column + c < p.width {
      images[(tile.start + row) * p.width + column + c] = values[c];
    }
  }
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let number = workgroup_of(group, groups);
  let tile = tile_at(number / p.column_blocks / BLOCKS);
  let first = number / p.column_blocks % BLOCKS * BLOCK;
  let quad = number % p.column_blocks * BLOCK_QUADS;
  if first >= tile.rows {
    return;
  }
  let e = product(tile, first, quad, max(p.column_quads, quad) - quad, p.column_quads, thread);
  let row = first + thread / BLOCK_QUADS * 4u;
  let column = (quad + thread % BLOCK_QUADS) * 4u;
  store(tile, row, column, e.r0);
  store(tile, row + 1u, column, e.r1);
  store(tile, row + 2u, column, e.r2);
  store(tile, row + 3u, column, e.r3);
}
