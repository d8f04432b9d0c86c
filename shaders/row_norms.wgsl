// ‖a_i‖² for every row.
//
// norms: one per position. One workgroup per tile, one barrier.

struct Parameters { start: u32, tiles: u32, quads: u32, reading: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read_write> norms: array<real>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = tile_at(workgroup_of(group, groups));
  let lane = thread % LANES;
  for (var at = thread / LANES; at < TILE; at += TILE / LANES) {
    var sum = ZERO;
    if at < tile.rows {
      let start = row_start(tile, at);
      let factor = row_factor(tile, at);
      for (var quad = lane; quad < parameters.quads; quad += LANES) {
        let x = term(start + quad, factor);
        sum += dot(x, x);
      }
    }
    sh_partial[at * PITCH + lane] = sum;
  }
  workgroupBarrier();
  if thread < tile.rows {
    let factor = last_factor(tile, thread);
    let sum = row_sum(thread);
    norms[tile.start + thread] = factor * (factor * sum);
  }
}
