// B ← B − (B q) qᵀ and the new ‖b_i‖², for every row of a chunk.
//
// rows: quads·rows values, in groups of four; direction: quads·4; norms: one per row. One workgroup per 256 rows.

struct Parameters { start: u32, rows: u32, quads: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> rows: array<real4>;
@group(0) @binding(2) var<storage, read> direction: array<real4>;
@group(0) @binding(3) var<storage, read_write> norms: array<real>;

const TILE: u32 = 256u;

var<workgroup> sh_along: array<real, 256>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let first = workgroup_of(group, groups) * TILE;
  let lane = thread % LANES;
  for (var at = thread / LANES; at < TILE; at += TILE / LANES) {
    var sum = ZERO;
    if first + at < p.rows {
      let start = (first + at) * p.quads;
      for (var quad = lane; quad < p.quads; quad += LANES) {
        sum += dot(rows[start + quad], direction[quad]);
      }
    }
    sh_partial[at * PITCH + lane] = sum;
  }
  workgroupBarrier();
  sh_along[thread] = row_sum(thread);
  workgroupBarrier();
  for (var at = thread / LANES; at < TILE; at += TILE / LANES) {
    var sum = ZERO;
    if first + at < p.rows {
      let start = (first + at) * p.quads;
      for (var quad = lane; quad < p.quads; quad += LANES) {
        let x = rows[start + quad] - sh_along[at] * direction[quad];
        rows[start + quad] = x;
        sum += dot(x, x);
      }
    }
    sh_partial[at * PITCH + lane] = sum;
  }
  workgroupBarrier();
  if first + thread < p.rows {
    norms[first + thread] = row_sum(thread);
  }
}
