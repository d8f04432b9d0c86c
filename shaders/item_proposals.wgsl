// Proposals of independent items, one per workgroup of 64 threads: kept with probability det(M Mᵀ), M the rows of the picks.
//
// With D = diag(M Mᵀ), det(M Mᵀ) = det D · det C, and C = D^-½ M Mᵀ D^-½ is eliminated item by item between bounds. If every
// product in C is off by ε, the pivot of an item with the coefficients x on the items before is off by at most 2ε(1 + ‖x‖₁)², as
// long as k ε tr C⁻¹ of those is at most 1/4. No pivot is above 1, so a proposal ends as soon as the pivots so far reject it.
//
// images: the rows of all picks, `size` of them a proposal; positions: those picked, NOBODY if none was; found: proposals kept or
// undecided, each as its number within the dispatches, with the highest bit set if undecided, and k positions.

struct Parameters {
  start: u32, count: u32, first: u32, block_low: u32, block_high: u32, seed_low: u32, seed_high: u32,
  quads: u32, size: u32, slots: u32, unit: f32,
}
struct Found { count: atomic<u32>, records: array<u32> }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> images: array<real4>;
@group(0) @binding(2) var<storage, read> positions: array<u32>;
@group(0) @binding(3) var<storage, read_write> found: Found;

const THREADS: u32 = 64u;
const TRIALS: u32 = 0x80000000u;
const NOBODY: u32 = 0xffffffffu;
const REJECTED: u32 = 0u;
const ACCEPTED: u32 = 1u;
const UNDECIDED: u32 = 2u;
const GOES_ON: u32 = 3u;
// The most items of a proposal.
const MOST: u32 = 36u;
// Values of rows that are multiplied at a time, in groups of four, and those that a row takes: no two threads read from the same
// bank.
const WIDTH: u32 = 8u;
const PITCH: u32 = 9u;
// Squared lengths below this, or above its inverse, are left to the host.
const LEAST: f32 = 1.0e-30f;

var<workgroup> sh_rows: array<real4, 324>;
// Products, then C; of the items eliminated their coefficients.
var<workgroup> sh_gram: array<real, 1296>;
var<workgroup> sh_column: array<real, MOST>;
var<workgroup> sh_picks: array<u32, MOST>;
var<workgroup> sh_state: u32;
// Bounds of the probability to keep the proposal, the number it is compared with, and a bound of tr C⁻¹.
var<workgroup> sh_above: real;
var<workgroup> sh_below: real;
var<workgroup> sh_threshold: real;
var<workgroup> sh_trace: real;

// What a product of unit rows, and its elimination, are off by: errors of its terms are independent.
fn rounding() -> real {
  let p = parameters;
  return (4.0 * sqrt(real(4u * p.quads)) + 2.0 * real(p.size) + 8.0) * real(p.unit);
}

// Whether an item was drawn for every pick, and none of them twice; called by one thread.
fn are_distinct() -> bool {
  for (var s = 0u; s < parameters.size; s++) {
    if sh_picks[s] == NOBODY {
      return false;
    }
    for (var before = 0u; before < s; before++) {
      if sh_picks[before] == sh_picks[s] {
        return false;
      }
    }
  }
  return true;
}

// The products of all rows. Pairs (i, i + o) for o up to half the rows stand for all.
fn multiply(number: u32, thread: u32) {
  let p = parameters;
  let across = p.size / 2u + 1u;
  for (var pair = thread; pair < p.size * across; pair += THREADS) {
    let i = pair / across;
    sh_gram[i * MOST + (i + pair % across) % p.size] = ZERO;
  }
  for (var first = 0u; first < p.quads; first += WIDTH) {
    workgroupBarrier();
    for (var at = thread; at < p.size * WIDTH; at += THREADS) {
      let quad = first + at % WIDTH;
      var values = real4();
      if quad < p.quads {
        values = images[(number * p.size + at / WIDTH) * p.quads + quad];
      }
      sh_rows[at / WIDTH * PITCH + at % WIDTH] = values;
    }
    workgroupBarrier();
    for (var pair = thread; pair < p.size * across; pair += THREADS) {
      let i = pair / across;
      let j = (i + pair % across) % p.size;
      var sum = ZERO;
      for (var quad = 0u; quad < WIDTH; quad++) {
        sum += dot(sh_rows[i * PITCH + quad], sh_rows[j * PITCH + quad]);
      }
      sh_gram[i * MOST + j] += sum;
    }
  }
  workgroupBarrier();
  for (var pair = thread; pair < p.size * across; pair += THREADS) {
    let i = pair / across;
    let off = pair % across;
    let j = (i + off) % p.size;
    // Those that are halfway round are there both ways.
    if off > 0u && 2u * off != p.size {
      sh_gram[j * MOST + i] = sh_gram[i * MOST + j];
    }
  }
  workgroupBarrier();
}

