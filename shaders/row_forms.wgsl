// ‖F_lᵀ a_i‖² for every row.
//
// factor: 4·quads rows of column_quads·4 values, for every group from `first_group` on; forms: one per position. Four
// workgroups per tile, of 64 rows each. They process columns first_quad·4 … last_quad·4 − 1, 64 at a time, and add to
// the sums of earlier columns.

struct Parameters {
  start: u32, tiles: u32, quads: u32, reading: u32,
  column_quads: u32, first_quad: u32, last_quad: u32, first_group: u32, last_group: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read> factor: array<real4>;
@group(0) @binding(5) var<storage, read_write> forms: array<real>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let number = workgroup_of(group, groups);
  let tile = tile_at(number / BLOCKS);
  let first = number % BLOCKS * BLOCK;
  // Uniform over a workgroup, so all threads reach the barriers or none does.
  if first >= tile.rows || tile.group < p.first_group || tile.group >= p.last_group {
    return;
  }
  let own = (tile.group - p.first_group) * 4u * p.quads * p.column_quads;
  var squares = real4(ZERO, ZERO, ZERO, ZERO);
  for (var quad = p.first_quad; quad < p.last_quad; quad += BLOCK_QUADS) {
    let e = product(tile, first, own + quad, p.column_quads - quad, p.column_quads, thread);
    squares += real4(dot(e.r0, e.r0), dot(e.r1, e.r1), dot(e.r2, e.r2), dot(e.r3, e.r3));
  }
  // Sixteen threads share each row; their sums are added in workgroup memory.
  workgroupBarrier();
  sh_rows[thread + thread / BLOCK_QUADS] = squares;
  workgroupBarrier();
  if thread < BLOCK && first + thread < tile.rows {
    var sum = ZERO;
    for (var j = 0u; j < BLOCK_QUADS; j++) {
      sum += sh_rows[thread / 4u * ROWS_PITCH + j][thread % 4u];
    }
    let position = tile.start + first + thread;
    if p.first_quad > 0u {
      sum += forms[position];
    }
    forms[position] = sum;
  }
}
