// R with R Rᵀ = W for a positive semidefinite W, by Cholesky steps on the largest remaining pivot, and the sum of the
// tallies.
//
// draw: its second number is the largest pivot that counts as rounding; form: W; tallies: one per run of nodes; root:
// n columns of R, zeros once only rounding is left, then the remaining diagonal; found: the first number receives the
// sum. One workgroup, two barriers per step. Runs steps first … last − 1, because drivers end long dispatches.

struct Parameters { start: u32, n: u32, runs: u32, first: u32, last: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> draw: array<real>;
@group(0) @binding(2) var<storage, read> form: array<real>;
@group(0) @binding(3) var<storage, read> tallies: array<real>;
@group(0) @binding(4) var<storage, read_write> root: array<real>;
@group(0) @binding(5) var<storage, read_write> found: array<real>;

struct Pivot { size: real, row: u32 }

var<workgroup> sh_pivots: array<Pivot, 256>;
var<workgroup> sh_largest: array<Pivot, 16>;

// Treats infinite values and NaN as HIGHEST, which the host refuses.
fn counted(x: real) -> real {
  if is_broken(x) {
    return HIGHEST;
  }
  return x;
}

fn larger(one: Pivot, other: Pivot) -> Pivot {
  if other.size > one.size || (other.size == one.size && other.row < one.row) {
    return other;
  }
  return one;
}

// Returns the largest value of the diagonal, to all threads.
fn pivot(n: u32, thread: u32) -> Pivot {
  var own = Pivot(LOWEST, thread);
  for (var i = thread; i < n; i += 256u) {
    own = larger(own, Pivot(root[n * n + i], i));
  }
  sh_pivots[thread] = own;
  storageBarrier();
  workgroupBarrier();
  if thread < 16u {
    var largest = sh_pivots[thread * 16u];
    for (var other = 1u; other < 16u; other++) {
      largest = larger(largest, sh_pivots[thread * 16u + other]);
    }
    sh_largest[thread] = largest;
  }
  workgroupBarrier();
  var largest = sh_largest[0];
  for (var other = 1u; other < 16u; other++) {
    largest = larger(largest, sh_largest[other]);
  }
  return largest;
}

// Computes the sum of the tallies, and the diagonal of W.
fn begin(n: u32, thread: u32) {
  var tally = ZERO;
  for (var run = thread; run < parameters.runs; run += 256u) {
    tally += tallies[run];
  }
  sh_pivots[thread].size = tally;
  workgroupBarrier();
  if thread == 0u {
    for (var other = 1u; other < 256u; other++) {
      tally += sh_pivots[other].size;
    }
    found[0] = counted(tally);
  }
  workgroupBarrier();
  for (var i = thread; i < n; i += 256u) {
    root[n * n + i] = counted(form[i * n + i]);
  }
}

// Performs a step of the Cholesky decomposition.
fn advance(n: u32, thread: u32, step: u32, largest: Pivot) {
  let scale = ONE / sqrt(largest.size);
  for (var i = thread; i < n; i += 256u) {
    var x = form[largest.row * n + i];
    for (var j = 0u; j < step; j++) {
      x -= root[j * n + i] * root[j * n + largest.row];
    }
    x *= scale;
    root[step * n + i] = x;
    var left = ZERO;
    if i != largest.row {
      left = counted(root[n * n + i] - x * x);
    }
    root[n * n + i] = left;
  }
}

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32) {
  let p = parameters;
  let n = p.n;
  if p.first == 0u {
    begin(n, thread);
  }
  // A value that is infinite or NaN ends the steps, and makes the weights so too.
  var rest = ZERO;
  // The steps after the end do nothing, so that all threads reach the same barriers.
  var end = p.last;
  for (var step = p.first; step < p.last; step++) {
    let largest = pivot(n, thread);
    if end == p.last {
      if largest.size >= HIGHEST {
        rest = HIGHEST;
      }
      if largest.size <= draw[1] || largest.size >= HIGHEST {
        end = step;
      } else {
        advance(n, thread, step, largest);
      }
    }
  }
  for (var at = end * n + thread; at < p.last * n; at += 256u) {
    root[at] = rest;
  }
}
