// Rows in tiles of 256, one tile per workgroup of 256 threads. Each thread reads every LANES-th group of four
// values of some rows, so that neighbours read side by side; then each adds up what was found for one row.
const TILE: u32 = 256u;
const LANES: u32 = 8u;
// One more than the lanes: threads that add up then read from different banks.
const PITCH: u32 = 9u;

var<workgroup> sh_partial: array<real, 2304>;

fn tile_of(group: vec3<u32>, groups: vec3<u32>) -> u32 {
  return group.x + group.y * groups.x;
}

// What the lanes of a row have found, added up.
fn row_sum(thread: u32) -> real {
  var sum = ZERO;
  for (var lane = 0u; lane < LANES; lane++) {
    sum += sh_partial[thread * PITCH + lane];
  }
  return sum;
}
