// A block of 64×64 entries of a product A F, by 256 threads of 4×4 entries each.
const BLOCK: u32 = 64u;
const BLOCK_QUADS: u32 = 16u;
// Number of features multiplied between two barriers.
const STEP: u32 = 16u;
const STEP_QUADS: u32 = 4u;
// Pitch of four rows of a step, with one value for padding, so that threads read different rows from different banks.
const ROWS_PITCH: u32 = 17u;

// Rows of A, then columns of F, of one step, four values at a time.
var<workgroup> sh_rows: array<real4, 272>;
var<workgroup> sh_factor: array<real4, 256>;

// Four rows of four columns.
struct Entries { r0: real4, r1: real4, r2: real4, r3: real4 }

// Adds the products of four features, for four rows from `own` on and four columns from `column` on.
fn four_features(so_far: Entries, own: u32, column: u32) -> Entries {
  var entries = so_far;
  let a0 = sh_rows[own];
  let a1 = sh_rows[own + STEP_QUADS];
  let a2 = sh_rows[own + 2u * STEP_QUADS];
  let a3 = sh_rows[own + 3u * STEP_QUADS];
  let f0 = sh_factor[column];
  entries.r0 += a0.x * f0;
  entries.r1 += a1.x * f0;
  entries.r2 += a2.x * f0;
  entries.r3 += a3.x * f0;
  let f1 = sh_factor[column + BLOCK_QUADS];
  entries.r0 += a0.y * f1;
  entries.r1 += a1.y * f1;
  entries.r2 += a2.y * f1;
  entries.r3 += a3.y * f1;
  let f2 = sh_factor[column + 2u * BLOCK_QUADS];
  entries.r0 += a0.z * f2;
  entries.r1 += a1.z * f2;
  entries.r2 += a2.z * f2;
  entries.r3 += a3.z * f2;
  let f3 = sh_factor[column + 3u * BLOCK_QUADS];
  entries.r0 += a0.w * f3;
  entries.r1 += a1.w * f3;
  entries.r2 += a2.w * f3;
  entries.r3 += a3.w * f3;
  return entries;
}

// Number of blocks per tile.
const BLOCKS: u32 = 4u;

// Thread t computes rows first + 4·(t / 16) … + 3 of a tile and columns 4·(t % 16) … + 3 of a factor. The factor
// begins at `factor_start` and has `column_quads` groups of four columns, in rows of `pitch` groups. All threads of a
// workgroup must call this together.
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
    sh_rows[thread + thread / BLOCK_QUADS] = x;
    sh_factor[thread] = y;
    workgroupBarrier();
    let own = thread / BLOCK_QUADS * ROWS_PITCH;
    entries = four_features(entries, own, column);
    entries = four_features(entries, own + 1u, column + BLOCK);
    entries = four_features(entries, own + 2u, column + 2u * BLOCK);
    entries = four_features(entries, own + 3u, column + 3u * BLOCK);
  }
  return entries;
}
