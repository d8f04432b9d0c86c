// det P(θ) at every node, P(θ) = I + Σ_l (e^{iθ_l} − 1) N_l, and P(θ)⁻¹ on request.
//
// shares: N_l, one after another; phases: e^{iθ_l} − 1 of every part, node by node; matrices: a matrix per node,
// which receives the inverse and serves as work space if the matrix is too large for registers; pivots: n per node;
// determinants and exponents: mantissa and power of two. One workgroup per node. Runs steps first … last − 1 of the
// elimination, because drivers end long dispatches; runs all steps if the matrix is in registers.

struct Parameters { start: u32, nodes: u32, n: u32, parts: u32, inverses: u32, first: u32, last: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> shares: array<real>;
@group(0) @binding(2) var<storage, read> phases: array<complex>;
@group(0) @binding(3) var<storage, read_write> matrices: array<complex>;
@group(0) @binding(4) var<storage, read_write> pivots: array<u32>;
@group(0) @binding(5) var<storage, read_write> determinants: array<complex>;
@group(0) @binding(6) var<storage, read_write> exponents: array<i32>;

// Returns an entry of P(θ) at a node.
fn initial(node: u32, i: u32, j: u32) -> complex {
  let p = parameters;
  var sum = complex(ZERO, ZERO);
  for (var l = 0u; l < p.parts; l++) {
    sum += phases[node * p.parts + l] * shares[(l * p.n + i) * p.n + j];
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
  let node = workgroup_of(group, groups);
  // Uniform over a workgroup, so all threads reach the barriers or none does.
  if node >= p.nodes {
    return;
  }
  var so_far = Determinant(complex(ONE, ZERO), 0);
  if p.first == 0u {
    assemble(node, p.n, thread);
  } else {
    so_far = Determinant(determinants[node], exponents[node]);
  }
  let whole = p.inverses != 0u;
  let determinant = eliminate(node, p.n, whole, vec2<u32>(p.first, p.last), so_far, thread);
  // Pivots are written by thread 0.
  storageBarrier();
  if whole && p.last == p.n && determinant.exponent > BROKEN_EXPONENT {
    keep_inverse(node, p.n, thread);
  }
  if thread == 0u {
    determinants[node] = determinant.mantissa;
    exponents[node] = determinant.exponent;
  }
}
