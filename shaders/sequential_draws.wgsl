// Sequential draws, one per workgroup of 64 threads. A draw picks items of parts in a fixed order, in proportion to
// the part of their rows outside the span of earlier picks, and is kept in proportion to its weight.
//
// trial_entries: own shares and alias of every position of a part and of its null entry, part by part; unit_rows:
// rows of `pitch` values, of length at most 1; grams: Ĝ_l / tr Ĝ_l; picks: first position, number of entries, shares
// per entry and number of the part of every pick; scales: √β_j, then the factor of every trace, then the largest
// √β_j; found: draws kept or undecided, each as its number within the dispatches, with the highest bit set if
// undecided, and k positions.

struct Parameters {
  start: u32, count: u32, first: u32, block_low: u32, block_high: u32, seed_low: u32, seed_high: u32,
  rows_at_a_time: u32, pitch: u32, size: u32, slots: u32, rounds: u32, unit: f32,
}
struct Found { count: atomic<u32>, records: array<u32> }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read> trial_entries: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> grams: array<real4>;
@group(0) @binding(6) var<storage, read> picks: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read> scales: array<real>;
@group(0) @binding(8) var<storage, read_write> found: Found;

var<workgroup> sh_state: u32;

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
  var state = workgroupUniformLoad(&sh_state);
  var picked = 0u;
  var tried = 0u;
  for (var round = 0u; round < parameters.rounds && picked < parameters.size && state == GOES_ON; round++) {
    let trials = try_rows(draw, tried, picked, thread);
    tried += min(trials.rejected + 1u, AT_ONCE);
    if trials.is_undecided != 0u {
      if thread == 0u {
        sh_state = UNDECIDED;
      }
    } else if trials.rejected < AT_ONCE {
      pick(trials.rejected, picked, thread);
      picked += 1u;
      if picked < parameters.size && workgroupUniformLoad(&sh_state) == GOES_ON {
        weigh(picked, thread);
      }
    }
    state = workgroupUniformLoad(&sh_state);
  }
  if picked == parameters.size && state == GOES_ON {
    keep(draw, thread);
  } else if thread == 0u {
    sh_state = UNDECIDED;
  }
  if thread == 0u && sh_state != REJECTED {
    record(number);
  }
}
