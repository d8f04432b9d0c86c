// ‖a_i‖² for every row of a chunk.
//
// rows: quads·rows values, four by four; norms: one per row. One workgroup per tile of 256 rows, one barrier.

struct Parameters { start: u32, rows: u32, quads: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> rows: array<real4>;
@group(0) @binding(2) var<storage, read_write> norms: array<real>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let first = workgroup_of(group, groups) * TILE;
  let lane = thread % LANES;
  for (var at = thread / LANES; at < TILE; at += TILE / LANES) {
    var sum = ZERO;
    if first + at < parameters.rows {
      let start = (first + at) * parameters.quads;
      for (var quad = lane; quad < parameters.quads; quad += LANES) {
        let x = rows[start + quad];
        sum += dot(x, x);
      }
    }
    sh_partial[at * PITCH + lane] = sum;
  }
  workgroupBarrier();
  if first + thread < parameters.rows {
    norms[first + thread] = row_sum(thread);
  }
}
