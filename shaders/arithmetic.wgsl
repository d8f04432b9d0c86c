// Operations on pairs of numbers, to test the device's precision.
//
// operands: pair by pair; results: eight per pair.

struct Parameters { start: u32, pairs: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> operands: array<vec2<real>>;
@group(0) @binding(2) var<storage, read_write> results: array<real4>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let at = workgroup_of(group, groups) * 64u + thread;
  if at < parameters.pairs {
    let x = operands[at].x;
    let y = operands[at].y;
    results[2u * at] = real4(x + y, x - y, x * y, x / y);
    let inner = dot(real4(x, y, x, ONE), real4(ONE, -ONE, 0.5, 0.25));
    results[2u * at + 1u] = real4(sqrt(abs(x)), real(f32(x)), real(at * 0x9E3779B1u), inner);
  }
}
