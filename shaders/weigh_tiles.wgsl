// The sum of the weights of every tile of 256 rows of a chunk.
//
// weights: one per row; sums: one per tile, for the chunk's tiles from first_tile on. One workgroup per tile.

struct Parameters { start: u32, rows: u32, first_tile: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> weights: array<real>;
@group(0) @binding(2) var<storage, read_write> sums: array<real>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = workgroup_of(group, groups);
  let row = tile * TILE + thread;
  var sum = ZERO;
  if row < parameters.rows {
    sum = weights[row];
  }
  sh_weights[thread] = sum;
  for (var half = 128u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if thread < half {
      sum += sh_weights[thread + half];
      sh_weights[thread] = sum;
    }
  }
  if thread == 0u && tile * TILE < parameters.rows {
    if is_broken(sum) {
      sum = HIGHEST;
    }
    sums[parameters.first_tile + tile] = sum;
  }
}
