// Products of rows with a vector: each thread reads every LANES-th group of four values of some rows, so that
// neighbours read side by side; then each adds up the partial sums of one row.
const LANES: u32 = 8u;
// One more than the lanes, so that threads that add up read from different banks.
const PITCH: u32 = 9u;

var<workgroup> sh_partial: array<real, 2304>;

// The sum over the lanes of a row.
fn row_sum(thread: u32) -> real {
  var sum = ZERO;
  for (var lane = 0u; lane < LANES; lane++) {
    sum += sh_partial[thread * PITCH + lane];
  }
  return sum;
}

