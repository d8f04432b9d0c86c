// Greedy sets of many requests, one workgroup per request. Every pick has the largest gain of the open parts, unless
// rounding could make another gain larger.
//
// A request is a tile, and its candidates are the rows of the tile. The group of the tile is 1 if equal rows and
// factors mean equal gains, and 0 if rounding may have made them equal; a factor of 0 bars a candidate. parts: the
// part of every candidate; quota: minimum and maximum number of items of every part; gains: the squared residual of
// every candidate, −∞ once it is picked, and its squared length; directions: 4·quads values each, `size` per request;
// picks: positions of the picks among the candidates, `size` per request. The first is NONE if a choice is in doubt.

struct Parameters {
  start: u32, tiles: u32, quads: u32, reading: u32,
  // k, the sum of the minimum numbers, and the relative rounding error of an operation.
  size: u32, lacking: u32, unit: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read> parts: array<u32>;
@group(0) @binding(5) var<storage, read> quota: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> gains: array<vec2<real>>;
@group(0) @binding(7) var<storage, read_write> directions: array<real4>;
@group(0) @binding(8) var<storage, read_write> picks: array<u32>;

const NONE: u32 = 0xffffffffu;
// Gains below this have too few digits in single precision.
const LEAST: real = 1.0e-25;

var<workgroup> sh_best: Leading;
var<workgroup> sh_counts: array<u32, 256>;
var<workgroup> sh_rivals: atomic<u32>;
var<workgroup> sh_known: u32;

// Subtracts the squared components along a direction from all gains, or sets the gains to squared lengths if it is
// NONE.
fn pass_over(thread: u32, tile: Tile, direction: u32) {
  let lane = thread % LANES;
  for (var first = 0u; first < tile.rows; first += TILE) {
    let end = min(first + TILE, tile.rows);
    for (var at = first + thread / LANES; at < end; at += TILE / LANES) {
      let start = row_start(tile, at);
      let factor = row_factor(tile, at);
      var sum = ZERO;
      for (var quad = lane; quad < parameters.quads; quad += LANES) {
        let values = term(start + quad, factor);
        var other = values;
        if direction != NONE {
          other = directions[direction + quad];
        }
        sum += dot(values, other);
      }
      sh_partial[(at - first) * PITCH + lane] = sum;
    }
    workgroupBarrier();
    if first + thread < end {
      let factor = last_factor(tile, first + thread);
      let sum = factor * row_sum(thread);
      let own = tile.start + first + thread;
      if direction == NONE {
        let length = counted(factor * sum);
        gains[own] = vec2<real>(length, length);
      } else if gains[own].x > LOWEST {
        gains[own].x = counted(gains[own].x - sum * sum);
      }
    }
    workgroupBarrier();
  }
  storageBarrier();
}

// Whether a part may have another item: it lacks one, or picks are to spare and it has fewer than its maximum.
fn is_open(part: u32, is_spare: bool) -> bool {
  let count = sh_counts[part];
  return count < quota[part].x || (is_spare && count < quota[part].y);
}

fn differ(tile: Tile, one: u32, other: u32) -> bool {
  if row_factor(tile, one) != row_factor(tile, other) {
    return true;
  }
  for (var quad = 0u; quad < parameters.quads; quad++) {
    if any(stored_quad(row_start(tile, one) + quad) != stored_quad(row_start(tile, other) + quad)) {
      return true;
    }
  }
  return false;
}

// Finds the candidate with the largest gain, the lowest item of equals, in `sh_best`. Returns whether this is
// certain.
fn choose(thread: u32, tile: Tile, is_spare: bool, rounding: real) -> bool {
  var own = Leading(LOWEST, LOWEST, NONE, 0u);
  for (var at = thread; at < tile.rows; at += TILE) {
    if is_open(parts[tile.start + at], is_spare) {
      let gain = gains[tile.start + at].x;
      own = leading_of(own, Leading(gain, LOWEST, row_start(tile, at), at));
    }
  }
  let leading = lead(thread, own);
  if thread == 0u {
    sh_best = leading;
    atomicStore(&sh_rivals, 0u);
  }
  workgroupBarrier();
  let best = sh_best;
  let floor = best.value - rounding * gains[tile.start + best.slot].y;
  for (var at = thread; at < tile.rows; at += TILE) {
    let gain = gains[tile.start + at];
    // Of copies, the lowest is the best.
    if at != best.slot && gain.x > LOWEST && gain.x + rounding * gain.y >= floor
      && is_open(parts[tile.start + at], is_spare) && (tile.group == 0u || differ(tile, at, best.slot)) {
      atomicStore(&sh_rivals, 1u);
    }
  }
  workgroupBarrier();
  if thread == 0u {
    sh_known = u32(atomicLoad(&sh_rivals) == 0u && best.value < HIGHEST && floor > LEAST);
  }
  return workgroupUniformLoad(&sh_known) != 0u;
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let number = workgroup_of(group, groups);
  let tile = tile_at(number);
  let base = number * p.size * p.quads;
  sh_counts[thread] = 0u;
  pass_over(thread, tile, NONE);
  var lacking = p.lacking;
  var operations = ZERO;
  for (var picked = 0u; picked < p.size; picked++) {
    let terms = real(4u * p.quads);
    let rounding = real(bitcast<f32>(p.unit)) * (4.0 * sqrt(terms * (ONE + operations)) + 4.0);
    // The condition is the same for all threads.
    if !choose(thread, tile, p.size - picked > lacking, rounding) {
      if thread == 0u {
        picks[number * p.size] = NONE;
      }
      return;
    }
    let best = sh_best.slot;
    if thread == 0u {
      picks[number * p.size + picked] = best;
    }
    if picked + 1u == p.size {
      return;
    }
    let part = parts[tile.start + best];
    lacking -= u32(sh_counts[part] < quota[part].x);
    let start = row_start(tile, best);
    let factor = row_factor(tile, best);
    let direction = base + picked * p.quads;
    for (var quad = thread; quad < p.quads; quad += 256u) {
      directions[direction + quad] = factor * stored_quad(start + quad);
    }
    // The direction's error is the error of the row, magnified by normalising the residual.
    operations += orthonormalise(thread, base, picked);
    if thread == 0u {
      sh_counts[part] += 1u;
      gains[tile.start + best].x = LOWEST;
    }
    storageBarrier();
    workgroupBarrier();
    pass_over(thread, tile, direction);
  }
}
