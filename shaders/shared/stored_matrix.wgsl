// Matrices of any size in `matrices`.
const THREADS: u32 = 256u;

fn entry(at: u32) -> complex {
  return matrices[at];
}

fn set_entry(at: u32, x: complex) {
  matrices[at] = x;
}

fn matrix_barrier() {
  storageBarrier();
}

// Returns the start of matrix `number`, if each matrix is followed by `more` values.
fn matrix_base(number: u32, n: u32, more: u32) -> u32 {
  return number * (n * n + more);
}

// Returns the start of the values after a matrix.
fn values_base(number: u32, n: u32, more: u32) -> u32 {
  return matrix_base(number, n, more) + n * n;
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
