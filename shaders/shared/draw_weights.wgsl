// The weight of a sequential draw: det(QᵀBQ) Π tr(P Ĝ_l), in units of the cap.

// First counter of the low words of coins.
const LOW: u32 = 0x40000000u;
// Squares and weights below this, or above its inverse, are left to the host.
const LEAST: f32 = 1.0e-30f;
// Traces below this times the values per row are left to the host, which treats traces below 2⁻⁴⁸ as rounding errors.
const ROUNDED: f32 = 7.2e-15f;

// tr(P Ĝ_l) of every pick, in units of its factor.
var<workgroup> sh_traces: array<real, MOST>;
// Bound on the relative error of the weight.
var<workgroup> sh_relative: real;
var<workgroup> sh_ratio: real;

// Returns tr(Qᵀ Ĝ_l Q) of the directions so far. It is summed over tiles (i, i + o) of QQᵀ; offsets o up to half the
// number of tiles per row stand for all.
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
        sh_directions[next], sh_directions[next + 1u], sh_directions[next + 2u], sh_directions[next + 3u],
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

// Computes tr(P Ĝ_l) for the next pick.
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
    } else if trace <= max(4.0 * off, real(ROUNDED) * real(parameters.pitch)) {
      sh_state = UNDECIDED;
    } else {
      sh_relative += 2.0 * off / trace;
      sh_traces[t] = trace * scales[parameters.pitch];
    }
  }
  workgroupBarrier();
}

// Decides whether the draw is kept, by comparing det(QᵀBQ) Π tr(P Ĝ_l) with the cap and one coin. Since B ≥ 1, a
// column of B^½ Q is at least at a distance of one from the span of the others, so its error changes ln det by at
// most twice as much.
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
