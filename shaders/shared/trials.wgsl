// Trials of a proposal, one per thread. Items are drawn in proportion to their leverages. Their residuals are the
// rows beyond the directions picked so far, in the coordinates of the chosen eigenvectors.

const LANES: u32 = 64u;
// First counter of the trials.
const TRIALS: u32 = 0x80000000u;

// Entry j of the residual of thread t is at 64 j + t. Entry j of direction s is at p s + j, where p is k rounded up
// to a multiple of four. Entries from k on are zero.
var<workgroup> sh_residuals: array<real, MOST * LANES>;
var<workgroup> sh_directions: array<real, MOST * MOST>;
// Mean square error of every direction.
var<workgroup> sh_errors: array<real, MOST>;
var<workgroup> sh_chosen: array<u32, MOST>;
var<workgroup> sh_picks: array<u32, MOST>;

// `square` is the squared length of the residual, and `error` the squared length of its error. Errors of different
// directions are taken as independent, and rounding errors of one operation as large as possible.
struct Trial { position: u32, alive: bool, threshold: real, square: real, error: real }

// Returns the position that a word of 64 bits draws from the alias table.
fn look_up(high: u32, low: u32) -> u32 {
  let length = parameters.items + 1u;
  let drawn = drawn_entry(high, low, length, parameters.capacity);
  let index = drawn.x;
  let share = drawn.y;
  let entry = trial_entries[index];
  return select(entry.y, index, share < entry.x);
}

fn pitch() -> u32 {
  return (parameters.size + 3u) & 0xfffffffcu;
}

fn term(at: u32, own: u32) -> real {
  return sh_directions[at] * sh_residuals[own];
}

// Subtracts a multiple of a direction from an entry of a residual, and returns the square of the new entry.
fn shorten(at: u32, own: u32, along: real) -> real {
  let x = sh_residuals[own] - along * sh_directions[at];
  sh_residuals[own] = x;
  return x * x;
}

// Removes the component along a direction from a residual. Loops take four entries per turn, because some drivers
// count turns.
fn project(trial: Trial, s: u32, thread: u32) -> Trial {
  let first = s * pitch();
  let end = first + pitch();
  var along = ZERO;
  for (var at = first; at < end; at += 4u) {
    let own = (at - first) * LANES + thread;
    along += term(at, own) + term(at + 1u, own + LANES) + term(at + 2u, own + 2u * LANES)
      + term(at + 3u, own + 3u * LANES);
  }
  var square = ZERO;
  for (var at = first; at < end; at += 4u) {
    let own = (at - first) * LANES + thread;
    square += shorten(at, own, along) + shorten(at + 1u, own + LANES, along)
      + shorten(at + 2u, own + 2u * LANES, along) + shorten(at + 3u, own + 3u * LANES, along);
  }
  let rounding = real(parameters.size + 4u) * real(parameters.unit);
  let error = trial.error + sh_errors[s] * along * along + rounding * rounding * trial.square;
  return Trial(trial.position, trial.alive, trial.threshold, square, error);
}

// Returns the trial with a given number, after `picked` picks.
fn trial_of(proposal: u32, number: u32, picked: u32, thread: u32) -> Trial {
  let p = parameters;
  let words = random_words(
    vec4<u32>(TRIALS + number, proposal, p.block_low, p.block_high), vec2<u32>(p.seed_low, p.seed_high),
  );
  let position = look_up(words.x, words.y);
  let threshold = unit_number(words.z, words.w);
  // The null entry is never accepted.
  let alive = position < p.items;
  var square = ZERO;
  for (var j = 0u; j < pitch(); j++) {
    var x = ZERO;
    if alive && j < p.size {
      x = unit_entry(position, p.rank, sh_chosen[j]);
    }
    sh_residuals[j * LANES + thread] = x;
    square += x * x;
  }
  var trial = Trial(position, alive, threshold, square, real(p.unit) * real(p.unit));
  for (var s = 0u; s < picked; s++) {
    trial = project(trial, s, thread);
  }
  return trial;
}

const REJECTED: u32 = 0u;
const ACCEPTED: u32 = 1u;
const UNDECIDED: u32 = 2u;

// Decides whether a trial is accepted, unless rounding puts that in doubt.
fn verdict(trial: Trial) -> u32 {
  if !trial.alive {
    return REJECTED;
  }
  if is_broken(trial.square) || is_broken(trial.error) {
    return UNDECIDED;
  }
  let unit = real(parameters.unit);
  let off = 2.0 * sqrt(trial.square * trial.error) + trial.error;
  let margin = 2.0 * (off + real(parameters.size + 2u) * unit * trial.square + unit);
  if trial.threshold + margin < trial.square {
    return ACCEPTED;
  }
  return select(REJECTED, UNDECIDED, trial.threshold - margin <= trial.square);
}
