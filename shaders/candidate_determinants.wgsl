// det P_i(θ) for every candidate and node, where P_i(θ) = I + Π_i Q Π_i with Q = Σ_l (e^{iθ_l} − 1) N_l and Π_i = I −
// u uᵀ, and u is the candidate's unit vector. Q is symmetric, so Π Q Π = Q − u wᵀ − w uᵀ + (uᵀw) u uᵀ with w = Q u.
//
// shares, phases: as for grid_determinants; units: n values per candidate; matrices: space for a vector per candidate
// and node, preceded by a matrix if workgroup memory is too small for it; determinants: by node, then by candidate.
// One workgroup per determinant. Runs steps first … last − 1 of the elimination, as in grid_determinants.

struct Parameters { start: u32, candidates: u32, nodes: u32, n: u32, parts: u32, first: u32, last: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> shares: array<real>;
@group(0) @binding(2) var<storage, read> phases: array<complex>;
@group(0) @binding(3) var<storage, read_write> matrices: array<complex>;
@group(0) @binding(4) var<storage, read_write> pivots: array<u32>;
@group(0) @binding(5) var<storage, read> units: array<real>;
@group(0) @binding(6) var<storage, read_write> determinants: array<complex>;
@group(0) @binding(7) var<storage, read_write> exponents: array<i32>;

// Writes P_i(θ) to a matrix.
fn assemble(base: u32, image: u32, n: u32, node: u32, unit: u32, thread: u32) {
  for (var at = thread; at < n * n; at += THREADS) {
    set_entry(base + at, share_sum(at, n, parameters.parts, node));
  }
  matrix_barrier();
  for (var i = thread; i < n; i += THREADS) {
    var w = complex(ZERO, ZERO);
    for (var j = 0u; j < n; j++) {
      w += entry(base + j * n + i) * units[unit + j];
    }
    matrices[image + i] = w;
  }
  storageBarrier();
  workgroupBarrier();
  var form = complex(ZERO, ZERO);
  for (var i = 0u; i < n; i++) {
    form += matrices[image + i] * units[unit + i];
  }
  for (var at = thread; at < n * n; at += THREADS) {
    let i = at / n;
    let j = at % n;
    let ui = units[unit + i];
    let uj = units[unit + j];
    var x = entry(base + at) - ui * matrices[image + j] - uj * matrices[image + i] + ui * uj * form;
    if i == j {
      x.x += ONE;
    }
    set_entry(base + at, x);
  }
  matrix_barrier();
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let number = workgroup_of(group, groups);
  if number >= p.candidates * p.nodes {
    return;
  }
  let n = p.n;
  let node = number % p.nodes;
  let unit = number / p.nodes * n;
  let base = matrix_base(number, n, n);
  var so_far = Determinant(complex(ONE, ZERO), 0);
  if p.first == 0u {
    assemble(base, values_base(number, n, n), n, node, unit, thread);
  } else {
    so_far = Determinant(determinants[number], exponents[number]);
  }
  let determinant = eliminate(base, n, false, 0u, vec2<u32>(p.first, p.last), so_far, thread);
  if thread == 0u {
    determinants[number] = determinant.mantissa;
    exponents[number] = determinant.exponent;
  }
}
