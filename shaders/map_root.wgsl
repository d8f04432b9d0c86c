// G = F R, in the layout for products with rows.
//
// map: Fᵀ, n rows of 4·quads values; root: n columns of R; factor: 4·quads rows of column_quads·4 values, zeros
// beyond column n. One thread per value.

struct Parameters { start: u32, n: u32, quads: u32, column_quads: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> map: array<real>;
@group(0) @binding(2) var<storage, read> root: array<real>;
@group(0) @binding(3) var<storage, read_write> factor: array<real>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let at = workgroup_of(group, groups) * 256u + thread;
  let pitch = 4u * p.quads;
  let columns = 4u * p.column_quads;
  if at >= pitch * columns {
    return;
  }
  // Neighbouring threads have neighbouring rows, which are adjacent in the map.
  let row = at % pitch;
  let column = at / pitch;
  var sum = ZERO;
  if column < p.n {
    for (var i = 0u; i < p.n; i++) {
      sum += map[i * pitch + row] * root[column * p.n + i];
    }
  }
  factor[row * columns + column] = sum;
}
