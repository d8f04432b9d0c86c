// Re Σ x_l φ P⁻¹ over some nodes, four parts at a time, and the rounding losses of the sums. In f64 the losses have
// no use.
//
// coefficients: x_l of every part, node by node; determinants and exponents: φ as mantissa and power of two;
// matrices: P⁻¹, `entries` values each; partials: the sums of every lane, `pitch` values for parts first … last − 1,
// then the losses of every lane. A lane adds every `lanes`-th node to its previous sums, if `earlier` is set. One
// workgroup per 256 entries of four parts in a lane. Nodes whose matrices are not inverses are left to the host.

struct Parameters {
  start: u32, nodes: u32, entries: u32, parts: u32, first: u32, last: u32, lanes: u32, pitch: u32, earlier: u32, zero: u32,
}

// Number of nodes whose factors are in workgroup memory at a time.
const BATCH: u32 = 32u;
const BROKEN_EXPONENT: i32 = -2147483646;

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> coefficients: array<complex>;
@group(0) @binding(2) var<storage, read> determinants: array<complex>;
@group(0) @binding(3) var<storage, read> exponents: array<i32>;
@group(0) @binding(4) var<storage, read> matrices: array<complex>;
@group(0) @binding(5) var<storage, read_write> partials: array<real>;

// Real and imaginary parts of x φ, for four parts.
var<workgroup> sh_factors: array<real4, 64>;

// Stores the factors of a node for four parts from the first, zero beyond the last.
fn keep_factors(place: u32, node: u32, first: u32) {
  let value = scaled(determinants[node], exponents[node]);
  var re = real4(ZERO, ZERO, ZERO, ZERO);
  var im = re;
  for (var part = 0u; part < min(4u, parameters.last - first); part++) {
    let factor = times(coefficients[node * parameters.parts + first + part], value);
    re[part] = factor.x;
    im[part] = factor.y;
  }
  sh_factors[place] = re;
  sh_factors[BATCH + place] = im;
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let number = workgroup_of(group, groups);
  let tiles = (p.entries + 255u) / 256u;
  let blocks = (p.last - p.first + 3u) / 4u;
  let lane = number / (tiles * blocks);
  // Uniform over a workgroup, so all threads reach the barriers or none does.
  if lane >= p.lanes {
    return;
  }
  let at = number % tiles * 256u + thread;
  let part = number / tiles % blocks * 4u;
  let here = min(4u, p.last - p.first - part);
  let place = lane * p.pitch + part * p.entries + at;
  let losses = p.lanes * p.pitch;
  var sum = real4(ZERO, ZERO, ZERO, ZERO);
  var lost = sum;
  if p.earlier != 0u && at < p.entries {
    for (var own = 0u; own < here; own++) {
      sum[own] = partials[place + own * p.entries];
      lost[own] = partials[losses + place + own * p.entries];
    }
  }
  for (var first = lane; first < p.nodes; first += BATCH * p.lanes) {
    let next = first + thread * p.lanes;
    if thread < BATCH && next < p.nodes {
      keep_factors(thread, next, p.first + part);
    }
    workgroupBarrier();
    if at < p.entries {
      for (var number = 0u; number < min(BATCH, (p.nodes - first + p.lanes - 1u) / p.lanes); number++) {
        let node = first + number * p.lanes;
        if exponents[node] > BROKEN_EXPONENT {
          let x = matrices[node * p.entries + at];
          let term = sh_factors[number] * x.x - sh_factors[BATCH + number] * x.y;
          let total = kept(sum + term, p.zero);
          // The sum of two numbers and its rounding error (Knuth).
          let added = kept(total - sum, p.zero);
          let before = kept(total - added, p.zero);
          lost += (sum - before) + (term - added);
          sum = total;
        }
      }
    }
    workgroupBarrier();
  }
  if at < p.entries {
    for (var own = 0u; own < here; own++) {
      partials[place + own * p.entries] = sum[own];
      partials[losses + place + own * p.entries] = lost[own];
    }
  }
}
