// Directions of 4·quads values each. Each one is made orthogonal to those before it, then normalised. Requires `rows`
// and an array `directions`.

// Partial sums of threads, then coordinates.
var<workgroup> sh_along: array<real, 256>;

// Returns the sum over all threads, in all threads.
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

// Removes the components along at most 256 directions, which begin at `base`.
fn remove(thread: u32, own: u32, base: u32, count: u32) {
  let quads = parameters.quads;
  let lane = thread % LANES;
  for (var at = thread / LANES; at < 256u; at += 256u / LANES) {
    var sum = ZERO;
    if at < count {
      for (var quad = lane; quad < quads; quad += LANES) {
        sum += dot(directions[base + at * quads + quad], directions[own + quad]);
      }
    }
    sh_partial[at * PITCH + lane] = sum;
  }
  workgroupBarrier();
  sh_along[thread] = row_sum(thread);
  workgroupBarrier();
  for (var quad = thread; quad < quads; quad += 256u) {
    var x = directions[own + quad];
    for (var j = 0u; j < min(256u, count); j++) {
      x -= sh_along[j] * directions[base + j * quads + quad];
    }
    directions[own + quad] = x;
  }
  storageBarrier();
  workgroupBarrier();
}

// Turns the row that was written after `count` directions into a direction; directions begin at `base`. Returns the
// squared length of the row divided by the squared length of its residual.
fn orthonormalise(thread: u32, base: u32, count: u32) -> real {
  let quads = parameters.quads;
  let own = base + count * quads;
  storageBarrier();
  workgroupBarrier();
  let norm = square(thread, own);
  // Orthogonalising twice is enough (Kahan and Parlett).
  for (var time = 0u; time < 2u; time++) {
    for (var first = 0u; first < count; first += 256u) {
      remove(thread, own, base + first * quads, count - first);
    }
  }
  let left = square(thread, own);
  var unit = ZERO;
  if left > ZERO {
    unit = ONE / sqrt(left);
  }
  for (var quad = thread; quad < quads; quad += 256u) {
    directions[own + quad] *= unit;
  }
  storageBarrier();
  workgroupBarrier();
  return norm * unit * unit;
}

