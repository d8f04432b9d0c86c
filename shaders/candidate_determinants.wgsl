// det P(θ) for every candidate and node, where P(θ) = I + Σ_l (e^{iθ_l} − 1) Π N_l Π and Π = I − u uᵀ, and u is the
// candidate's unit vector. With v = N_l u, Π N_l Π = N_l − u vᵀ − v uᵀ + (uᵀv) u uᵀ.
//
// shares, phases: as for grid_determinants; matrices: work space for a matrix per candidate and node, if it is too
// large for registers; candidates: u, then v of every part, then uᵀv of every part, candidate by candidate;
// determinants: by node, then by candidate. One workgroup per determinant. Runs steps first … last − 1 of the
// elimination, as in grid_determinants.

struct Parameters { start: u32, candidates: u32, nodes: u32, n: u32, parts: u32, first: u32, last: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> shares: array<real>;
@group(0) @binding(2) var<storage, read> phases: array<complex>;
@group(0) @binding(3) var<storage, read_write> matrices: array<complex>;
@group(0) @binding(4) var<storage, read_write> pivots: array<u32>;
@group(0) @binding(5) var<storage, read> candidates: array<real>;
@group(0) @binding(6) var<storage, read_write> determinants: array<complex>;
@group(0) @binding(7) var<storage, read_write> exponents: array<i32>;

// Returns an entry of P(θ) for a candidate and a node.
fn initial(number: u32, i: u32, j: u32) -> complex {
  let p = parameters;
  let unit = number / p.nodes * (p.n + p.parts * (p.n + 1u));
  let forms = unit + p.n + p.parts * p.n;
  let node = number % p.nodes;
  let ui = candidates[unit + i];
  let uj = candidates[unit + j];
  var sum = complex(ZERO, ZERO);
  for (var l = 0u; l < p.parts; l++) {
    let image = unit + p.n + l * p.n;
    let share = shares[(l * p.n + i) * p.n + j];
    let removed = ui * candidates[image + j] + uj * candidates[image + i] - ui * uj * candidates[forms + l];
    sum += phases[node * p.parts + l] * (share - removed);
  }
  return sum + complex(select(ZERO, ONE, i == j), ZERO);
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
  var so_far = Determinant(complex(ONE, ZERO), 0);
  if p.first == 0u {
    assemble(number, p.n, thread);
  } else {
    so_far = Determinant(determinants[number], exponents[number]);
  }
  let determinant = eliminate(number, p.n, false, vec2<u32>(p.first, p.last), so_far, thread);
  if thread == 0u {
    determinants[number] = determinant.mantissa;
    exponents[number] = determinant.exponent;
  }
}
