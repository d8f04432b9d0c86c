// C ← C − α cᵀ − γ gᵀ and d ← d + a c∘c − b g∘g with c = A w, g = A w', for the rows of some tiles, and the largest
// M_ii d_j + f_i C_ij² of every tile.
//
// places: the start of every tile's coefficients, then the number of slots of every group; swap: w, then w', 4·quads
// values each, then for every group α, γ, M_ii, f_i of `most` slots, followed by a, b, whether the table stays as it
// is, and a number of choose_swap; coefficients: 256 per slot and tile; residuals: one per position; tops: largest
// and second largest ratio of every tile, from `top` on, and row and slot of the largest. Without `update` the table
// is only searched. One workgroup per tile.

struct Parameters {
  start: u32, tiles: u32, quads: u32, reading: u32,
  first: u32, count: u32, most: u32, update: u32, top: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read> places: array<u32>;
@group(0) @binding(5) var<storage, read> swap: array<real4>;
@group(0) @binding(6) var<storage, read_write> coefficients: array<real>;
@group(0) @binding(7) var<storage, read_write> residuals: array<real>;
@group(0) @binding(8) var<storage, read_write> tops: array<real4>;

// Number of threads per row, and the same plus one for padding, so that threads adding sums read from different
// banks.
const LANES: u32 = 4u;
const PITCH: u32 = 5u;

// Partial sums of c and g by lane.
var<workgroup> sh_leaving: array<real, 1280>;
var<workgroup> sh_entering: array<real, 1280>;

fn products(tile: Tile, thread: u32) {
  let quads = parameters.quads;
  let lane = thread % LANES;
  for (var at = thread / LANES; at < tile.rows; at += TILE / LANES) {
    let start = row_start(tile, at);
    let factor = row_factor(tile, at);
    var c = ZERO;
    var g = ZERO;
    for (var quad = lane; quad < quads; quad += LANES) {
      let x = term(start + quad, factor);
      c += dot(x, swap[quad]);
      g += dot(x, swap[quads + quad]);
    }
    sh_leaving[at * PITCH + lane] = c;
    sh_entering[at * PITCH + lane] = g;
  }
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let own = workgroup_of(group, groups);
  let tile = tile_at(p.first + own);
  let numbers = 2u * p.quads + tile.group * (p.most + 1u);
  var slots = places[p.count + tile.group];
  if swap[numbers + p.most].z > ZERO {
    slots = 0u;
  }
  if p.update != 0u && slots > 0u {
    products(tile, thread);
  }
  workgroupBarrier();
  var best = Leading(LOWEST, LOWEST, thread, 0u);
  if thread < tile.rows && slots > 0u {
    let base = places[own];
    var c = ZERO;
    var g = ZERO;
    var d = counted(residuals[tile.start + thread]);
    if p.update != 0u {
      for (var lane = 0u; lane < LANES; lane++) {
        c += sh_leaving[thread * PITCH + lane];
        g += sh_entering[thread * PITCH + lane];
      }
      let factor = last_factor(tile, thread);
      c *= factor;
      g *= factor;
      let change = swap[numbers + p.most];
      if d > LOWEST {
        d = counted(d + change.x * c * c - change.y * g * g);
        residuals[tile.start + thread] = d;
      }
    }
    for (var slot = 0u; slot < slots; slot++) {
      let at = base + slot * TILE + thread;
      let s = swap[numbers + slot];
      var x = coefficients[at];
      if p.update != 0u {
        x -= s.x * c + s.y * g;
        coefficients[at] = x;
      }
      if d > LOWEST {
        var ratio = counted(s.z * d + s.w * x * x);
        if d >= HIGHEST || is_broken(x) {
          ratio = HIGHEST;
        }
        if ratio > best.value {
          best = Leading(ratio, best.value, thread, slot);
        } else {
          best.second = max(best.second, ratio);
        }
      }
    }
  }
  let leading = lead(thread, best);
  if thread == 0u {
    tops[p.top + own] = real4(leading.value, leading.second, real(leading.position), real(leading.slot));
  }
}
