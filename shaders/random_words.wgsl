// Philox4x32-10 of every counter and key: six words in, four words out, one per thread.

struct Parameters { start: u32, count: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> counters: array<u32>;
@group(0) @binding(2) var<storage, read_write> words: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let at = workgroup_of(group, groups) * 64u + thread;
  if at < parameters.count {
    let c = at * 6u;
    let counter = vec4<u32>(counters[c], counters[c + 1u], counters[c + 2u], counters[c + 3u]);
    words[at] = random_words(counter, vec2<u32>(counters[c + 4u], counters[c + 5u]));
  }
}
