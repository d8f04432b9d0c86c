// Chooses the swap with the largest ratio, unless rounding could make another swap better.
//
// leaders: two quads per span of tiles, written by the leaders shader; groups: the group of every span; numbers: for
// every group the rounding error of ratios per weight and operation, then for all groups the number of updates before
// these swaps plus one, the operations per update, the operations added by the rounding of dual vectors, and the
// minimum excess of a ratio over 1; swap: see swap_gains, with the largest weight of every group next to a and b;
// swaps: ratio, tile, row and slot; then the outcome, the group, the rounding error of the ratio, and a number that
// swap_duals writes. One workgroup.

struct Parameters { start: u32, spans: u32, groups: u32, step: u32, quads: u32, most: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> leaders: array<real4>;
@group(0) @binding(2) var<storage, read> groups: array<u32>;
@group(0) @binding(3) var<storage, read> numbers: array<real4>;
@group(0) @binding(4) var<storage, read> swap: array<real4>;
@group(0) @binding(5) var<storage, read_write> swaps: array<real4>;

// Outcomes: a rival or the least ratio is too near; a swap is made; no swap is left; numbers are not finite.
const IN_DOUBT: real = 0.0;
const MADE: real = 1.0;
const NONE: real = 2.0;
const BROKEN: real = 3.0;

var<workgroup> sh_best: Leading;

// Returns the bound on the rounding error so far of a ratio of a group.
fn rounding(group: u32) -> real {
  let p = parameters;
  let all = numbers[p.groups];
  var amplified = all.z;
  if p.step > 0u {
    amplified = max(amplified, swaps[2u * p.step - 1u].w);
  }
  let weight = swap[2u * p.quads + group * (p.most + 1u) + p.most].w;
  let operations = 2.0 * sqrt((all.y + amplified) * (all.x + real(p.step))) + 4.0;
  return counted(numbers[group].x * weight * operations);
}

// Returns the largest ratio that may compete with the best, for a thread.
fn rival_of(thread: u32, best: Leading) -> Leading {
  var rival = Leading(LOWEST, LOWEST, thread, 0u);
  for (var span = thread; span < parameters.spans; span += 256u) {
    let off = rounding(groups[span]);
    var ratio = leaders[2u * span].x;
    if span == best.position {
      // Without rounding errors, the first of equals is already the best.
      ratio = LOWEST;
      if off > ZERO {
        ratio = leaders[2u * span].y;
      }
    }
    if ratio > LOWEST {
      ratio = counted(ratio + off);
    }
    rival = leading_of(rival, Leading(ratio, LOWEST, span, groups[span]));
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
    own = leading_of(own, Leading(leaders[2u * span].x, LOWEST, span, groups[span]));
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
  let off = rounding(best.slot);
  var end = IN_DOUBT;
  var made = real4(ZERO, ZERO, ZERO, ZERO);
  var more = made;
  let least = numbers[p.groups].w;
  if best.value == LOWEST {
    end = NONE;
  } else if best.value >= HIGHEST {
    end = BROKEN;
  } else if best.value - off - ONE > least && rival.value < best.value - off {
    end = MADE;
    let leader = leaders[2u * best.position];
    made = real4(best.value, leaders[2u * best.position + 1u].x, leader.z, leader.w);
    more = real4(ZERO, real(best.slot), off, ZERO);
  } else if max(counted(best.value + off), rival.value) - ONE <= least {
    end = NONE;
  }
  more.x = end;
  swaps[2u * p.step] = made;
  swaps[2u * p.step + 1u] = more;
}
