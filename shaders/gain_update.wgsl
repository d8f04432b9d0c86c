// d ← d − (A q)² for every row of a chunk whose gain d is not −∞, and the largest d of every tile.
//
// rows: quads·rows values, four by four; direction: quads·4; gains: one per row. Per tile of 256 rows, which is one
// workgroup: largest and second largest gain in `values`, position of the largest in `positions`. Without `update`
// gains are only searched.

struct Parameters { start: u32, rows: u32, quads: u32, update: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> rows: array<real4>;
@group(0) @binding(2) var<storage, read> direction: array<real4>;
@group(0) @binding(3) var<storage, read_write> gains: array<real>;
@group(0) @binding(4) var<storage, read_write> values: array<vec2<real>>;
@group(0) @binding(5) var<storage, read_write> positions: array<u32>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = workgroup_of(group, groups);
  let first = tile * TILE;
  if parameters.update != 0u {
    let lane = thread % LANES;
    for (var at = thread / LANES; at < TILE; at += TILE / LANES) {
      var sum = ZERO;
      if first + at < parameters.rows {
        let start = (first + at) * parameters.quads;
        for (var quad = lane; quad < parameters.quads; quad += LANES) {
          sum += dot(rows[start + quad], direction[quad]);
        }
      }
      sh_partial[at * PITCH + lane] = sum;
    }
  }
  workgroupBarrier();
  var gain = LOWEST;
  if first + thread < parameters.rows {
    gain = counted(gains[first + thread]);
    if parameters.update != 0u && gain > LOWEST {
      let along = row_sum(thread);
      gain = counted(gain - along * along);
      gains[first + thread] = gain;
    }
  }
  let leading = lead(thread, Leading(gain, LOWEST, first + thread, 0u));
  if thread == 0u && first < parameters.rows {
    values[tile] = vec2<real>(leading.value, leading.second);
    positions[tile] = leading.position;
  }
}
