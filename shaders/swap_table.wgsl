// C = W_lᵀ Aᵀ for the rows of some tiles: 256 coefficients per slot and tile.
//
// factor (W_l): 4·quads rows of column_quads·4 values for every group; places: the start of every tile's
// coefficients, then the number of slots of every group. Four workgroups per tile and 64 slots, of 64 rows each.

struct Parameters {
  start: u32, tiles: u32, quads: u32, reading: u32,
  column_quads: u32, column_blocks: u32, first: u32, count: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read> factor: array<real4>;
@group(0) @binding(5) var<storage, read> places: array<u32>;
@group(0) @binding(6) var<storage, read_write> coefficients: array<real>;

fn store(row: u32, column: u32, slots: u32, base: u32, values: real4) {
  for (var c = 0u; c < 4u; c++) {
    if column + c < slots {
      coefficients[base + (column + c) * TILE + row] = values[c];
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
  let own = number / p.column_blocks / BLOCKS;
  let tile = tile_at(p.first + own);
  let first = number / p.column_blocks % BLOCKS * BLOCK;
  let quad = number % p.column_blocks * BLOCK_QUADS;
  let slots = places[p.count + tile.group];
  if first >= tile.rows || 4u * quad >= slots {
    return;
  }
  let begin = tile.group * 4u * p.quads * p.column_quads + quad;
  let e = product(tile, first, begin, p.column_quads - quad, p.column_quads, thread);
  let row = first + thread / BLOCK_QUADS * 4u;
  let column = (quad + thread % BLOCK_QUADS) * 4u;
  let base = places[own];
  store(row, column, slots, base, e.r0);
  store(row + 1u, column, slots, base, e.r1);
  store(row + 2u, column, slots, base, e.r2);
  store(row + 3u, column, slots, base, e.r3);
}
