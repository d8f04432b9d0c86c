// Products of some rows U with a complex matrix of every node: first with P⁻¹, then with the result, for U P⁻¹ Uᵀ.
//
// rows: U, n values each; matrices: a matrix of n by `columns` values per node, with values `stride` apart in a
// column and `step` apart between columns; products: U times that matrix, row by row. The matrices of successive
// nodes are `pitch` values apart. One thread per value.

struct Parameters { start: u32, values: u32, n: u32, count: u32, columns: u32, stride: u32, step: u32, pitch: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> rows: array<real>;
@group(0) @binding(2) var<storage, read> matrices: array<vec2<real>>;
@group(0) @binding(3) var<storage, read_write> products: array<vec2<real>>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let at = workgroup_of(group, groups) * 256u + thread;
  if at >= p.values {
    return;
  }
  let row = at / p.columns % p.count * p.n;
  let first = at / (p.columns * p.count) * p.pitch + at % p.columns * p.step;
  var sum = vec2<real>(ZERO, ZERO);
  for (var j = 0u; j < p.n; j++) {
    sum += rows[row + j] * matrices[first + j * p.stride];
  }
  products[at] = sum;
}
