// Trials of a sequential draw: items of a part in proportion to ‖v‖², accepted with probability ‖P v‖² / ‖v‖².

// Number of trials at a time, number of threads per trial, and maximum number of values per row.
const AT_ONCE: u32 = 4u;
const LANES: u32 = 16u;
const WIDEST: u32 = 128u;

const REJECTED: u32 = 0u;
const ACCEPTED: u32 = 1u;
const UNDECIDED: u32 = 2u;
const GOES_ON: u32 = 3u;

// Number of trials rejected before the first that was not, and whether that trial is undecided.
struct Tried {
  rejected: u32,
  is_undecided: u32,
}

var<workgroup> sh_rows: array<real, 512>;
var<workgroup> sh_off: array<real, THREADS>;
// The squared error of every direction.
var<workgroup> sh_errors: array<real, MOST>;
var<workgroup> sh_picks: array<u32, MOST>;
var<workgroup> sh_positions: array<u32, AT_ONCE>;
var<workgroup> sh_thresholds: array<real, AT_ONCE>;
var<workgroup> sh_row_errors: array<real, AT_ONCE>;
var<workgroup> sh_fates: array<u32, AT_ONCE>;
var<workgroup> sh_tried: Tried;

// Returns the error bound of an inner product of unit rows, whose rounding errors are independent.
fn rounding() -> real {
  return 4.0 * sqrt(real(parameters.size + parameters.pitch)) * real(parameters.unit);
}

// Whether a random number is below a limit, unless the difference is within a margin.
fn verdict(threshold: real, limit: real, margin: real) -> u32 {
  if threshold + margin < limit {
    return ACCEPTED;
  }
  return select(REJECTED, UNDECIDED, threshold - margin <= limit);
}

// Makes AT_ONCE trials of pick t.
fn try_rows(draw: u32, number: u32, t: u32, thread: u32) -> Tried {
  let trial = thread / LANES;
  let lane = thread % LANES;
  if lane == 0u {
    let words = random_words(counter(TRIALS + number + trial, draw), key());
    let position = drawn_position(words, t);
    // The null entry is never accepted.
    let is_null = position == NOBODY;
    sh_positions[trial] = select(position, picks[t].x, is_null);
    sh_thresholds[trial] = unit_number(words.z, words.w);
    sh_fates[trial] = select(GOES_ON, REJECTED, is_null);
  }
  workgroupBarrier();
  let position = sh_positions[trial];
  var left = ZERO;
  for (var j = lane; j < parameters.pitch; j += LANES) {
    let x = unit_entry(position, parameters.pitch, j);
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
    // The residual of a picked row is only a rounding error.
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
  if thread == 0u {
    var used = 0u;
    while used < AT_ONCE && sh_fates[used] == REJECTED {
      used += 1u;
    }
    sh_tried = Tried(used, u32(used < AT_ONCE && sh_fates[used] == UNDECIDED));
  }
  return workgroupUniformLoad(&sh_tried);
}

// Decides whether a trial is accepted; called by its first thread.
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
