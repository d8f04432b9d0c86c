// One matrix of at most LARGEST rows in workgroup memory. A larger matrix leaves room for fewer workgroups per core,
// so each workgroup needs more threads to hide latency.
const THREADS: u32 = (LARGEST + 15u) / 16u * 64u;

var<workgroup> sh_matrix: array<complex, LARGEST * LARGEST>;

fn entry(at: u32) -> complex {
  return sh_matrix[at];
}

fn set_entry(at: u32, x: complex) {
  sh_matrix[at] = x;
}

fn matrix_barrier() {
  workgroupBarrier();
}

fn matrix_base(number: u32, n: u32, more: u32) -> u32 {
  return 0u;
}

// Returns the start of the values that belong to a matrix; they are in `matrices`.
fn values_base(number: u32, n: u32, more: u32) -> u32 {
  return number * more;
}

// Writes an inverse to `matrices`, with sorted columns.
fn keep_inverse(number: u32, n: u32, thread: u32) {
  for (var j = thread; j < n; j += THREADS) {
    var place = j;
    for (var left = n; left > 0u; left--) {
      let step = left - 1u;
      let other = pivots[number * n + step];
      if place == step {
        place = other;
      } else if place == other {
        place = step;
      }
    }
    for (var i = 0u; i < n; i++) {
      matrices[(number * n + i) * n + place] = sh_matrix[i * n + j];
    }
  }
}
