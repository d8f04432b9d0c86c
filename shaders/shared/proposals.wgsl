// Proposals of a k-DPP under a quota with at most MOST items and parts, one per workgroup of 64 threads. A proposal
// chooses k eigenvectors, then picks items until there are k or a part has too many.
//
// unit_rows: r values per position; trial_entries: own shares and alias of every position; coins: ⌊2³² Pr(take j | c
// wanted)⌋, c = 1 … k, for every eigenvector j; parts: first position and maximum number of items; found: accepted or
// undecided proposals, each as its number within the dispatches, with the highest bit set if undecided, and k
// positions.

struct Parameters {
  start: u32, count: u32, first: u32, block_low: u32, block_high: u32, seed_low: u32, seed_high: u32,
  rows_at_a_time: u32, items: u32, capacity: u32, rank: u32, size: u32, parts: u32, slots: u32, rounds: u32,
  unit: f32,
}
struct Found { count: atomic<u32>, records: array<u32> }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read> trial_entries: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> coins: array<u32>;
@group(0) @binding(6) var<storage, read> parts: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> found: Found;

const NOBODY: u32 = 0xffffffffu;
const GOES_ON: u32 = 3u;

var<workgroup> sh_words: array<u32, 256>;
var<workgroup> sh_counts: array<u32, MOST>;
// The first trial not rejected, as twice its thread, plus one if undecided; two places used alternately.
var<workgroup> sh_first: array<atomic<u32>, 2>;
var<workgroup> sh_state: u32;
var<workgroup> sh_picked: u32;

// Chooses the eigenvectors of the given proposal.
fn choose(proposal: u32, thread: u32) {
  let p = parameters;
  if thread < p.parts {
    sh_counts[thread] = 0u;
  }
  if thread == 0u {
    sh_state = GOES_ON;
    sh_picked = 0u;
    atomicStore(&sh_first[0], NOBODY);
    atomicStore(&sh_first[1], NOBODY);
  }
  var wanted = p.size;
  for (var first = 0u; first < p.rank; first += 256u) {
    workgroupBarrier();
    if first + thread * 4u < p.rank {
      let counter = vec4<u32>(first / 4u + thread, proposal, p.block_low, p.block_high);
      let words = random_words(counter, vec2<u32>(p.seed_low, p.seed_high));
      sh_words[thread * 4u] = words.x;
      sh_words[thread * 4u + 1u] = words.y;
      sh_words[thread * 4u + 2u] = words.z;
      sh_words[thread * 4u + 3u] = words.w;
    }
    workgroupBarrier();
    if thread == 0u {
      for (var j = first; j < min(p.rank, first + 256u) && wanted > 0u; j++) {
        let word = sh_words[j - first];
        let limit = coins[j * p.size + wanted - 1u];
        if word == limit {
          sh_state = UNDECIDED;
        }
        if word < limit {
          sh_chosen[p.size - wanted] = j;
          wanted -= 1u;
        }
      }
    }
  }
  workgroupBarrier();
}

// Picks the item of the given trial; called by its thread only.
fn pick(trial: Trial, thread: u32) {
  let size = parameters.size;
  let s = sh_picked;
  let root = sqrt(trial.square);
  for (var j = 0u; j < pitch(); j++) {
    sh_directions[s * pitch() + j] = sh_residuals[j * LANES + thread] / root;
  }
  let rounding = real(size + 4u) * real(parameters.unit);
  sh_errors[s] = trial.error / trial.square + rounding * rounding;
  sh_picks[s] = trial.position;
  sh_picked = s + 1u;
  var part = 0u;
  while part + 1u < parameters.parts && parts[part + 1u].x <= trial.position {
    part += 1u;
  }
  sh_counts[part] += 1u;
  if sh_counts[part] > parts[part].y {
    sh_state = REJECTED;
  } else if s + 1u == size {
    sh_state = ACCEPTED;
  }
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
  let proposal = parameters.first + number;
  choose(proposal, thread);
  var turn = 0u;
  var state = workgroupUniformLoad(&sh_state);
  for (var round = 0u; round < parameters.rounds && state == GOES_ON; round++) {
    var trial = trial_of(proposal, round * LANES + thread, sh_picked, thread);
    loop {
      // Residuals only become shorter, so a rejected trial remains rejected.
      let fate = verdict(trial);
      trial.alive = fate != REJECTED;
      if trial.alive {
        atomicMin(&sh_first[turn], 2u * thread + fate - ACCEPTED);
      }
      let first = workgroupUniformLoad(&sh_first[turn]);
      turn = 1u - turn;
      if thread == 0u {
        atomicStore(&sh_first[turn], NOBODY);
      }
      if first != NOBODY && thread == first / 2u {
        if first % 2u == 0u {
          pick(trial, thread);
        } else {
          sh_state = UNDECIDED;
        }
      }
      state = workgroupUniformLoad(&sh_state);
      if first == NOBODY || state != GOES_ON {
        break;
      }
      if trial.alive {
        trial = project(trial, sh_picked - 1u, thread);
      }
    }
  }
  if thread == 0u && sh_state == GOES_ON {
    sh_state = UNDECIDED;
  }
  if thread == 0u && sh_state != REJECTED {
    record(number);
  }
}
