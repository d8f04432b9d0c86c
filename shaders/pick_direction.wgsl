// The direction of a pick: its row, made orthogonal to the directions before it and normalised; and its gain, −∞.
//
// directions: 4·quads values each, of which `count` are known and the next is written; picks: see choose_pick; gains:
// one per position. One workgroup, for the chunk whose tiles begin with number `first`.

struct Parameters {
  start: u32, tiles: u32, quads: u32, reading: u32,
  pick: u32, first: u32, count: u32, groups: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read_write> directions: array<real4>;
@group(0) @binding(5) var<storage, read_write> picks: array<real4>;
@group(0) @binding(6) var<storage, read_write> gains: array<real>;
@group(0) @binding(7) var<storage, read> numbers: array<real4>;

// Sums of threads, then coordinates.
var<workgroup> sh_along: array<real, 256>;

// The sum over all threads, in all threads.
fn total(thread: u32, own: real) -> real {
  workgroupBarrier();
  sh_along[thread] = own;
  for (var half = 128u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if thread < half {
      sh_along[thread] += sh_along[thread + half];
    }
  }
  workgroupBarrier();
  return sh_along[0];
}

fn square(thread: u32, own: u32) -> real {
  var sum = ZERO;
  for (var quad = thread; quad < parameters.quads; quad += 256u) {
    sum += dot(directions[own + quad], directions[own + quad]);
  }
  return total(thread, sum);
}

// Removes the components along 256 directions.
fn remove(thread: u32, own: u32, first: u32) {
  let quads = parameters.quads;
  let lane = thread % LANES;
  for (var at = thread / LANES; at < 256u; at += 256u / LANES) {
    var sum = ZERO;
    if first + at < parameters.count {
      for (var quad = lane; quad < quads; quad += LANES) {
        sum += dot(directions[(first + at) * quads + quad], directions[own + quad]);
      }
    }
    sh_partial[at * PITCH + lane] = sum;
  }
  workgroupBarrier();
  sh_along[thread] = row_sum(thread);
  workgroupBarrier();
  for (var quad = thread; quad < quads; quad += 256u) {
    var x = directions[own + quad];
    for (var j = 0u; j < min(256u, parameters.count - first); j++) {
      x -= sh_along[j] * directions[(first + j) * quads + quad];
    }
    directions[own + quad] = x;
  }
  storageBarrier();
  workgroupBarrier();
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let pick = picks[2u * p.pick];
  let number = u32(pick.y);
  // Uniform over the workgroup.
  if workgroup_of(group, groups) > 0u || pick.w == ZERO || number < p.first || number - p.first >= p.tiles {
    return;
  }
  let tile = tile_at(number - p.first);
  let row = u32(pick.z);
  let start = row_start(tile, row);
  let factor = row_factor(tile, row);
  let own = p.count * p.quads;
  for (var quad = thread; quad < p.quads; quad += 256u) {
    directions[own + quad] = factor * stored_quad(start + quad);
  }
  storageBarrier();
  workgroupBarrier();
  let norm = square(thread, own);
  // Twice is enough (Kahan and Parlett).
  for (var time = 0u; time < 2u; time++) {
    for (var first = 0u; first < p.count; first += 256u) {
      remove(thread, own, first);
    }
  }
  let left = square(thread, own);
  var unit = ZERO;
  if left > ZERO {
    unit = ONE / sqrt(left);
  }
  for (var quad = thread; quad < p.quads; quad += 256u) {
    directions[own + quad] *= unit;
  }
  if thread == 0u {
    gains[tile.start + row] = LOWEST;
    var operations = numbers[p.groups].x;
    if p.pick > 0u {
      operations = picks[2u * p.pick - 1u].x;
    }
    // The direction's error is that of the row, enlarged by what is left of it.
    picks[2u * p.pick + 1u] = real4(operations + norm * unit * unit, ZERO, ZERO, ZERO);
  }
}
