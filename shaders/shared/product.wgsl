// A block of 64×64 entries of a product A F, by 256 threads of 4×4 entries each.
const BLOCK: u32 = 64u;
const BLOCK_QUADS: u32 = 16u;
// Features multiplied between two barriers.
const STEP: u32 = 16u;
const STEP_QUADS: u32 = 4u;
// One more than the step, so that threads that read a column read from different banks.
const STEP_PITCH: u32 = 17u;

// Rows of A, then columns of F, of one step.
var<workgroup> sh_rows: array<real, 1088>;
var<workgroup> sh_factor: array<real4, 256>;

// Four rows of four columns.
struct Entries { r0: real4, r1: real4, r2: real4, r3: real4 }

// Thread t has rows first_row + 4·(t / 16) … + 3 and columns 4·(first_quad + t % 16) … + 3. All threads of a
// workgroup must call it together.
fn product(
  first_row: u32, row_count: u32, quads: u32, first_quad: u32, column_quads: u32, thread: u32,
) -> Entries {
  let zero = real4(ZERO, ZERO, ZERO, ZERO);
  var entries = Entries(zero, zero, zero, zero);
  let row = thread / STEP_QUADS;
  let quad = thread % STEP_QUADS;
  let feature = thread / BLOCK_QUADS;
  let column = thread % BLOCK_QUADS;
  for (var step = 0u; step < quads; step += STEP_QUADS) {
    var x = zero;
    if first_row + row < row_count && step + quad < quads {
      x = rows[(first_row + row) * quads + step + quad];
    }
    var y = zero;
    if step * 4u + feature < quads * 4u && first_quad + column < column_quads {
      y = factor[(step * 4u + feature) * column_quads + first_quad + column];
    }
    workgroupBarrier();
    let at = row * STEP_PITCH + quad * 4u;
    sh_rows[at] = x.x;
    sh_rows[at + 1u] = x.y;
    sh_rows[at + 2u] = x.z;
    sh_rows[at + 3u] = x.w;
    sh_factor[thread] = y;
    workgroupBarrier();
    let own = thread / BLOCK_QUADS * 4u * STEP_PITCH;
    for (var j = 0u; j < STEP; j++) {
      let f = sh_factor[j * BLOCK_QUADS + column];
      entries.r0 += sh_rows[own + j] * f;
      entries.r1 += sh_rows[own + STEP_PITCH + j] * f;
      entries.r2 += sh_rows[own + 2u * STEP_PITCH + j] * f;
      entries.r3 += sh_rows[own + 3u * STEP_PITCH + j] * f;
    }
  }
  return entries;
}
