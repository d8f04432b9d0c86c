// Proposals of independent items, one per workgroup of 64 threads. A proposal is kept with probability det(M Mᵀ),
// where M has the rows of the picks.
//
// With D = diag(M Mᵀ), det(M Mᵀ) = det D · det C, and C = D^-½ M Mᵀ D^-½ is eliminated item by item between bounds.
// If every product in C has an error of at most ε, the pivot of an item with coefficients x on the earlier items has
// an error of at most 2ε(1 + ‖x‖₁)², as long as k ε tr C⁻¹ of the earlier items is at most 1/4. No pivot exceeds 1,
// so a proposal ends as soon as the pivots so far reject it.
//
// An item that was drawn twice, or not at all, has no pivot. The host rejects such proposals if they are not rejected
// here.
//
// images: the rows of all picks, `size` per proposal; positions: the picked positions; found: proposals that are kept
// or undecided, each as its number within the dispatches, with the highest bit set if undecided, and k positions.

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
// Number of threads per row of C.
const LANES: u32 = 4u;
const REJECTED: u32 = 0u;
const ACCEPTED: u32 = 1u;
const UNDECIDED: u32 = 2u;
const GOES_ON: u32 = 3u;
// Number of values per row multiplied at a time, in groups of four, and the pitch of rows, which lets threads read
// from different banks.
const WIDTH: u32 = 8u;
const PITCH: u32 = 9u;
// Squared lengths below this, or above its inverse, are left to the host.
const LEAST: f32 = 1.0e-30f;

var<workgroup> sh_rows: array<real4, MOST * PITCH>;
// Products, then C. In a column after the eliminated ones, the rows of the eliminated items hold its coefficients.
var<workgroup> sh_gram: array<real, MOST * MOST>;
var<workgroup> sh_roots: array<real, MOST>;
var<workgroup> sh_picks: array<u32, MOST>;
var<workgroup> sh_state: u32;
// Bounds on the probability to keep the proposal, the number compared with it, and a bound on tr C⁻¹.
var<workgroup> sh_above: real;
var<workgroup> sh_below: real;
var<workgroup> sh_threshold: real;
var<workgroup> sh_trace: real;

// Returns the error bound of a product of unit rows and of its elimination, whose rounding errors are independent.
fn rounding() -> real {
  let p = parameters;
  return (4.0 * sqrt(real(4u * p.quads)) + 2.0 * real(p.size) + 8.0) * real(p.unit);
}

// Computes the products of all rows. Pairs (i, i + o), with o up to half the rows, stand for all.
fn multiply(number: u32, thread: u32) {
  let p = parameters;
  let across = p.size / 2u + 1u;
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
    for (var i = thread / LANES; i < p.size; i += THREADS / LANES) {
      for (var off = thread % LANES; off < across; off += LANES) {
        let j = select(i + off, i + off - p.size, i + off >= p.size);
        var sum = ZERO;
        for (var quad = 0u; quad < WIDTH; quad++) {
          sum += dot(sh_rows[i * PITCH + quad], sh_rows[j * PITCH + quad]);
        }
        if first > 0u {
          sum += sh_gram[i * MOST + j];
        }
        sh_gram[i * MOST + j] = sum;
      }
    }
  }
  workgroupBarrier();
  for (var i = thread / LANES; i < p.size; i += THREADS / LANES) {
    for (var off = thread % LANES; off < across; off += LANES) {
      let j = select(i + off, i + off - p.size, i + off >= p.size);
      // Pairs that are halfway round are computed in both orders.
      if off > 0u && 2u * off != p.size {
        sh_gram[j * MOST + i] = sh_gram[i * MOST + j];
      }
    }
  }
  workgroupBarrier();
}

// Computes C from the products, and bounds on det D.
fn normalise(thread: u32) {
  let size = parameters.size;
  if thread < size {
    sh_roots[thread] = sqrt(sh_gram[thread * MOST + thread]);
  }
  if thread == 0u {
    var product = ONE;
    for (var i = 0u; i < size; i++) {
      let square = sh_gram[i * MOST + i];
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
  for (var i = thread / LANES; i < size; i += THREADS / LANES) {
    for (var j = thread % LANES; j < size; j += LANES) {
      sh_gram[i * MOST + j] /= sh_roots[i] * sh_roots[j];
    }
  }
  workgroupBarrier();
}

// Updates bounds and state by the pivot of item t; called by one thread.
fn judge(t: u32) {
  var sum = ONE;
  for (var s = 0u; s < t; s++) {
    sum += abs(sh_gram[s * MOST + t]);
  }
  let pivot = sh_gram[t * MOST + t];
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

// Eliminates an item from the columns after it. Its own column stays, and supplies the remaining entries of its row.
fn sweep(t: u32, thread: u32) {
  let size = parameters.size;
  let pivot = sh_gram[t * MOST + t];
  for (var i = thread / LANES; i < size; i += THREADS / LANES) {
    let along = sh_gram[i * MOST + t] / pivot;
    for (var j = t + 1u + thread % LANES; j < size; j += LANES) {
      let own = sh_gram[j * MOST + t];
      if i == t {
        sh_gram[i * MOST + j] = own / pivot;
      } else {
        sh_gram[i * MOST + j] -= along * own;
      }
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
  if thread == 0u {
    let words = random_words(counter(TRIALS, p.first + number), key());
    sh_threshold = unit_number(words.z, words.w);
    sh_trace = ZERO;
    sh_state = GOES_ON;
  }
  multiply(number, thread);
  normalise(thread);
  var state = workgroupUniformLoad(&sh_state);
  for (var t = 0u; t < p.size && state == GOES_ON; t++) {
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
