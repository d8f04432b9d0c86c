// Sums of matrices over the runs of every group, and their rounding losses.
//
// partials: a matrix of `quads` times four values for every run from `first` to `last`; spans: first and last run of
// every group, and 1 if its sum starts at zero with them; sums: the sum of every group, followed by its losses. In
// f64 the losses have no use.

struct Parameters { start: u32, quads: u32, first: u32, last: u32, blocks: u32, zero: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> partials: array<real4>;
@group(0) @binding(2) var<storage, read> spans: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<real4>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let number = workgroup_of(group, groups);
  let own = number / p.blocks;
  let at = number % p.blocks * 256u + thread;
  let span = spans[own];
  let first = max(span.x, p.first);
  let last = min(span.y, p.last);
  if at >= p.quads || first >= last {
    return;
  }
  let place = 2u * own * p.quads + at;
  var sum = real4(ZERO, ZERO, ZERO, ZERO);
  var lost = sum;
  if first > span.x || span.z == 0u {
    sum = sums[place];
    lost = sums[place + p.quads];
  }
  for (var run = first; run < last; run++) {
    let x = partials[(run - p.first) * p.quads + at];
    let next = kept(sum + x, p.zero);
    // The sum of two numbers and its rounding error (Knuth).
    let added = kept(next - sum, p.zero);
    let before = kept(next - added, p.zero);
    lost += (sum - before) + (x - added);
    sum = next;
  }
  sums[place] = sum;
  sums[place + p.quads] = lost;
}
