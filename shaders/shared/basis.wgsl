// An orthonormal basis in workgroup memory, with one direction per picked item.

const THREADS: u32 = 64u;
// Maximum number of directions, and maximum number of values in all of them.
const MOST: u32 = 48u;
const SPACE: u32 = 2944u;

// Entry j of direction s is at s (pitch + 1) + j, so that threads read from different banks.
var<workgroup> sh_directions: array<real, SPACE>;
var<workgroup> sh_along: array<real, MOST>;
var<workgroup> sh_partial: array<real, THREADS>;

fn stride() -> u32 {
  return parameters.pitch + 1u;
}

// Returns the sum of `value` over all threads.
fn total(value: real, thread: u32) -> real {
  sh_partial[thread] = value;
  workgroupBarrier();
  var sum = ZERO;
  if thread < 8u {
    for (var i = 0u; i < 8u; i++) {
      sum += sh_partial[thread + 8u * i];
    }
    sh_partial[thread] = sum;
  }
  workgroupBarrier();
  sum = ZERO;
  for (var i = 0u; i < 8u; i++) {
    sum += sh_partial[i];
  }
  workgroupBarrier();
  return sum;
}

// Subtracts the components along all earlier directions from a direction.
fn take_off(t: u32, thread: u32) {
  let own = t * stride();
  if thread < t {
    let at = thread * stride();
    var along = ZERO;
    for (var j = 0u; j < parameters.pitch; j += 4u) {
      along += sh_directions[at + j] * sh_directions[own + j]
        + sh_directions[at + j + 1u] * sh_directions[own + j + 1u]
        + sh_directions[at + j + 2u] * sh_directions[own + j + 2u]
        + sh_directions[at + j + 3u] * sh_directions[own + j + 3u];
    }
    sh_along[thread] = along;
  }
  workgroupBarrier();
  for (var j = thread; j < parameters.pitch; j += THREADS) {
    var x = sh_directions[own + j];
    for (var s = 0u; s < t; s++) {
      x -= sh_along[s] * sh_directions[s * stride() + j];
    }
    sh_directions[own + j] = x;
  }
  workgroupBarrier();
}

// Makes a direction orthogonal to the earlier ones, then normalises it. Returns its squared length before
// normalisation. Orthogonalising twice is enough (Kahan and Parlett).
fn orthonormalise(t: u32, thread: u32) -> real {
  workgroupBarrier();
  if t > 0u {
    take_off(t, thread);
    take_off(t, thread);
  }
  let own = t * stride();
  var part = ZERO;
  for (var j = thread; j < parameters.pitch; j += THREADS) {
    part += sh_directions[own + j] * sh_directions[own + j];
  }
  let square = total(part, thread);
  let is_sound = !is_broken(square) && square >= real(LEAST);
  if is_sound {
    let root = sqrt(square);
    for (var j = thread; j < parameters.pitch; j += THREADS) {
      sh_directions[own + j] /= root;
    }
  }
  workgroupBarrier();
  return select(ZERO, square, is_sound);
}
