// Determinants and inverses of matrices of at most LARGEST rows in registers, by Gauss–Jordan elimination in place.
// Thread (y, x) holds rows y, y + SIDE, … and columns x, x + SIDE, …. Rows are not exchanged: a row is used once it has
// been a pivot's row. Workgroup memory holds the pivot's row, divided by the pivot, and the pivot's column.
const SIDE: u32 = (LARGEST + 31u) / 32u * 8u;
const TILE: u32 = LARGEST / SIDE;
const THREADS: u32 = SIDE * SIDE;

const KEY_ROWS: u32 = 63u;

var<private> tile: array<complex, TILE * TILE>;

var<workgroup> sh_pivot_row: array<complex, LARGEST>;
// Steps alternate between two columns and two keys, so that no thread writes where another may still be reading.
var<workgroup> sh_column: array<complex, 2u * LARGEST>;
var<workgroup> sh_keys: array<atomic<u32>, 2>;
// The row of every step's pivot, and the step of every row.
var<workgroup> sh_pivots: array<u32, LARGEST>;
var<workgroup> sh_steps: array<u32, LARGEST>;

fn assemble(number: u32, n: u32, thread: u32) {
  for (var a = 0u; a < TILE; a++) {
    for (var b = 0u; b < TILE; b++) {
      let i = a * SIDE + thread / SIDE;
      let j = b * SIDE + thread % SIDE;
      var x = complex(ZERO, ZERO);
      if i < n && j < n {
        x = initial(number, i, j);
      }
      tile[a * TILE + b] = x;
    }
  }
}

fn bits_below(count: u32) -> u32 {
  return select((1u << (count % 32u)) - 1u, 0xffffffffu, count >= 32u);
}

// Returns the set of the first rows, of at most 64.
fn rows_below(count: u32) -> vec2<u32> {
  return vec2<u32>(bits_below(count), bits_below(max(count, 32u) - 32u));
}

fn contains(rows: vec2<u32>, row: u32) -> bool {
  return ((select(rows.x, rows.y, row >= 32u) >> (row % 32u)) & 1u) == 1u;
}

// Shares a column, which is in block `b` of its threads, and the key of its largest entry in an unused row. Clears the
// column.
fn share_column(column: u32, b: u32, used: vec2<u32>, y: u32) {
  var largest = 0u;
  for (var a = 0u; a < TILE; a++) {
    let i = a * SIDE + y;
    let x = tile[a * TILE + b];
    sh_column[column % 2u * LARGEST + i] = x;
    tile[a * TILE + b] = complex(ZERO, ZERO);
    if !contains(used, i) {
      largest = max(largest, key_of(x, i));
    }
  }
  atomicMax(&sh_keys[column % 2u], largest);
}

// Shares the pivot's row divided by the pivot, with the pivot's inverse in place of the pivot, and clears the row.
fn share_row(step: u32, row: u32, pivot: complex, x: u32) {
  let inverse = reciprocal(pivot);
  for (var a = 0u; a < TILE; a++) {
    if a == row / SIDE {
      for (var b = 0u; b < TILE; b++) {
        let j = b * SIDE + x;
        sh_pivot_row[j] = times(select(tile[a * TILE + b], complex(ONE, ZERO), j == step), inverse);
        tile[a * TILE + b] = complex(ZERO, ZERO);
      }
    }
  }
}

// Subtracts multiples of the pivot's row. If `whole`, this also fills the cleared row and column with entries of the
// inverse; otherwise it skips used rows and blocks of columns that end before `step`.
fn subtract(step: u32, row: u32, whole: bool, used: vec2<u32>, y: u32, x: u32) {
  var multiples: array<complex, TILE>;
  for (var a = 0u; a < TILE; a++) {
    let i = a * SIDE + y;
    let multiple = select(complex(ZERO, ZERO), sh_column[step % 2u * LARGEST + i], whole || !contains(used, i));
    multiples[a] = select(multiple, complex(-ONE, ZERO), i == row);
  }
  for (var b = 0u; b < TILE; b++) {
    if whole || b >= step / SIDE {
      let entry = sh_pivot_row[b * SIDE + x];
      for (var a = 0u; a < TILE; a++) {
        tile[a * TILE + b] = reduced(tile[a * TILE + b], multiples[a], entry);
      }
    }
  }
}

// Performs all steps on an assembled matrix, below the diagonal only or (`whole`) towards its inverse up to the order of
// rows and columns. Returns the determinant to thread 0. The other threads learn only whether the elimination ended
// early.
fn eliminate(number: u32, n: u32, whole: bool, steps: vec2<u32>, so_far: Determinant, thread: u32) -> Determinant {
  let y = thread / SIDE;
  let x = thread % SIDE;
  var determinant = so_far;
  var used = ~rows_below(n);
  if thread < 2u {
    atomicStore(&sh_keys[thread], 0u);
  }
  workgroupBarrier();
  if x == 0u {
    share_column(0u, 0u, used, y);
  }
  for (var step = 0u; step < n; step++) {
    workgroupBarrier();
    let key = atomicLoad(&sh_keys[step % 2u]);
    let row = KEY_ROWS - (key & KEY_ROWS);
    // The steps after the end do nothing, so that all threads reach the same barriers.
    determinant = judged(determinant, key);
    if determinant.exponent > BROKEN_EXPONENT {
      let pivot = sh_column[step % 2u * LARGEST + row];
      let above = ~used & rows_below(row);
      used |= rows_below(row + 1u) ^ rows_below(row);
      if thread == 0u {
        // The pivot's row would move up past the unused rows above it.
        let moves = countOneBits(above.x) + countOneBits(above.y);
        determinant = multiplied(determinant, select(pivot, -pivot, moves % 2u == 1u));
        atomicStore(&sh_keys[(step + 1u) % 2u], 0u);
        sh_pivots[step] = row;
        sh_steps[row] = step;
      }
      if y == row % SIDE {
        share_row(step, row, pivot, x);
      }
    }
    workgroupBarrier();
    if determinant.exponent > BROKEN_EXPONENT {
      subtract(step, row, whole, used, y, x);
      if x == (step + 1u) % SIDE {
        for (var b = 0u; b < TILE; b++) {
          if b == (step + 1u) / SIDE {
            share_column(step + 1u, b, used, y);
          }
        }
      }
    }
  }
  return determinant;
}

// Writes the inverse to `matrices`, with sorted rows and columns.
fn keep_inverse(number: u32, n: u32, thread: u32) {
  for (var a = 0u; a < TILE; a++) {
    for (var b = 0u; b < TILE; b++) {
      let i = a * SIDE + thread / SIDE;
      let j = b * SIDE + thread % SIDE;
      if i < n && j < n {
        matrices[(number * n + sh_steps[i]) * n + sh_pivots[j]] = tile[a * TILE + b];
      }
    }
  }
}
