// Conditions the inverse P⁻¹ and the value φ of every node on a pick q, and computes the sums for the next pick.
//
// P⁻¹ ← P⁻¹ − vvᵀ/(qᵀv), φ ← φ·(qᵀv), v = P⁻¹q;   Re Σ x φ P⁻¹ and Re Σ y φ for the factors x and y of the nodes
//
// inputs: q, then x and y of every node; exponents: powers of two of the determinants' initial values; matrices: P⁻¹,
// row by row; values: φ; images: v, one per run; partials: the sum over every run of nodes, n² values each; tallies:
// the sum of y φ over every run; marks: flags in the first word. One workgroup per run of nodes.

struct Parameters { start: u32, nodes: u32, n: u32, run: u32, first_run: u32, step: u32 }

// In the first step, values are mantissas.
const START: u32 = 0u;
const CONDITION: u32 = 1u;

// Flags: a pivot that makes its node inaccurate, a matrix that was not inverted, a value that is infinite or NaN.
const NEAR_SINGULAR: u32 = 1u;
const SINGULAR: u32 = 2u;
const BROKEN: u32 = 4u;

const SINGULAR_EXPONENT: i32 = -2147483647;
const BROKEN_EXPONENT: i32 = -2147483646;

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> inputs: array<real>;
@group(0) @binding(2) var<storage, read> exponents: array<i32>;
@group(0) @binding(3) var<storage, read_write> matrices: array<complex>;
@group(0) @binding(4) var<storage, read_write> values: array<complex>;
@group(0) @binding(5) var<storage, read_write> images: array<complex>;
@group(0) @binding(6) var<storage, read_write> partials: array<real>;
@group(0) @binding(7) var<storage, read_write> tallies: array<real>;
@group(0) @binding(8) var<storage, read_write> marks: array<atomic<u32>>;

var<workgroup> sh_sums: array<complex, 256>;

// Stores v = P⁻¹q, and returns qᵀv to all threads. P⁻¹ is symmetric.
fn image(base: u32, n: u32, at: u32, thread: u32) -> complex {
  let lane = thread % 64u;
  let share = thread / 64u;
  var along = complex(ZERO, ZERO);
  for (var block = 0u; block < n; block += 64u) {
    let j = block + lane;
    var sum = complex(ZERO, ZERO);
    if j < n {
      for (var i = share; i < n; i += 4u) {
        sum += inputs[i] * matrices[base + i * n + j];
      }
    }
    sh_sums[thread] = sum;
    workgroupBarrier();
    if share == 0u && j < n {
      sum += sh_sums[thread + 64u] + sh_sums[thread + 128u] + sh_sums[thread + 192u];
      images[at + j] = sum;
      along += inputs[j] * sum;
    }
    workgroupBarrier();
  }
  if share == 0u {
    sh_sums[lane] = along;
  }
  storageBarrier();
  workgroupBarrier();
  var sum = complex(ZERO, ZERO);
  for (var other = 0u; other < 64u; other++) {
    sum += sh_sums[other];
  }
  return sum;
}

fn flag(thread: u32, which: u32) {
  if thread == 0u {
    atomicOr(&marks[0], which);
  }
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let run = workgroup_of(group, groups);
  let first = run * p.run;
  // Uniform over a workgroup, so all threads reach the barriers or none does.
  if first >= p.nodes {
    return;
  }
  var tally = ZERO;
  for (var node = first; node < min(first + p.run, p.nodes); node++) {
    let base = node * p.n * p.n;
    var value = values[node];
    var inverse = complex(ZERO, ZERO);
    if p.step == START {
      if exponents[node] == SINGULAR_EXPONENT {
        flag(thread, SINGULAR);
      } else if exponents[node] == BROKEN_EXPONENT {
        flag(thread, BROKEN);
      }
      value = scaled(value, exponents[node]);
    } else if p.step == CONDITION {
      let along = image(base, p.n, run * p.n, thread);
      let square = dot(along, along);
      if is_broken(square) {
        flag(thread, BROKEN);
      } else if square < 1.0e-12 || square >= 1.0e8 {
        flag(thread, NEAR_SINGULAR);
      } else {
        inverse = complex(along.x, -along.y) / square;
        value = times(value, along);
      }
    }
    let factors = p.n + 4u * node;
    let factor = times(complex(inputs[factors], inputs[factors + 1u]), value);
    tally += inputs[factors + 2u] * value.x - inputs[factors + 3u] * value.y;
    // Row and column of the entry, tracked without a division in the loop.
    var i = thread / p.n;
    var j = thread % p.n;
    for (var at = thread; at < p.n * p.n; at += 256u) {
      var x = matrices[base + at];
      if p.step == CONDITION {
        let v = times(images[run * p.n + j], inverse);
        x -= times(images[run * p.n + i], v);
        matrices[base + at] = x;
      }
      var sum = factor.x * x.x - factor.y * x.y;
      if node > first {
        sum += partials[run * p.n * p.n + at];
      }
      partials[run * p.n * p.n + at] = sum;
      i += 256u / p.n;
      j += 256u % p.n;
      if j >= p.n {
        i++;
        j -= p.n;
      }
    }
    // All threads have read the value, and the data that the next node's image overwrites.
    workgroupBarrier();
    if thread == 0u {
      values[node] = value;
    }
  }
  if thread == 0u {
    tallies[p.first_run + run] = tally;
  }
}
