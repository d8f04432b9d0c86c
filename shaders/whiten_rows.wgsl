// Fᵀ a_i for every row of a chunk.
//
// rows: quads·rows values, four by four; factor: 4·quads rows of column_quads·4 values, weights included; images:
// `width` values per row. One workgroup per 64 rows and 64 columns.

struct Parameters { start: u32, rows: u32, quads: u32, column_quads: u32, width: u32, column_blocks: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> rows: array<real4>;
@group(0) @binding(2) var<storage, read> factor: array<real4>;
@group(0) @binding(3) var<storage, read_write> images: array<real>;

fn store(row: u32, column: u32, values: real4) {
  let p = parameters;
  if row >= p.rows {
    return;
  }
  for (var c = 0u; c < 4u; c++) {
    if column + c < p.width {
      images[row * p.width + column + c] = values[c];
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
  let block = workgroup_of(group, groups);
  let first = block / p.column_blocks * BLOCK;
  let quad = block % p.column_blocks * BLOCK_QUADS;
  let e = product(first, p.rows, p.quads, quad, p.column_quads, thread);
  let row = first + thread / BLOCK_QUADS * 4u;
  let column = (quad + thread % BLOCK_QUADS) * 4u;
  store(row, column, e.r0);
  store(row + 1u, column, e.r1);
  store(row + 2u, column, e.r2);
  store(row + 3u, column, e.r3);
}
