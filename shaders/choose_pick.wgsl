// The pick with the largest gain relative to its group, if nothing can be larger for all that rounding may do.
//
// leaders: two quads for every span of tiles, of leaders; groups: the group of every span; numbers: for every group the
// factor that makes gains comparable, the least gain that has enough digits, and the rounding error of comparable gains
// per operation, then for all groups the operations before these picks and those of a direction; remaining: how many
// items of every group are still to be picked, all 0 once a choice is in doubt; picks: gain, tile, row and ONE, or ZERO
// for a choice in doubt, then the operations of the directions so far. One workgroup.

struct Parameters { start: u32, spans: u32, groups: u32, pick: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> leaders: array<real4>;
@group(0) @binding(2) var<storage, read> groups: array<u32>;
@group(0) @binding(3) var<storage, read> numbers: array<real4>;
@group(0) @binding(4) var<storage, read_write> remaining: array<u32>;
@group(0) @binding(5) var<storage, read_write> picks: array<real4>;

var<workgroup> sh_best: Leading;

// The leading gain of a span, relative to its group.
fn relative(gain: real, group: u32) -> real {
  if gain > LOWEST && remaining[group] > 0u {
    return counted(gain * numbers[group].x);
  }
  return LOWEST;
}

// What rounding may do to a gain of a group, so far.
fn rounding(group: u32) -> real {
  var operations = numbers[parameters.groups].x;
  if parameters.pick > 0u {
    operations = picks[2u * parameters.pick - 1u].x;
  }
  return numbers[group].z * (sqrt(numbers[parameters.groups].y * (ONE + operations)) + ONE);
}

// The largest gain that may compete with the best, for a thread.
fn rival_of(thread: u32, best: Leading) -> Leading {
  var rival = Leading(LOWEST, LOWEST, thread, 0u);
  for (var span = thread; span < parameters.spans; span += 256u) {
    let group = groups[span];
    let leader = leaders[2u * span];
    var gain = relative(leader.x, group);
    // Of the best group only others count, and in double precision only other groups.
    if group == best.slot {
      gain = LOWEST;
      if rounding(group) > ZERO {
        gain = relative(leader.x, group);
        if span == best.position {
          gain = relative(leader.y, group);
        }
      }
    }
    if gain > LOWEST {
      gain = counted(gain + rounding(group));
    }
    rival = leading_of(rival, Leading(gain, LOWEST, thread, group));
  }
  return rival;
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups_of_load: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  if workgroup_of(group, groups_of_load) > 0u {
    return;
  }
  var own = Leading(LOWEST, LOWEST, p.spans, 0u);
  for (var span = thread; span < p.spans; span += 256u) {
    let gain = relative(leaders[2u * span].x, groups[span]);
    own = leading_of(own, Leading(gain, LOWEST, span, groups[span]));
  }
  let leading = lead(thread, own);
  if thread == 0u {
    sh_best = leading;
  }
  workgroupBarrier();
  let best = sh_best;
  let rival = lead(thread, rival_of(thread, best));
  if thread > 0u {
    return;
  }
  picks[2u * p.pick] = real4(ZERO, ZERO, ZERO, ZERO);
  picks[2u * p.pick + 1u] = real4(ZERO, ZERO, ZERO, ZERO);
  if best.value > LOWEST {
    let leader = leaders[2u * best.position];
    let is_clear = best.value < HIGHEST && leader.x > numbers[best.slot].y
      && rival.value < best.value - rounding(best.slot);
    if is_clear {
      picks[2u * p.pick] = real4(leader.x, leaders[2u * best.position + 1u].x, leader.z, ONE);
      remaining[best.slot] -= 1u;
      return;
    }
  }
  for (var l = 0u; l < p.groups; l++) {
    remaining[l] = 0u;
  }
}
