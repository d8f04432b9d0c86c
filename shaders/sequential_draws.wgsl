// Sequential draws, one per workgroup of 64 threads: item after item of parts in a fixed order, in proportion to what its row
// has outside the span of the items before, then kept in proportion to the draw's weight.
//
// trial_entries: shares of its own, and alias, of every position of a part and of its null entry, part after part; unit_rows:
// rows of `pitch` values, at most 1 long; grams: Ĝ_l / tr Ĝ_l; picks: first position, entries, shares of an entry and number of
// the part of every pick; scales: √β_j, then the factor of every trace, then the largest √β_j; found: draws kept or undecided,
// each as its number within the dispatches, with the highest bit set if undecided, and k positions.

struct Parameters {
  start: u32, count: u32, first: u32, block_low: u32, block_high: u32, seed_low: u32, seed_high: u32,
  pitch: u32, size: u32, slots: u32, rounds: u32, unit: f32,
}
struct Found { count: atomic<u32>, records: array<u32> }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> trial_entries: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> unit_rows: array<real>;
@group(0) @binding(3) var<storage, read> grams: array<real4>;
@group(0) @binding(4) var<storage, read> picks: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> scales: array<real>;
@group(0) @binding(6) var<storage, read_write> found: Found;

const TRIALS: u32 = 0x80000000u;
const LOW: u32 = 0x40000000u;
// Trials at a time, threads of each, and the most values of a row.
const AT_ONCE: u32 = 4u;
const LANES: u32 = 16u;
const WIDEST: u32 = 128u;
// Squares and weights below this, or above its inverse, are left to the host.
const LEAST: f32 = 1.0e-30f;

const REJECTED: u32 = 0u;
const ACCEPTED: u32 = 1u;
const UNDECIDED: u32 = 2u;
const GOES_ON: u32 = 3u;

var<workgroup> sh_rows: array<real, 512>;
var<workgroup> sh_off: array<real, THREADS>;
// Of every direction, the square of what it is off by; of every pick, tr(P Ĝ_l) in units of the cap.
var<workgroup> sh_errors: array<real, 48>;
var<workgroup> sh_traces: array<real, 48>;
var<workgroup> sh_picks: array<u32, 48>;
var<workgroup> sh_positions: array<u32, AT_ONCE>;
var<workgroup> sh_thresholds: array<real, AT_ONCE>;
var<workgroup> sh_row_errors: array<real, AT_ONCE>;
var<workgroup> sh_fates: array<u32, AT_ONCE>;
var<workgroup> sh_state: u32;
// What the weight may be off by, relative to it.
var<workgroup> sh_relative: real;
var<workgroup> sh_ratio: real;

// What an inner product of rows of length one is off by: errors of its terms are independent.
fn rounding() -> real {
  return 4.0 * sqrt(real(parameters.size + parameters.pitch)) * real(parameters.unit);
}

fn key() -> vec2<u32> {
  return vec2<u32>(parameters.seed_low, parameters.seed_high);
}

fn counter(index: u32, draw: u32) -> vec4<u32> {
  return vec4<u32>(index, draw, parameters.block_low, parameters.block_high);
}

// Whether a number drawn is below another, unless that is closer than a margin.
fn verdict(threshold: real, limit: real, margin: real) -> u32 {
  if threshold + margin < limit {
    return ACCEPTED;
  }
  return select(REJECTED, UNDECIDED, threshold - margin <= limit);
}

