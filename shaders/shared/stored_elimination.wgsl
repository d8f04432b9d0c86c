// Determinants and inverses of matrices of any size in `matrices`, by Gauss–Jordan elimination with exchanges of rows.
// Entries are stored row by row.
const THREADS: u32 = 256u;

// Number of threads that search for a pivot.
const SEARCHERS: u32 = 8u;

var<workgroup> sh_size: array<real, 16>;
var<workgroup> sh_row: array<u32, 16>;

fn assemble(number: u32, n: u32, thread: u32) {
  for (var at = thread; at < n * n; at += THREADS) {
    matrices[number * n * n + at] = initial(number, at / n, at % n);
  }
  storageBarrier();
}

struct Pivot { size: real, row: u32 }

// Returns the row at or below `step` with the largest entry in column `step`, the first of equals.
fn pivot_of(base: u32, n: u32, step: u32, thread: u32) -> Pivot {
  // Steps alternate between two sets of places, so that no thread writes where another may still be reading.
  let places = step % 2u * SEARCHERS;
  if thread < SEARCHERS {
    var own = Pivot(-ONE, step);
    for (var i = step + thread; i < n; i += SEARCHERS) {
      let size = size_of(matrices[base + i * n + step]);
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
    let multiple = times(matrices[base + i * n + step], inverse);
    for (var j = first_column + thread % 16u; j < n; j += 16u) {
      if j != step {
        let at = base + i * n + j;
        matrices[at] = reduced(matrices[at], multiple, matrices[base + row * n + j]);
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
      let x = matrices[other + j];
      if row != step {
        matrices[other + j] = matrices[own + j];
      }
      if whole {
        matrices[own + j] = times(x, inverse);
      }
    }
  }
  if !whole {
    return;
  }
  for (var i = thread; i < n; i += THREADS) {
    let x = -times(matrices[base + i * n + step], inverse);
    if i == step {
      if row != step {
        matrices[other + step] = x;
      }
      matrices[own + step] = inverse;
    } else if i != row {
      matrices[base + i * n + step] = x;
    }
  }
}

// Performs some steps on an assembled matrix, below the diagonal only or (`whole`) towards its inverse up to the
// order of columns, which is in `pivots`. Returns the determinant of the steps so far to all threads.
fn eliminate(number: u32, n: u32, whole: bool, steps: vec2<u32>, so_far: Determinant, thread: u32) -> Determinant {
  let base = number * n * n;
  var determinant = so_far;
  for (var step = steps.x; step < steps.y; step++) {
    let found = pivot_of(base, n, step, thread);
    var inverse = complex(ZERO, ZERO);
    // The steps after the end do nothing, so that all threads reach the same barriers.
    if determinant.exponent > BROKEN_EXPONENT {
      if found.size <= real(SINGULAR) {
        determinant = Determinant(complex(ZERO, ZERO), SINGULAR_EXPONENT);
      } else if found.size >= HIGHEST {
        determinant = Determinant(complex(ZERO, ZERO), BROKEN_EXPONENT);
      } else {
        if whole && thread == 0u {
          pivots[number * n + step] = found.row;
        }
        let pivot = matrices[base + found.row * n + step];
        var factor = pivot;
        if found.row != step {
          factor = -pivot;
        }
        determinant = multiplied(determinant, factor);
        inverse = reciprocal(pivot);
        subtract(base, n, whole, step, found.row, inverse, thread);
      }
    }
    storageBarrier();
    if determinant.exponent > BROKEN_EXPONENT {
      exchange(base, n, whole, step, found.row, inverse, thread);
    }
    storageBarrier();
  }
  return determinant;
}

// Sorts the columns of an inverse, row by row.
fn keep_inverse(number: u32, n: u32, thread: u32) {
  for (var i = thread; i < n; i += THREADS) {
    let row = (number * n + i) * n;
    for (var left = n; left > 0u; left--) {
      let step = left - 1u;
      let other = pivots[number * n + step];
      if other != step {
        let x = matrices[row + step];
        matrices[row + step] = matrices[row + other];
        matrices[row + other] = x;
      }
    }
  }
}
