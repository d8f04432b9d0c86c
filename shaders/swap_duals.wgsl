// Updates the dual basis and the chosen rows by a swap, and computes the factors that update the table.
//
//   w_l ← w_l − α_l w_i − γ_l w',   α_l = M_il / M_ii,   γ_l = w_l·b_j − α_l w_i·b_j,   a = 1 / M_ii,   b = ρ / M_ii
//
// swaps: see choose_swap; places: see swap_row, then for every column the place of its factors in `swap`, or NOWHERE;
// scales: the scale of every column's factors; swap: see swap_gains, value by value; vectors: see shared/swap_state.
// One workgroup.

struct Parameters { start: u32, step: u32, quads: u32, columns: u32, groups: u32, most: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> swaps: array<real4>;
@group(0) @binding(2) var<storage, read_write> places: array<u32>;
@group(0) @binding(3) var<storage, read> scales: array<real>;
@group(0) @binding(4) var<storage, read_write> swap: array<real>;
@group(0) @binding(5) var<storage, read_write> vectors: array<real>;

const NOWHERE: u32 = 0xffffffffu;
// The largest amplification of rounding errors; no swap is clear beyond it.
const MOST: real = 1.0e18;

// Updates W and M_il by the swap, and writes the numbers of every column that the table needs.
fn update(thread: u32, at: u32, weight: real, along: real) {
  let columns = parameters.columns;
  for (var first = 0u; first < columns; first += OUTPUTS) {
    let l = first + thread % OUTPUTS;
    var alpha = ONE;
    var gamma = -ONE;
    if l < columns && l != at {
      alpha = vectors[numbers(PRODUCTS) + l] / weight;
      gamma = vectors[numbers(COEFFICIENTS) + l] - alpha * along;
    }
    var sum = ZERO;
    if l < columns {
      for (var j = thread / OUTPUTS; j < pitch(); j += LANES) {
        let entering = vectors[rest() + j];
        var x = entering;
        if l != at {
          x = vectors[j * columns + l] - alpha * vectors[leaving() + j] - gamma * entering;
        }
        vectors[j * columns + l] = x;
        sum += x * x;
      }
    }
    sum = output_sum(thread, sum);
    if thread < OUTPUTS && l < columns {
      vectors[numbers(PRODUCTS) + l] = sum;
      let to = places[parameters.groups + 1u + 2u * columns + l];
      if to != NOWHERE {
        swap[4u * to] = alpha * scales[l];
        swap[4u * to + 1u] = gamma * scales[l];
        swap[4u * to + 2u] = sum;
      }
    }
  }
  memory_barrier();
}

// Returns the start of the numbers that a group has for all its slots.
fn of_group(group: u32) -> u32 {
  let p = parameters;
  return 4u * (2u * p.quads + group * (p.most + 1u) + p.most);
}

// Writes a, b and the largest weight of every group.
fn finish(thread: u32, gain: real, loss: real) {
  for (var l = thread; l < parameters.groups; l += 256u) {
    let at = of_group(l);
    // Earlier, larger weights have left their rounding errors in the table.
    var largest = swap[at + 3u];
    for (var column = places[l]; column < places[l + 1u]; column++) {
      let weight = vectors[numbers(PRODUCTS) + column];
      if is_broken(weight) {
        largest = HIGHEST;
      } else {
        largest = max(largest, weight);
      }
    }
    swap[at] = gain;
    swap[at + 1u] = loss;
    swap[at + 3u] = largest;
  }
}

// Returns the factor by which squared rounding errors are larger in dual vectors, relative to their lengths: Σ ‖w_l‖²
// ‖b_l‖².
fn amplification(thread: u32) -> real {
  var own = ZERO;
  for (var l = thread; l < parameters.columns; l += 256u) {
    own += vectors[numbers(PRODUCTS) + l] * vectors[numbers(SQUARES) + l];
  }
  let sum = total(thread, own);
  if is_broken(sum) {
    return MOST;
  }
  return min(sum, MOST);
}

var<workgroup> sh_more: real4;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let made = swaps[2u * p.step];
  if thread == 0u {
    sh_more = swaps[2u * p.step + 1u];
  }
  let more = workgroupUniformLoad(&sh_more);
  // Uniform over the workgroup.
  if workgroup_of(group, groups) > 0u {
    return;
  }
  if more.x != ONE {
    for (var l = thread; l < p.groups; l += 256u) {
      swap[of_group(l) + 2u] = ONE;
    }
    return;
  }
  let at = places[u32(more.y)] + u32(made.w);
  let weight = vectors[numbers(PRODUCTS) + at];
  let ratio = vectors[numbers(RATIO)];
  update(thread, at, weight, vectors[numbers(COEFFICIENTS) + at]);
  for (var j = thread; j < pitch(); j += 256u) {
    vectors[(p.columns + at) * pitch() + j] = vectors[row() + j];
  }
  finish(thread, ONE / weight, ratio / weight);
  let amplified = amplification(thread);
  if thread == 0u {
    places[p.groups + 1u + 2u * at] = u32(made.y);
    places[p.groups + 2u + 2u * at] = u32(made.z);
    swaps[2u * p.step + 1u].w = amplified;
  }
}
