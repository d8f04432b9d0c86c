// Adds the sums of all runs of nodes.
//
// partials: the sums of every run, `pitch` values each; form: receives their sum, which is added to the sum of
// earlier runs if `earlier` is set. One thread per value.

struct Parameters { start: u32, runs: u32, pitch: u32, earlier: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> partials: array<real>;
@group(0) @binding(2) var<storage, read_write> form: array<real>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let at = workgroup_of(group, groups) * 256u + thread;
  if at >= p.pitch {
    return;
  }
  var sum = ZERO;
  if p.earlier != 0u {
    sum = form[at];
  }
  for (var run = 0u; run < p.runs; run++) {
    sum += partials[run * p.pitch + at];
  }
  form[at] = sum;
}
