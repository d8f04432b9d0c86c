// Σ b_i b_iᵀ over runs of tiles of a group: a block of 64×64 entries of a run per workgroup.
//
// runs: first tile and number of tiles of every run; partials: a matrix of 4·quads columns for every run from `first`
// on, with only the blocks on and below the diagonal written. sum_runs adds the runs.

struct Parameters { start: u32, tiles: u32, quads: u32, reading: u32, blocks: u32, first: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read> runs: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> partials: array<real4>;

const BLOCK: u32 = 64u;
const BLOCK_QUADS: u32 = 16u;
// Number of rows added between two barriers.
const STEP: u32 = 16u;

// The start and the factor of every row of a tile; the factor is zero after the last row.
var<workgroup> sh_start: array<u32, 256>;
var<workgroup> sh_scale: array<real, 256>;
// Values of these rows, for the rows and for the columns of the block.
var<workgroup> sh_left: array<real4, 256>;
var<workgroup> sh_right: array<real4, 256>;

// Four rows of four columns.
struct Entries { r0: real4, r1: real4, r2: real4, r3: real4 }

// Adds the products of four rows of the step.
fn four_rows(so_far: Entries, left: u32, right: u32) -> Entries {
  var entries = so_far;
  let a0 = sh_left[left];
  let b0 = sh_right[right];
  entries.r0 += a0.x * b0;
  entries.r1 += a0.y * b0;
  entries.r2 += a0.z * b0;
  entries.r3 += a0.w * b0;
  let a1 = sh_left[left + BLOCK_QUADS];
  let b1 = sh_right[right + BLOCK_QUADS];
  entries.r0 += a1.x * b1;
  entries.r1 += a1.y * b1;
  entries.r2 += a1.z * b1;
  entries.r3 += a1.w * b1;
  let a2 = sh_left[left + 2u * BLOCK_QUADS];
  let b2 = sh_right[right + 2u * BLOCK_QUADS];
  entries.r0 += a2.x * b2;
  entries.r1 += a2.y * b2;
  entries.r2 += a2.z * b2;
  entries.r3 += a2.w * b2;
  let a3 = sh_left[left + 3u * BLOCK_QUADS];
  let b3 = sh_right[right + 3u * BLOCK_QUADS];
  entries.r0 += a3.x * b3;
  entries.r1 += a3.y * b3;
  entries.r2 += a3.z * b3;
  entries.r3 += a3.w * b3;
  return entries;
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let number = workgroup_of(group, groups);
  let pairs = p.blocks * (p.blocks + 1u) / 2u;
  let own = number / pairs;
  let run = runs[p.first + own];
  // Pair number b(b+1)/2 + c is block row b, block column c ≤ b.
  var left = 0u;
  var right = number % pairs;
  for (; right > left; left++) {
    right -= left + 1u;
  }
  let zero = real4(ZERO, ZERO, ZERO, ZERO);
  var entries = Entries(zero, zero, zero, zero);
  let row = thread / BLOCK_QUADS;
  let quad = thread % BLOCK_QUADS;
  // Columns after the last are not written, so any value will do for them.
  let left_quad = min(left * BLOCK_QUADS + quad, p.quads - 1u);
  let right_quad = min(right * BLOCK_QUADS + quad, p.quads - 1u);
  for (var at = run.x; at < run.x + run.y; at++) {
    let tile = tile_at(at);
    sh_start[thread] = row_start(tile, min(thread, tile.rows - 1u));
    var scale = ZERO;
    if thread < tile.rows {
      scale = row_factor(tile, thread);
    }
    sh_scale[thread] = scale;
    workgroupBarrier();
    for (var first = 0u; first < tile.rows; first += STEP) {
      let start = sh_start[first + row];
      let x = sh_scale[first + row] * stored_quad(start + left_quad);
      let y = sh_scale[first + row] * stored_quad(start + right_quad);
      workgroupBarrier();
      sh_left[thread] = x;
      sh_right[thread] = y;
      workgroupBarrier();
      entries = four_rows(entries, row, quad);
      entries = four_rows(entries, row + BLOCK, quad + BLOCK);
      entries = four_rows(entries, row + 2u * BLOCK, quad + 2u * BLOCK);
      entries = four_rows(entries, row + 3u * BLOCK, quad + 3u * BLOCK);
    }
  }
  let i = (left * BLOCK_QUADS + row) * 4u;
  let j = right * BLOCK_QUADS + quad;
  if i < p.quads * 4u && j < p.quads {
    let at = (own * p.quads * 4u + i) * p.quads + j;
    partials[at] = entries.r0;
    partials[at + p.quads] = entries.r1;
    partials[at + 2u * p.quads] = entries.r2;
    partials[at + 3u * p.quads] = entries.r3;
  }
}
