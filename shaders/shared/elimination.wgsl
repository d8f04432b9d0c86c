// Determinants and inverses of complex matrices, one workgroup per matrix. Entries are stored row by row.
// `stored_matrix` or `shared_matrix` defines where entries are stored, and the number of threads.

// Pivots below this are left to the host.
const SINGULAR: real = 1.0e-18;
const SINGULAR_EXPONENT: i32 = -2147483647;
// The host refuses infinite values and NaN.
const BROKEN_EXPONENT: i32 = -2147483646;
// Exact powers of two that keep a mantissa in range.
const LARGE: real = 4294967296.0;
const SMALL: real = 2.3283064365386963e-10;
const SHIFT: i32 = 32;

// Number of threads that search for a pivot.
const SEARCHERS: u32 = 8u;

var<workgroup> sh_size: array<real, 16>;
var<workgroup> sh_row: array<u32, 16>;

struct Determinant { mantissa: complex, exponent: i32 }

// Divides by the larger part first, because squares could underflow.
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

struct Pivot { size: real, row: u32 }

// Returns the row at or below `step` with the largest entry in column `step`, the first of equals.
fn pivot_of(base: u32, n: u32, step: u32, thread: u32) -> Pivot {
  // Steps alternate between two sets of places, so that no thread writes where another may still be reading.
  let places = step % 2u * SEARCHERS;
  if thread < SEARCHERS {
    var own = Pivot(-ONE, step);
    for (var i = step + thread; i < n; i += SEARCHERS) {
      let size = size_of(entry(base + i * n + step));
      if size > own.size {
        own = Pivot(size, i);
      }
    }
    sh_size[places + thread] = own.size;
    sh_row[places + thread] = own.row;
  }
  workgroupBarrier();
  var pivot = Pivot(sh_size[places], sh_row[places]);
  for (var other = 1u; other < SEARCHERS; other++) {
    let size = sh_size[places + other];
    let row = sh_row[places + other];
    if size > pivot.size || (size == pivot.size && row < pivot.row) {
      pivot = Pivot(size, row);
    }
  }
  return pivot;
}

// Subtracts multiples of the pivot's row from the other rows, sixteen columns by four rows at a time. If `whole`,
// this covers all columns except the pivot's, otherwise only the columns after it and the rows from `step` on.
fn subtract(base: u32, n: u32, whole: bool, step: u32, row: u32, inverse: complex, thread: u32) {
  let first_row = select(step, 0u, whole);
  let first_column = select(step + 1u, 0u, whole);
  for (var i = first_row + thread / 16u; i < n; i += THREADS / 16u) {
    if i == row {
      continue;
    }
    let multiple = times(entry(base + i * n + step), inverse);
    for (var j = first_column + thread % 16u; j < n; j += 16u) {
      if j != step {
        let at = base + i * n + j;
        set_entry(at, entry(at) - times(multiple, entry(base + row * n + j)));
      }
    }
  }
}

// Moves row `step` to the former place of the pivot's row. For an inverse, the pivot's row also moves to `step` and
// is scaled, as is its column.
fn exchange(base: u32, n: u32, whole: bool, step: u32, row: u32, inverse: complex, thread: u32) {
  let own = base + step * n;
  let other = base + row * n;
  for (var j = select(step + 1u, 0u, whole) + thread; j < n; j += THREADS) {
    if j != step {
      let x = entry(other + j);
      if row != step {
        set_entry(other + j, entry(own + j));
      }
      if whole {
        set_entry(own + j, times(x, inverse));
      }
    }
  }
  if !whole {
    return;
  }
  for (var i = thread; i < n; i += THREADS) {
    let x = -times(entry(base + i * n + step), inverse);
    if i == step {
      if row != step {
        set_entry(other + step, x);
      }
      set_entry(own + step, inverse);
    } else if i != row {
      set_entry(base + i * n + step, x);
    }
  }
}

// Performs some steps of Gaussian elimination on a matrix, below the diagonal only or (`whole`) towards its inverse
// up to the order of columns, which is in `pivots`. Returns the determinant of the steps so far to all threads of the
// workgroup. They must call this together, after a `matrix_barrier`.
fn eliminate(
  base: u32, n: u32, whole: bool, pivots_base: u32, steps: vec2<u32>, so_far: Determinant, thread: u32,
) -> Determinant {
  var determinant = so_far;
  for (var step = steps.x; step < steps.y; step++) {
    let found = pivot_of(base, n, step, thread);
    var inverse = complex(ZERO, ZERO);
    // The steps after the end do nothing, so that all threads reach the same barriers.
    if determinant.exponent > BROKEN_EXPONENT {
      if found.size <= SINGULAR {
        determinant = Determinant(complex(ZERO, ZERO), SINGULAR_EXPONENT);
      } else if found.size >= HIGHEST {
        determinant = Determinant(complex(ZERO, ZERO), BROKEN_EXPONENT);
      } else {
        if whole && thread == 0u {
          pivots[pivots_base + step] = found.row;
        }
        let pivot = entry(base + found.row * n + step);
        var factor = pivot;
        if found.row != step {
          factor = -pivot;
        }
        determinant = multiplied(determinant, factor);
        inverse = reciprocal(pivot);
        subtract(base, n, whole, step, found.row, inverse, thread);
      }
    }
    matrix_barrier();
    if determinant.exponent > BROKEN_EXPONENT {
      exchange(base, n, whole, step, found.row, inverse, thread);
    }
    matrix_barrier();
  }
  return determinant;
}

// Returns entry (i, j) of Σ_l f_l N_l at a node, with f_l = e^{iθ_l} − 1.
fn share_sum(at: u32, n: u32, parts: u32, node: u32) -> complex {
  var sum = complex(ZERO, ZERO);
  for (var l = 0u; l < parts; l++) {
    sum += phases[node * parts + l] * shares[l * n * n + at];
  }
  return sum;
}
