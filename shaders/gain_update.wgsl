// d ← d − (a_i·q)² for every row of an open group whose gain d is not −∞, and the leading gain of every tile.
//
// directions: 4·quads values each; q is number `direction`, or NONE to search the gains only; gains: one per
// position; open: 0 for closed groups; tops: largest and second largest gain of every tile from `first` on, and the
// row of the largest. One workgroup per tile.

struct Parameters { start: u32, tiles: u32, quads: u32, reading: u32, direction: u32, first: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read> directions: array<real4>;
@group(0) @binding(5) var<storage, read_write> gains: array<real>;
@group(0) @binding(6) var<storage, read> open: array<u32>;
@group(0) @binding(7) var<storage, read_write> tops: array<real4>;

const NONE: u32 = 0xffffffffu;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let number = workgroup_of(group, groups);
  let tile = tile_at(number);
  let quads = parameters.quads;
  let is_open = open[tile.group] != 0u;
  let update = is_open && parameters.direction != NONE;
  if update {
    let lane = thread % LANES;
    let q = parameters.direction * quads;
    for (var at = thread / LANES; at < tile.rows; at += TILE / LANES) {
      let start = row_start(tile, at);
      let factor = row_factor(tile, at);
      var sum = ZERO;
      for (var quad = lane; quad < quads; quad += LANES) {
        sum += dot(term(start + quad, factor), directions[q + quad]);
      }
      sh_partial[at * PITCH + lane] = sum;
    }
  }
  workgroupBarrier();
  var gain = LOWEST;
  if is_open && thread < tile.rows {
    gain = counted(gains[tile.start + thread]);
    if update && gain > LOWEST {
      let along = last_factor(tile, thread) * row_sum(thread);
      gain = counted(gain - along * along);
      gains[tile.start + thread] = gain;
    }
  }
  let leading = lead(thread, Leading(gain, LOWEST, thread, 0u));
  if thread == 0u {
    tops[parameters.first + number] = real4(leading.value, leading.second, real(leading.position), ZERO);
  }
}
