// Sums of matrices over runs, and what their rounding loses.
//
// partials: a matrix of `quads` times four values for every run; sums: as many sums, then the losses. Sums go on where they
// were unless `anew` is 1. In f64 the losses are no use.

struct Parameters { start: u32, quads: u32, runs: u32, anew: u32, zero: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> partials: array<real4>;
@group(0) @binding(2) var<storage, read_write> sums: array<real4>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let at = workgroup_of(group, groups) * 256u + thread;
  if at >= p.quads {
    return;
  }
  var sum = real4(ZERO, ZERO, ZERO, ZERO);
  var lost = sum;
  if p.anew == 0u {
    sum = sums[at];
    lost = sums[p.quads + at];
  }
  for (var run = 0u; run < p.runs; run++) {
    let x = partials[run * p.quads + at];
    let next = kept(sum + x, p.zero);
    // Two numbers are the sum and its error (Knuth).
    let added = kept(next - sum, p.zero);
    let before = kept(next - added, p.zero);
    lost += (sum - before) + (x - added);
    sum = next;
  }
  sums[at] = sum;
  sums[p.quads + at] = lost;
}
