// C ← C − α cᵀ − γ gᵀ and d ← d + a c∘c − b g∘g with c = A w, g = A w', for some rows of a chunk; and per tile the
// largest M_ii d_j + f_i C_ij².
//
// rows: quads·(first + rows) values, four by four; exchange: w, then w', 4·quads values each; slots: α, γ, M_ii, f_i of
// every slot, then a, b, 0, 0; coefficients: `rows` values per slot; residuals: one per row. Without `update` the
// table is only searched. One workgroup per 256 rows.

struct Parameters { start: u32, rows: u32, quads: u32, slots: u32, first: u32, update: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> rows: array<real4>;
@group(0) @binding(2) var<storage, read> exchange: array<real4>;
@group(0) @binding(3) var<storage, read> slots: array<real4>;
@group(0) @binding(4) var<storage, read_write> coefficients: array<real>;
@group(0) @binding(5) var<storage, read_write> residuals: array<real>;
@group(0) @binding(6) var<storage, read_write> values: array<vec2<real>>;
@group(0) @binding(7) var<storage, read_write> places: array<vec2<u32>>;

// Four threads per row, plus one for padding, so that threads that add up read from different banks.
const LANES: u32 = 4u;
const PITCH: u32 = 5u;

// Partial sums of c and g by lane.
var<workgroup> sh_leaving: array<real, 1280>;
var<workgroup> sh_entering: array<real, 1280>;

fn products(first: u32, thread: u32) {
  let p = parameters;
  let lane = thread % LANES;
  for (var at = thread / LANES; at < TILE; at += TILE / LANES) {
    var c = ZERO;
    var g = ZERO;
    if first + at < p.rows {
      let start = (p.first + first + at) * p.quads;
      for (var quad = lane; quad < p.quads; quad += LANES) {
        let x = rows[start + quad];
        c += dot(x, exchange[quad]);
        g += dot(x, exchange[p.quads + quad]);
      }
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
  let tile = workgroup_of(group, groups);
  let first = tile * TILE;
  let row = first + thread;
  if p.update != 0u {
    products(first, thread);
  }
  workgroupBarrier();
  var best = Leading(LOWEST, LOWEST, row, 0u);
  if row < p.rows {
    var c = ZERO;
    var g = ZERO;
    var d = counted(residuals[row]);
    if p.update != 0u {
      for (var lane = 0u; lane < LANES; lane++) {
        c += sh_leaving[thread * PITCH + lane];
        g += sh_entering[thread * PITCH + lane];
      }
      // The last entry of slots holds a and b.
      let change = slots[p.slots];
      if d > LOWEST {
        d = counted(d + change.x * c * c - change.y * g * g);
        residuals[row] = d;
      }
    }
    for (var slot = 0u; slot < p.slots; slot++) {
      let at = slot * p.rows + row;
      let s = slots[slot];
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
          best = Leading(ratio, best.value, row, slot);
        } else {
          best.second = max(best.second, ratio);
        }
      }
    }
  }
  let leading = lead(thread, best);
  if thread == 0u && first < p.rows {
    values[tile] = vec2<real>(leading.value, leading.second);
    places[tile] = vec2<u32>(leading.position, leading.slot);
  }
}
