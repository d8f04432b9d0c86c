// The vectors of a swap: w_i of the leaving item, w' of the entering item, M_il and w_l·b_j.
//
//   r = b_j − π_S(b_j),   ρ = M_ii ‖r‖² + (w_i·b_j)²,   w' = (M_ii r + (w_i·b_j) w_i) / ρ
//
// swaps: see choose_swap; places: see swap_row; swap: see swap_gains, value by value; vectors: see shared/swap_state.
// One workgroup.

struct Parameters { start: u32, step: u32, quads: u32, columns: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> swaps: array<real4>;
@group(0) @binding(2) var<storage, read> places: array<u32>;
@group(0) @binding(3) var<storage, read_write> swap: array<real>;
@group(0) @binding(4) var<storage, read_write> vectors: array<real>;

// Subtracts from r the components along the chosen rows, and adds them to the coefficients.
fn project(thread: u32) {
  let columns = parameters.columns;
  for (var first = 0u; first < columns; first += OUTPUTS) {
    let l = first + thread % OUTPUTS;
    let along = product(thread, rest(), 0u, pitch(), columns, l);
    if thread < OUTPUTS && l < columns {
      vectors[numbers(ALONG) + l] = along;
      vectors[numbers(COEFFICIENTS) + l] += along;
    }
  }
  memory_barrier();
  for (var first = 0u; first < pitch(); first += OUTPUTS) {
    let j = first + thread % OUTPUTS;
    let taken = product(thread, numbers(ALONG), columns * pitch(), columns, pitch(), j);
    if thread < OUTPUTS && j < pitch() {
      vectors[rest() + j] -= taken;
    }
  }
  memory_barrier();
}

// Computes r, w_l·b_j and M_il, for the leaving column `at`.
fn weigh(thread: u32, at: u32) {
  let columns = parameters.columns;
  for (var j = thread; j < pitch(); j += 256u) {
    vectors[rest() + j] = vectors[row() + j];
    vectors[leaving() + j] = vectors[j * columns + at];
  }
  for (var l = thread; l < columns; l += 256u) {
    vectors[numbers(COEFFICIENTS) + l] = ZERO;
  }
  memory_barrier();
  // Projecting twice removes the components that rounding leaves in the span.
  project(thread);
  project(thread);
  for (var first = 0u; first < columns; first += OUTPUTS) {
    let l = first + thread % OUTPUTS;
    let along = product(thread, leaving(), 0u, pitch(), columns, l);
    if thread < OUTPUTS && l < columns {
      vectors[numbers(PRODUCTS) + l] = along;
    }
  }
  memory_barrier();
}

// Returns the sum of squares of 4·quads values.
fn square(thread: u32, first: u32) -> real {
  var own = ZERO;
  for (var j = thread; j < pitch(); j += 256u) {
    own += vectors[first + j] * vectors[first + j];
  }
  return total(thread, own);
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let made = swaps[2u * p.step];
  let more = swaps[2u * p.step + 1u];
  // Uniform over the workgroup.
  if workgroup_of(group, groups) > 0u || more.x != ONE {
    return;
  }
  let at = places[u32(more.y)] + u32(made.w);
  weigh(thread, at);
  let weight = vectors[numbers(PRODUCTS) + at];
  let along = vectors[numbers(COEFFICIENTS) + at];
  let ratio = weight * square(thread, rest()) + along * along;
  let squared = square(thread, row());
  memory_barrier();
  for (var j = thread; j < pitch(); j += 256u) {
    let own = vectors[leaving() + j];
    let entering = (weight * vectors[rest() + j] + along * own) / ratio;
    vectors[rest() + j] = entering;
    swap[j] = own;
    swap[pitch() + j] = entering;
  }
  if thread == 0u {
    vectors[numbers(SQUARES) + at] = squared;
    vectors[numbers(RATIO)] = ratio;
  }
}