// tr(Qᵀ Ĝ_l Q) of the directions so far, in tiles of QQᵀ: (i, i + o) for o up to half the tiles of a row stand for all.
fn inside(t: u32, gram: u32, thread: u32) -> real {
  let tiles = parameters.pitch / 4u;
  let across = tiles / 2u + 1u;
  var sum = ZERO;
  for (var tile = thread; tile < tiles * across; tile += THREADS) {
    let row = tile / across;
    let off = tile % across;
    let column = (row + off) % tiles;
    var a = real4();
    var b = real4();
    var c = real4();
    var d = real4();
    for (var s = 0u; s < t; s++) {
      let at = s * stride() + 4u * row;
      let next = s * stride() + 4u * column;
      let other = real4(
        sh_directions[next], sh_directions[next + 1u], sh_directions[next + 2u],
        sh_directions[next + 3u],
      );
      a += sh_directions[at] * other;
      b += sh_directions[at + 1u] * other;
      c += sh_directions[at + 2u] * other;
      d += sh_directions[at + 3u] * other;
    }
    let first = (gram * parameters.pitch + 4u * row) * tiles + column;
    let products = a * grams[first] + b * grams[first + tiles] + c * grams[first + 2u * tiles]
      + d * grams[first + 3u * tiles];
    let is_single = off == 0u || 2u * off == tiles;
    sum += select(real(2.0), ONE, is_single) * (products.x + products.y + products.z + products.w);
  }
  return total(sum, thread);
}

// Finds tr(P Ĝ_l) for the next pick.
fn weigh(t: u32, thread: u32) {
  var trace = ONE;
  if t > 0u {
    trace = ONE - inside(t, picks[t].w, thread);
  }
  if thread == 0u {
    var error = ZERO;
    for (var s = 0u; s < t; s++) {
      error += sh_errors[s];
    }
    let off = 2.0 * sqrt(error) + rounding() * sqrt(real(t));
    if is_broken(trace) || is_broken(off) {
      sh_state = UNDECIDED;
    } else if trace <= 4.0 * off {
      sh_state = UNDECIDED;
    } else {
      sh_relative += 2.0 * off / trace;
      sh_traces[t] = trace * scales[parameters.pitch];
    }
  }
  workgroupBarrier();
}

// Makes trials of a pick at once; how many of them were used up.
fn try_rows(draw: u32, number: u32, t: u32, thread: u32) -> u32 {
  let trial = thread / LANES;
  let lane = thread % LANES;
  if lane == 0u {
    let pick = picks[t];
    let words = random_words(counter(TRIALS + number + trial, draw), key());
    let drawn = drawn_entry(words.x, words.y, pick.y, pick.z);
    let entry = trial_entries[pick.x + pick.w + drawn.x];
    let local = select(entry.y, drawn.x, drawn.y < entry.x);
    // The null entry is never accepted.
    let is_null = local + 1u == pick.y;
    sh_positions[trial] = select(pick.x + local, pick.x, is_null);
    sh_thresholds[trial] = unit_number(words.z, words.w);
    sh_fates[trial] = select(GOES_ON, REJECTED, is_null);
  }
  workgroupBarrier();
  let position = sh_positions[trial];
  var left = ZERO;
  for (var j = lane; j < parameters.pitch; j += LANES) {
    let x = unit_rows[position * parameters.pitch + j];
    sh_rows[trial * WIDEST + j] = x;
    left += x * x;
  }
  workgroupBarrier();
  let row = trial * WIDEST;
  var error = ZERO;
  for (var s = lane; s < t; s += LANES) {
    let at = s * stride();
    var along = ZERO;
    for (var j = 0u; j < parameters.pitch; j += 4u) {
      along += sh_directions[at + j] * sh_rows[row + j] + sh_directions[at + j + 1u] * sh_rows[row + j + 1u]
        + sh_directions[at + j + 2u] * sh_rows[row + j + 2u] + sh_directions[at + j + 3u] * sh_rows[row + j + 3u];
    }
    left -= along * along;
    error += sh_errors[s] * along * along;
    // The residual of a picked row is a rounding error.
    if sh_picks[s] == position {
      sh_fates[trial] = REJECTED;
    }
  }
  sh_partial[thread] = left;
  sh_off[thread] = error;
  workgroupBarrier();
  if lane == 0u && sh_fates[trial] == GOES_ON {
    judge(trial, thread);
  }
  workgroupBarrier();
  var used = 0u;
  while used < AT_ONCE && sh_fates[used] == REJECTED {
    used += 1u;
  }
  return used;
}

