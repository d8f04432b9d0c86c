// The leading value of every group, from the leading values of its tiles.
//
// spans: first and last tile of every group; tops: largest and second largest value of every tile, and the place of
// the largest; leaders: the same for every group, then the tile of the largest. One workgroup per group.

struct Parameters { start: u32, groups: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> spans: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> tops: array<real4>;
@group(0) @binding(3) var<storage, read_write> leaders: array<real4>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let number = workgroup_of(group, groups);
  let span = spans[number];
  var best = Leading(LOWEST, LOWEST, span.y, 0u);
  for (var tile = span.x + thread; tile < span.y; tile += 256u) {
    let top = tops[tile];
    best = leading_of(best, Leading(top.x, top.y, tile, 0u));
  }
  let leading = lead(thread, best);
  if thread == 0u {
    var place = real4(ZERO, ZERO, ZERO, ZERO);
    if leading.value > LOWEST {
      place = tops[leading.position];
    }
    leaders[2u * number] = real4(leading.value, leading.second, place.z, place.w);
    leaders[2u * number + 1u] = real4(real(leading.position), ZERO, ZERO, ZERO);
  }
}
