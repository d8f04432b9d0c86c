// The rows of independent picks, 64 / LANES picks per workgroup. Each pick draws an item of its part in proportion to
// its weight.
//
// trial_entries: own shares and alias of every position of a part and of its null entry, part by part; picks: first
// position, number of entries, shares per entry and number of the part of every pick; table: the stored row of every
// position; factors: the factor of that row; images: the rows of all picks; a dispatch writes the rows in its
// chunk and, for null entries, zeros; positions: the picked positions, NOBODY for the null entry.

struct Parameters {
  start: u32, tiles: u32, quads: u32, reading: u32,
  count: u32, first: u32, block_low: u32, block_high: u32, seed_low: u32, seed_high: u32,
  // Number of picks per proposal, first row of the chunk, and number of its rows.
  size: u32, before: u32, rows: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read> trial_entries: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> picks: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> images: array<real4>;
@group(0) @binding(7) var<storage, read_write> positions: array<u32>;

// Number of threads per row.
const LANES: u32 = 8u;

var<workgroup> sh_positions: array<u32, 8>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let pick = workgroup_of(group, groups) * (64u / LANES) + thread / LANES;
  let lane = thread % LANES;
  let is_asked = pick < p.count * p.size;
  if lane == 0u && is_asked {
    let t = pick % p.size;
    let position = drawn_position(random_words(counter(TRIALS + t, p.first + pick / p.size), key()), t);
    sh_positions[thread / LANES] = position;
    positions[pick] = position;
  }
  workgroupBarrier();
  if !is_asked {
    return;
  }
  let position = sh_positions[thread / LANES];
  if position == NOBODY {
    for (var quad = lane; quad < p.quads; quad += LANES) {
      images[pick * p.quads + quad] = real4();
    }
    return;
  }
  // Rows before the chunk wrap around to positions after it.
  let row = table[position] - p.before;
  if row >= p.rows {
    return;
  }
  let factor = factors[position];
  for (var quad = lane; quad < p.quads; quad += LANES) {
    images[pick * p.quads + quad] = factor * stored_quad(row * p.quads + quad);
  }
}