// Whether a trial is accepted; called by its first thread.
fn judge(trial: u32, thread: u32) {
  var square = ZERO;
  var error = ZERO;
  for (var i = 0u; i < LANES; i++) {
    square += sh_partial[thread + i];
    error += sh_off[thread + i];
  }
  if is_broken(square) || is_broken(error) {
    sh_fates[trial] = UNDECIDED;
    return;
  }
  square = max(square, ZERO);
  let margin = 2.0 * (2.0 * sqrt(square * error) + error + rounding());
  sh_fates[trial] = verdict(sh_thresholds[trial], square, margin);
  sh_row_errors[trial] = error + rounding() * rounding();
}

// Makes a trial the next pick.
fn pick(trial: u32, t: u32, thread: u32) {
  for (var j = thread; j < parameters.pitch; j += THREADS) {
    sh_directions[t * stride() + j] = sh_rows[trial * WIDEST + j];
  }
  let square = orthonormalise(t, thread);
  if thread == 0u {
    sh_picks[t] = sh_positions[trial];
    if square > ZERO {
      sh_errors[t] = sh_row_errors[trial] / square + rounding() * rounding();
    } else {
      sh_state = UNDECIDED;
    }
  }
  workgroupBarrier();
}

// Whether the draw is kept: det(QᵀBQ) Π tr(P Ĝ_l) against the cap, and one coin. B ≥ 1, so a column of B^½ Q is at least at a
// distance of one from the others, and what it is off by changes ln det by twice as much at most.
fn keep(draw: u32, thread: u32) {
  let p = parameters;
  for (var j = thread; j < p.pitch; j += THREADS) {
    for (var s = 0u; s < p.size; s++) {
      sh_directions[s * stride() + j] *= scales[j];
    }
  }
  for (var s = 0u; s < p.size; s++) {
    let pivot = orthonormalise(s, thread);
    if thread == 0u {
      sh_ratio *= pivot * sh_traces[s];
      sh_relative += 2.0 * scales[p.pitch + 1u] * (sqrt(sh_errors[s]) + rounding());
      if is_broken(sh_ratio) {
        sh_state = UNDECIDED;
      } else if sh_ratio < real(LEAST) || sh_ratio * real(LEAST) > ONE {
        sh_state = UNDECIDED;
      }
    }
  }
  if thread == 0u && sh_state == GOES_ON {
    let high = random_words(counter(0u, draw), key()).x;
    let low = random_words(counter(LOW, draw), key()).x;
    let margin = 2.0 * (sh_relative * sh_ratio + real(p.unit));
    sh_state = UNDECIDED;
    if is_broken(margin) == false && sh_relative < real(0.125) {
      sh_state = verdict(unit_number(high, low), sh_ratio, margin);
    }
  }
  workgroupBarrier();
}

fn record(number: u32) {
  let size = parameters.size;
  let slot = atomicAdd(&found.count, 1u);
  if slot < parameters.slots {
    let base = slot * (size + 1u);
    found.records[base] = number | select(0u, 0x80000000u, sh_state == UNDECIDED);
    for (var s = 0u; s < size; s++) {
      found.records[base + 1u + s] = sh_picks[s];
    }
  }
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let number = workgroup_of(group, groups);
  if number >= parameters.count {
    return;
  }
  let draw = parameters.first + number;
  if thread == 0u {
    sh_state = GOES_ON;
    sh_relative = ZERO;
    sh_ratio = ONE;
  }
  workgroupBarrier();
  weigh(0u, thread);
  var picked = 0u;
  var tried = 0u;
  for (var round = 0u; round < parameters.rounds && picked < parameters.size && sh_state == GOES_ON; round++) {
    let used = try_rows(draw, tried, picked, thread);
    tried += min(used + 1u, AT_ONCE);
    if used < AT_ONCE && sh_fates[used] == UNDECIDED {
      workgroupBarrier();
      if thread == 0u {
        sh_state = UNDECIDED;
      }
      workgroupBarrier();
    } else if used < AT_ONCE {
      pick(used, picked, thread);
      picked += 1u;
      if picked < parameters.size && sh_state == GOES_ON {
        weigh(picked, thread);
      }
    }
    workgroupBarrier();
  }
  if picked == parameters.size && sh_state == GOES_ON {
    keep(draw, thread);
  } else if thread == 0u {
    sh_state = UNDECIDED;
  }
  if thread == 0u && sh_state != REJECTED {
    record(number);
  }
}
