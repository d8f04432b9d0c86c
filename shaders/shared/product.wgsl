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

// Blocks of a tile.
const BLOCKS: u32 = 4u;

// Thread t has rows first + 4·(t / 16) … + 3 of a tile and columns 4·(t % 16) … + 3 of the factor that begins at
// `factor_start`, of which there are `column_quads` groups of four in rows of `pitch`. All threads of a workgroup must
// call it together.
fn product(
  tile: Tile, first: u32, factor_start: u32, column_quads: u32, pitch: u32, thread: u32,
) -> Entries {
  let quads = parameters.quads;
  let zero = real4(ZERO, ZERO, ZERO, ZERO);
  var entries = Entries(zero, zero, zero, zero);
  let row = thread / STEP_QUADS;
  let quad = thread % STEP_QUADS;
  let feature = thread / BLOCK_QUADS;
  let column = thread % BLOCK_QUADS;
  let is_row = first + row < tile.rows;
  var start = 0u;
  var scale = ZERO;
  if is_row {
    start = row_start(tile, first + row);
    scale = row_factor(tile, first + row);
  }
  for (var step = 0u; step < quads; step += STEP_QUADS) {
    var x = zero;
    if is_row && step + quad < quads {
      x = scale * stored_quad(start + step + quad);
    }
    var y = zero;
    if step * 4u + feature < quads * 4u && column < column_quads {
      y = factor[factor_start + (step * 4u + feature) * pitch + column];
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
