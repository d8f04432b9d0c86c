// det P(θ) at every node, P(θ) = I + Σ_l (e^{iθ_l} − 1) N_l, and P(θ)⁻¹ on request.
//
// shares: N_l, one after another; phases: e^{iθ_l} − 1 of every part, node by node; matrices: a matrix per node,
// which receives the inverse and serves as work space if workgroup memory is too small for it; pivots: n per node;
// determinants and exponents: mantissa and power of two. One workgroup per node. Runs steps first … last − 1 of the
// elimination, because drivers end long dispatches; runs all steps if the matrix is in workgroup memory.

struct Parameters { start: u32, nodes: u32, n: u32, parts: u32, inverses: u32, first: u32, last: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> shares: array<real>;
@group(0) @binding(2) var<storage, read> phases: array<complex>;
@group(0) @binding(3) var<storage, read_write> matrices: array<complex>;
@group(0) @binding(4) var<storage, read_write> pivots: array<u32>;
@group(0) @binding(5) var<storage, read_write> determinants: array<complex>;
@group(0) @binding(6) var<storage, read_write> exponents: array<i32>;

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
  let base = matrix_base(node, p.n, 0u);
  var so_far = Determinant(complex(ONE, ZERO), 0);
  if p.first == 0u {
    for (var at = thread; at < p.n * p.n; at += THREADS) {
      var x = share_sum(at, p.n, p.parts, node);
      if at / p.n == at % p.n {
        x.x += ONE;
      }
      set_entry(base + at, x);
    }
  } else {
    so_far = Determinant(determinants[node], exponents[node]);
  }
  matrix_barrier();
  let whole = p.inverses != 0u;
  let determinant = eliminate(base, p.n, whole, node * p.n, vec2<u32>(p.first, p.last), so_far, thread);
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
