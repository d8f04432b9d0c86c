// Complex matrices, row after row in `matrices`, and their determinants and inverses by 64 threads each.
const THREADS: u32 = 64u;
// Pivots below this are left to the host.
const SINGULAR: real = 1.0e-18;
const SINGULAR_EXPONENT: i32 = -2147483647;
// The host refuses infinite values and NaN.
const BROKEN_EXPONENT: i32 = -2147483646;
// Exact powers of two that keep a mantissa in range.
const LARGE: real = 4294967296.0;
const SMALL: real = 2.3283064365386963e-10;
const SHIFT: i32 = 32;

var<workgroup> sh_size: array<real, 64>;
var<workgroup> sh_row: array<u32, 64>;

struct Determinant { mantissa: complex, exponent: i32 }

fn times(x: complex, y: complex) -> complex {
  return complex(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}

// Divided by the larger part first: squares could underflow.
fn reciprocal(x: complex) -> complex {
  if abs(x.x) >= abs(x.y) {
    let r = x.y / x.x;
    let d = x.x + x.y * r;
    return complex(ONE / d, -r / d);
  }
  let r = x.x / x.y;
  let d = x.x * r + x.y;
  return complex(r / d, -ONE / d);
}

fn size_of(x: complex) -> real {
  if is_broken(x.x) || is_broken(x.y) {
    return HIGHEST;
  }
  return max(abs(x.x), abs(x.y));
}

fn multiplied(determinant: Determinant, factor: complex) -> Determinant {
  var mantissa = times(determinant.mantissa, factor);
  var exponent = determinant.exponent;
  let size = size_of(mantissa);
  if size > LARGE {
    mantissa *= SMALL;
    exponent += SHIFT;
  } else if size < SMALL {
    mantissa *= LARGE;
    exponent -= SHIFT;
  }
  return Determinant(mantissa, exponent);
}

// The row at or below `step` with the largest entry in column `step`, the first of equals.
fn pivot_row(base: u32, n: u32, step: u32, thread: u32) -> u32 {
  var largest = -ONE;
  var row = step;
  for (var i = step + thread; i < n; i += THREADS) {
    let size = size_of(matrices[base + i * n + step]);
    if size > largest {
      largest = size;
      row = i;
    }
  }
  sh_size[thread] = largest;
  sh_row[thread] = row;
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if thread < half {
      let other = sh_size[thread + half];
      let other_row = sh_row[thread + half];
      if other > sh_size[thread] || other == sh_size[thread] && other_row < sh_row[thread] {
        sh_size[thread] = other;
        sh_row[thread] = other_row;
      }
    }
  }
  workgroupBarrier();
  return sh_row[0];
}

fn exchange_rows(base: u32, n: u32, one: u32, other: u32, thread: u32) {
  if one == other {
    return;
  }
  for (var j = thread; j < n; j += THREADS) {
    let x = matrices[base + one * n + j];
    matrices[base + one * n + j] = matrices[base + other * n + j];
    matrices[base + other * n + j] = x;
  }
}

// Some steps of Gaussian elimination of a matrix, below the diagonal only, or (`whole`) to its inverse up to the order
// of columns, which is in `pivots`. Returns the determinant of the steps so far to all threads of the workgroup, which
// must call it together.
fn eliminate(
  base: u32, n: u32, whole: bool, pivots_base: u32, steps: vec2<u32>, so_far: Determinant, thread: u32,
) -> Determinant {
  var determinant = so_far;
  if determinant.exponent <= BROKEN_EXPONENT {
    return determinant;
  }
  for (var step = steps.x; step < steps.y; step++) {
    let row = pivot_row(base, n, step, thread);
    if sh_size[0] <= SINGULAR {
      return Determinant(complex(ZERO, ZERO), SINGULAR_EXPONENT);
    }
    if sh_size[0] >= HIGHEST {
      return Determinant(complex(ZERO, ZERO), BROKEN_EXPONENT);
    }
    exchange_rows(base, n, step, row, thread);
    if whole && thread == 0u {
      pivots[pivots_base + step] = row;
    }
    storageBarrier();
    workgroupBarrier();
    let pivot = matrices[base + step * n + step];
    var factor = pivot;
    if row != step {
      factor = -pivot;
    }
    determinant = multiplied(determinant, factor);
    let inverse = reciprocal(pivot);
    storageBarrier();
    workgroupBarrier();
    var first = step + 1u;
    if whole {
      first = 0u;
    }
    for (var j = first + thread; j < n; j += THREADS) {
      var x = inverse;
      if j != step {
        x = times(matrices[base + step * n + j], inverse);
      }
      matrices[base + step * n + j] = x;
    }
    storageBarrier();
    workgroupBarrier();
    // Sixteen columns by four rows at a time.
    for (var i = first + thread / 16u; i < n; i += THREADS / 16u) {
      if i == step {
        continue;
      }
      let below = matrices[base + i * n + step];
      for (var j = first + thread % 16u; j < n; j += 16u) {
        if j != step {
          matrices[base + i * n + j] -= times(below, matrices[base + step * n + j]);
        }
      }
    }
    storageBarrier();
    workgroupBarrier();
    if whole {
      for (var i = thread; i < n; i += THREADS) {
        if i != step {
          matrices[base + i * n + step] = -times(matrices[base + i * n + step], inverse);
        }
      }
    }
    storageBarrier();
    workgroupBarrier();
  }
  return determinant;
}

// Sorts the columns of an inverse.
fn order_columns(base: u32, n: u32, pivots_base: u32, thread: u32) {
  for (var left = n; left > 0u; left--) {
    let step = left - 1u;
    let other = pivots[pivots_base + step];
    if other != step {
      for (var i = thread; i < n; i += THREADS) {
        let x = matrices[base + i * n + step];
        matrices[base + i * n + step] = matrices[base + i * n + other];
        matrices[base + i * n + other] = x;
      }
    }
    storageBarrier();
    workgroupBarrier();
  }
}

// Entry (i, j) of Σ_l f_l N_l at a node, with f_l = e^{iθ_l} − 1.
fn share_sum(at: u32, n: u32, parts: u32, node: u32) -> complex {
  var sum = complex(ZERO, ZERO);
  for (var l = 0u; l < parts; l++) {
    sum += phases[node * parts + l] * shares[l * n * n + at];
  }
  return sum;
}
