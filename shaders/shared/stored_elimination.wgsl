// Determinants and inverses of matrices in `matrices`, by Gauss–Jordan elimination in place with exchanges of rows.
// Entries are stored row by row.
//
// Columns are eliminated in panels of WIDTH, which the host sets. The steps of a panel change only its own columns.
// They leave there the factors C by which all other columns are then multiplied:
//
//   A_ij ← A_ij + Σ_s C_is A_sj;   in the rows of the panel's pivots, A_ij ← Σ_s C_is A_sj
const THREADS: u32 = 256u;

// A key has 12 bits for the row, which leaves the size eleven bits after the binary point. The host takes no matrix with
// more rows.
const KEY_ROWS: u32 = 4095u;

// Three keys take turns, so that one can be cleared while no thread uses it.
var<workgroup> sh_keys: array<atomic<u32>, 3>;
// The rows of a panel's pivots before they are moved to the diagonal.
var<workgroup> sh_rows: array<u32, WIDTH>;

fn assemble(number: u32, n: u32, thread: u32) {
  for (var at = thread; at < n * n; at += THREADS) {
    matrices[number * n * n + at] = initial(number, at / n, at % n);
  }
  storageBarrier();
}

// Shares the key of the largest entry in column `step`, at or below row `step`.
fn share_key(base: u32, n: u32, step: u32, thread: u32) {
  var largest = 0u;
  for (var i = step + thread; i < n; i += THREADS) {
    largest = max(largest, key_of(matrices[base + i * n + step], i));
  }
  atomicMax(&sh_keys[step % 3u], largest);
}

// Subtracts multiples of the pivot's row from the rows of the panel from `top` on, except in column `step`.
fn subtract(base: u32, n: u32, panel: vec2<u32>, top: u32, step: u32, row: u32, inverse: complex, thread: u32) {
  let j = panel.x + thread % WIDTH;
  if j >= panel.y || j == step {
    return;
  }
  let entry = times(matrices[base + row * n + j], inverse);
  for (var i = top + thread / WIDTH; i < n; i += THREADS / WIDTH) {
    if i != row {
      let at = base + i * n + j;
      matrices[at] = reduced(matrices[at], matrices[base + i * n + step], entry);
    }
  }
}

// Moves row `step` of the panel to the former place of the pivot's row, which moves to `step`. Scales the pivot's row,
// and the column from row `top` on.
fn exchange(base: u32, n: u32, panel: vec2<u32>, top: u32, step: u32, row: u32, inverse: complex, thread: u32) {
  let own = base + step * n;
  let other = base + row * n;
  let j = panel.x + thread;
  if j < panel.y && j != step {
    let x = matrices[other + j];
    matrices[other + j] = matrices[own + j];
    matrices[own + j] = times(x, inverse);
  }
  for (var i = top + thread; i < n; i += THREADS) {
    // The thread of row `step` writes the entries of both rows.
    if i == row && row != step {
      continue;
    }
    let x = -times(matrices[base + i * n + step], inverse);
    if i == step {
      matrices[other + step] = x;
      matrices[own + step] = inverse;
    } else {
      matrices[base + i * n + step] = x;
    }
  }
}

// Exchanges the rows of all columns from `start` on that are not in the panel.
fn exchange_others(base: u32, n: u32, panel: vec2<u32>, start: u32, thread: u32) {
  for (var j = start + thread; j < n; j += THREADS) {
    if j < panel.x || j >= panel.y {
      for (var step = panel.x; step < panel.y; step++) {
        let own = base + step * n + j;
        let other = base + sh_rows[step - panel.x] * n + j;
        let x = matrices[own];
        matrices[own] = matrices[other];
        matrices[other] = x;
      }
    }
  }
}

// Multiplies the columns from `start` on that are not in the panel by its factors: in the panel's rows, or in the rows
// from `start` on that are not in the panel.
fn multiply(base: u32, n: u32, panel: vec2<u32>, start: u32, inside: bool, thread: u32) {
  // In the panel's rows, a thread overwrites what only it has read.
  let lanes = select(64u, THREADS, inside);
  let rows = select(vec2<u32>(start, n), panel, inside);
  let last = panel.y - panel.x - 1u;
  for (var j = start + thread % lanes; j < n; j += lanes) {
    if j < panel.x || j >= panel.y {
      var entries: array<complex, WIDTH>;
      for (var s = 0u; s < WIDTH; s++) {
        let entry = matrices[base + (panel.x + min(s, last)) * n + j];
        entries[s] = select(complex(ZERO, ZERO), -entry, s <= last);
      }
      for (var i = rows.x + thread / lanes; i < rows.y; i += THREADS / lanes) {
        if inside || i < panel.x || i >= panel.y {
          let row = base + i * n;
          var x = complex(ZERO, ZERO);
          if !inside {
            x = matrices[row + j];
          }
          for (var s = 0u; s < WIDTH; s++) {
            x = reduced(x, matrices[row + panel.x + min(s, last)], entries[s]);
          }
          matrices[row + j] = x;
        }
      }
    }
  }
}

// Performs some steps on an assembled matrix, only on what later steps need or (`whole`) towards its inverse up to the
// order of columns, which is in `pivots`. Returns the determinant of the steps so far to all threads.
fn eliminate(number: u32, n: u32, whole: bool, steps: vec2<u32>, so_far: Determinant, thread: u32) -> Determinant {
  let base = number * n * n;
  var determinant = so_far;
  if thread < 3u {
    atomicStore(&sh_keys[thread], 0u);
  }
  workgroupBarrier();
  for (var first = steps.x; first < steps.y; first += WIDTH) {
    let panel = vec2<u32>(first, min(first + WIDTH, n));
    for (var step = panel.x; step < panel.y; step++) {
      share_key(base, n, step, thread);
      workgroupBarrier();
      let key = atomicLoad(&sh_keys[step % 3u]);
      let row = KEY_ROWS - (key & KEY_ROWS);
      let top = select(step, 0u, whole);
      var inverse = complex(ZERO, ZERO);
      // The steps after the end do nothing, so that all threads reach the same barriers.
      determinant = judged(determinant, key);
      if determinant.exponent > BROKEN_EXPONENT {
        let pivot = matrices[base + row * n + step];
        determinant = multiplied(determinant, select(pivot, -pivot, row != step));
        inverse = reciprocal(pivot);
        if thread == 0u {
          atomicStore(&sh_keys[(step + 2u) % 3u], 0u);
          sh_rows[step - first] = row;
          if whole {
            pivots[number * n + step] = row;
          }
        }
        subtract(base, n, panel, top, step, row, inverse, thread);
      }
      storageBarrier();
      if determinant.exponent > BROKEN_EXPONENT {
        exchange(base, n, panel, top, step, row, inverse, thread);
      }
      storageBarrier();
    }
    let start = select(panel.y, 0u, whole);
    let goes_on = determinant.exponent > BROKEN_EXPONENT;
    workgroupBarrier();
    if goes_on {
      exchange_others(base, n, panel, start, thread);
    }
    storageBarrier();
    if goes_on {
      multiply(base, n, panel, start, false, thread);
    }
    storageBarrier();
    if goes_on && whole {
      multiply(base, n, panel, start, true, thread);
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