// Makes C of the products, and bounds of det D.
fn normalise(thread: u32) {
  let size = parameters.size;
  if thread < size {
    sh_column[thread] = sh_gram[thread * MOST + thread];
  }
  workgroupBarrier();
  if thread == 0u {
    var product = ONE;
    for (var i = 0u; i < size; i++) {
      let square = sh_column[i];
      if is_broken(square) || square < real(LEAST) || square * real(LEAST) > ONE {
        sh_state = UNDECIDED;
      }
      product *= square;
    }
    if is_broken(product) || product < real(LEAST) || product * real(LEAST) > ONE {
      sh_state = UNDECIDED;
    }
    let slack = real(size) * rounding();
    sh_above = product * (ONE + slack);
    sh_below = product * (ONE - slack);
  }
  workgroupBarrier();
  for (var at = thread; at < size * size; at += THREADS) {
    let i = at / size;
    let j = at % size;
    sh_gram[i * MOST + j] /= sqrt(sh_column[i]) * sqrt(sh_column[j]);
  }
  workgroupBarrier();
}

// What the pivot of an item tells; called by one thread.
fn judge(t: u32) {
  var sum = ONE;
  for (var s = 0u; s < t; s++) {
    sum += abs(sh_column[s]);
  }
  let pivot = sh_column[t];
  let off = 2.0 * rounding() * sum * sum;
  sh_above *= clamp(pivot + off, ZERO, ONE);
  sh_below *= max(pivot - off, ZERO);
  sh_trace += sum * sum / pivot;
  if is_broken(pivot) || is_broken(off) {
    sh_state = UNDECIDED;
  } else if sh_above < sh_threshold {
    sh_state = REJECTED;
  } else if t + 1u == parameters.size {
    sh_state = select(UNDECIDED, ACCEPTED, sh_threshold < sh_below);
  } else if pivot <= off || real(4u * parameters.size) * rounding() * sh_trace > ONE {
    sh_state = UNDECIDED;
  }
}

// Eliminates an item from the columns of those after it.
fn sweep(t: u32, thread: u32) {
  let size = parameters.size;
  let left = size - 1u - t;
  for (var at = thread; at < size * left; at += THREADS) {
    let i = at / left;
    let j = t + 1u + at % left;
    let along = sh_column[j] / sh_column[t];
    if i == t {
      sh_gram[i * MOST + j] = along;
    } else {
      sh_gram[i * MOST + j] -= sh_column[i] * along;
    }
  }
  workgroupBarrier();
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let number = workgroup_of(group, groups);
  if number >= p.count {
    return;
  }
  if thread < p.size {
    sh_picks[thread] = positions[number * p.size + thread];
  }
  workgroupBarrier();
  if thread == 0u {
    let counter = vec4<u32>(TRIALS, p.first + number, p.block_low, p.block_high);
    let words = random_words(counter, vec2<u32>(p.seed_low, p.seed_high));
    sh_threshold = unit_number(words.z, words.w);
    sh_trace = ZERO;
    sh_state = select(REJECTED, GOES_ON, are_distinct());
  }
  var state = workgroupUniformLoad(&sh_state);
  if state == GOES_ON {
    multiply(number, thread);
    normalise(thread);
    state = workgroupUniformLoad(&sh_state);
  }
  for (var t = 0u; t < p.size && state == GOES_ON; t++) {
    if thread < p.size {
      sh_column[thread] = sh_gram[thread * MOST + t];
    }
    workgroupBarrier();
    if thread == 0u {
      judge(t);
    }
    state = workgroupUniformLoad(&sh_state);
    if state == GOES_ON {
      sweep(t, thread);
    }
  }
  if thread == 0u && sh_state != REJECTED {
    record(number);
  }
}
