// Chooses the worthwhile pick with the largest gain relative to its group, unless rounding could make another gain
// larger.
//
// leaders: two quads per span of tiles, written by the leaders shader; groups: the group of every span; numbers: for
// every group the factor that makes gains comparable, the smallest gain with enough digits, and the rounding error of
// comparable gains per operation, then for all groups the operations before these picks, the operations of a
// direction, and the comparable value of a gain of 1; demands: for every group, all FULL once no pick is made;
// counts: the items that every group needs and has room for, then the same for the set in addition to the groups'
// needs; picks: gain, tile, row and ONE, or zeros if no pick is made, the first of them replaced by ONE if certainly
// no gain is worthwhile, then the operations of the directions so far. One workgroup.

struct Parameters { start: u32, spans: u32, groups: u32, pick: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> leaders: array<real4>;
@group(0) @binding(2) var<storage, read> groups: array<u32>;
@group(0) @binding(3) var<storage, read> numbers: array<real4>;
@group(0) @binding(4) var<storage, read_write> demands: array<u32>;
@group(0) @binding(5) var<storage, read_write> counts: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> picks: array<real4>;

const FULL: u32 = 0u;
const OPTIONAL: u32 = 1u;
const NEEDED: u32 = 2u;

var<workgroup> sh_best: Leading;
// Whether a pick was made.
var<workgroup> sh_picked: u32;

// Returns the leading gain of a span, relative to its group.
fn relative(gain: real, group: u32) -> real {
  if gain > LOWEST && demands[group] != FULL {
    return counted(gain * numbers[group].x);
  }
  return LOWEST;
}

// Returns a relative gain if its group needs items or it exceeds 1, otherwise LOWEST.
fn worthwhile(gain: real, group: u32) -> real {
  if demands[group] == NEEDED || gain > numbers[parameters.groups].z {
    return gain;
  }
  return LOWEST;
}

// Returns the bound on the rounding error so far of a gain of a group.
fn rounding(group: u32) -> real {
  var operations = numbers[parameters.groups].x;
  if parameters.pick > 0u {
    operations = picks[2u * parameters.pick - 1u].x;
  }
  return numbers[group].z * (sqrt(numbers[parameters.groups].y * (ONE + operations)) + ONE);
}

// Returns the largest gain that may compete with the best, for a thread; without a best, the largest that may be
// worthwhile.
fn rival_of(thread: u32, best: Leading) -> Leading {
  let has_best = best.value > LOWEST;
  var rival = Leading(LOWEST, LOWEST, parameters.spans, 0u);
  for (var span = thread; span < parameters.spans; span += 256u) {
    let group = groups[span];
    let leader = leaders[2u * span];
    var gain = relative(leader.x, group);
    // In the group of the best, only other rows compete, and in double precision only other groups.
    if has_best && group == best.slot {
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
    if has_best {
      gain = worthwhile(gain, group);
    }
    rival = leading_of(rival, Leading(gain, LOWEST, span, group));
  }
  return rival;
}

// Writes the pick, or the reason for making none; returns 1 if one was made.
fn pick(best: Leading, rival: Leading) -> u32 {
  let all = parameters.groups;
  let at = 2u * parameters.pick;
  picks[at] = real4(ZERO, ZERO, ZERO, ZERO);
  picks[at + 1u] = real4(ZERO, ZERO, ZERO, ZERO);
  if best.value > LOWEST {
    let leader = leaders[2u * best.position];
    let at_least = best.value - rounding(best.slot);
    let is_clear = best.value < HIGHEST && leader.x > numbers[best.slot].y
      && rival.value < at_least && worthwhile(at_least, best.slot) > LOWEST;
    if is_clear {
      picks[at] = real4(leader.x, leaders[2u * best.position + 1u].x, leader.z, ONE);
      return 1u;
    }
  } else if rival.value > LOWEST && rival.value <= numbers[all].z {
    if leaders[2u * rival.position].x > numbers[rival.slot].y {
      picks[at] = real4(ONE, ZERO, ZERO, ZERO);
    }
  }
  return 0u;
}

// Counts a picked item of a group.
fn count(group: u32) {
  let all = counts[parameters.groups];
  if counts[group].x > 0u {
    counts[group].x -= 1u;
  } else {
    counts[parameters.groups] = vec2<u32>(max(all.x, 1u) - 1u, all.y - 1u);
  }
  counts[group].y -= 1u;
}

// Returns the demand for one more item of a group.
fn demand(group: u32) -> u32 {
  let own = counts[group];
  let all = counts[parameters.groups];
  if own.x > 0u {
    return NEEDED;
  }
  if own.y == 0u || all.y == 0u {
    return FULL;
  }
  return select(OPTIONAL, NEEDED, all.x > 0u);
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
    let gain = worthwhile(relative(leaders[2u * span].x, groups[span]), groups[span]);
    own = leading_of(own, Leading(gain, LOWEST, span, groups[span]));
  }
  let leading = lead(thread, own);
  if thread == 0u {
    sh_best = leading;
  }
  workgroupBarrier();
  let best = sh_best;
  let rival = lead(thread, rival_of(thread, best));
  if thread == 0u {
    sh_picked = pick(best, rival);
    if sh_picked == 1u {
      count(best.slot);
    }
  }
  storageBarrier();
  workgroupBarrier();
  let picked = sh_picked == 1u;
  for (var l = thread; l < p.groups; l += 256u) {
    demands[l] = select(FULL, demand(l), picked);
  }
}
