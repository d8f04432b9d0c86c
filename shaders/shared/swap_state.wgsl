// The dual basis of the chosen rows on the device, and the vectors of a swap.
//
// vectors: W, a row of `columns` values for every feature; the chosen rows, 4·quads values each; b_j of the entering
// item; r, then w'; w_i of the leaving item; for every column M_il, w_l·b_j, its last correction, and ‖b_l‖²; then ρ.

fn pitch() -> u32 {
  return 4u * parameters.quads;
}

// Start of b_j.
fn row() -> u32 {
  return 2u * parameters.columns * pitch();
}

// Start of r, then w'.
fn rest() -> u32 {
  return row() + pitch();
}

// Start of w_i.
fn leaving() -> u32 {
  return row() + 2u * pitch();
}

// Start of the numbers of a kind.
fn numbers(kind: u32) -> u32 {
  return row() + 3u * pitch() + kind * parameters.columns;
}

// The kinds of numbers per column, and ρ.
const PRODUCTS: u32 = 0u;
const COEFFICIENTS: u32 = 1u;
const ALONG: u32 = 2u;
const SQUARES: u32 = 3u;
const RATIO: u32 = 4u;

// Number of outputs at a time, and number of threads that share the sum of an output.
const OUTPUTS: u32 = 64u;
const LANES: u32 = 4u;

var<workgroup> sh_sums: array<real, 256>;

fn memory_barrier() {
  storageBarrier();
  workgroupBarrier();
}

// Returns the sum over the threads of an output, in all of them.
fn output_sum(thread: u32, own: real) -> real {
  workgroupBarrier();
  sh_sums[thread] = own;
  workgroupBarrier();
  let at = thread % OUTPUTS;
  return sh_sums[at] + sh_sums[at + OUTPUTS] + sh_sums[at + 2u * OUTPUTS] + sh_sums[at + 3u * OUTPUTS];
}

// Returns entry `at` of the product of a vector with a matrix of `count` rows of `width` values.
fn product(thread: u32, vector: u32, matrix: u32, count: u32, width: u32, at: u32) -> real {
  var sum = ZERO;
  if at < width {
    for (var i = thread / OUTPUTS; i < count; i += LANES) {
      sum += vectors[vector + i] * vectors[matrix + i * width + at];
    }
  }
  return output_sum(thread, sum);
}

// Returns the sum over all threads, in all of them.
fn total(thread: u32, own: real) -> real {
  var sum = output_sum(thread, own);
  for (var half = OUTPUTS / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if thread < OUTPUTS {
      sh_sums[thread] = sum;
    }
    workgroupBarrier();
    sum += sh_sums[(thread + half) % OUTPUTS];
  }
  return sum;
}
