// Σ b_i b_iᵀ over runs of tiles of a group: a block of 64×64 entries of a run per workgroup.
//
// runs: first tile of every run, and how many; partials: for every run from `first` on a matrix of 4·quads columns, of
// which the blocks on and below the diagonal are written. sum_runs adds the runs.

struct Parameters { start: u32, tiles: u32, quads: u32, reading: u32, blocks: u32, first: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read> runs: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> partials: array<real4>;

const BLOCK_QUADS: u32 = 16u;
// Rows added between two barriers.
const STEP: u32 = 16u;

// Values of these rows, for the block's rows and for its columns.
var<workgroup> sh_left: array<real4, 256>;
var<workgroup> sh_right: array<real4, 256>;

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
  var r0 = zero;
  var r1 = zero;
  var r2 = zero;
  var r3 = zero;
  let row = thread / BLOCK_QUADS;
  let quad = thread % BLOCK_QUADS;
  for (var number = run.x; number < run.x + run.y; number++) {
    let tile = tile_at(number);
    for (var first = 0u; first < tile.rows; first += STEP) {
      var x = zero;
      var y = zero;
      if first + row < tile.rows {
        let start = row_start(tile, first + row);
        let scale = row_factor(tile, first + row);
        if left * BLOCK_QUADS + quad < p.quads {
          x = scale * stored_quad(start + left * BLOCK_QUADS + quad);
        }
        if right * BLOCK_QUADS + quad < p.quads {
          y = scale * stored_quad(start + right * BLOCK_QUADS + quad);
        }
      }
      workgroupBarrier();
      sh_left[thread] = x;
      sh_right[thread] = y;
      workgroupBarrier();
      for (var j = 0u; j < STEP; j++) {
        let a = sh_left[j * BLOCK_QUADS + row];
        let b = sh_right[j * BLOCK_QUADS + quad];
        r0 += a.x * b;
        r1 += a.y * b;
        r2 += a.z * b;
        r3 += a.w * b;
      }
    }
  }
  let i = (left * BLOCK_QUADS + row) * 4u;
  let j = right * BLOCK_QUADS + quad;
  if i < p.quads * 4u && j < p.quads {
    let at = (own * p.quads * 4u + i) * p.quads + j;
    partials[at] = r0;
    partials[at + p.quads] = r1;
    partials[at + 2u * p.quads] = r2;
    partials[at + 3u * p.quads] = r3;
  }
}
