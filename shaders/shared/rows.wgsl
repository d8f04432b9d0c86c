// Products of rows with a vector. Each thread reads every LANES-th group of four values of some rows, so that
// neighbouring threads read neighbouring values. Then each thread adds the partial sums of one row.
const LANES: u32 = 8u;
// One more than LANES, so that threads adding partial sums read from different banks.
const PITCH: u32 = 9u;

var<workgroup> sh_partial: array<real, 2304>;

// Returns the sum over the lanes.
fn row_sum(thread: u32) -> real {
  var sum = ZERO;
  for (var lane = 0u; lane < LANES; lane++) {
    sum += sh_partial[thread * PITCH + lane];
  }
  return sum;
}

