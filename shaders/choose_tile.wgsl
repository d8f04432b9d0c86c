// Finds the tile at which the running sum of weights passes u times their total.
//
// draw: u comes first; sums: one per tile; found: the second number receives the total, the third the rest of u times
// the total at the tile's start; marks: the second word receives the tile, or NONE if no weight is positive, and the
// third receives NONE. One workgroup.

struct Parameters { start: u32, tiles: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> draw: array<real>;
@group(0) @binding(2) var<storage, read> sums: array<real>;
@group(0) @binding(3) var<storage, read_write> found: array<real>;
@group(0) @binding(4) var<storage, read_write> marks: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32) {
  let tiles = parameters.tiles;
  // Each thread adds up a run of tiles.
  let each = (tiles + 255u) / 256u;
  var sum = ZERO;
  for (var tile = thread * each; tile < min((thread + 1u) * each, tiles); tile++) {
    sum += sums[tile];
  }
  sh_weights[thread] = sum;
  workgroupBarrier();
  if thread > 0u {
    return;
  }
  var total = ZERO;
  for (var other = 0u; other < 256u; other++) {
    total += sh_weights[other];
  }
  if is_broken(total) || total >= HIGHEST {
    total = HIGHEST;
  }
  found[1] = total;
  found[2] = ZERO;
  marks[1] = NONE;
  marks[2] = NONE;
  if total <= ZERO || total >= HIGHEST {
    return;
  }
  let run = passed(draw[0] * total);
  var chosen = Passed(NONE, run.left);
  var left = run.left;
  for (var tile = run.at * each; tile < min((run.at + 1u) * each, tiles); tile++) {
    let weight = sums[tile];
    if weight > ZERO {
      chosen = Passed(tile, left);
      if left < weight {
        break;
      }
      left -= weight;
    }
  }
  found[2] = chosen.left;
  marks[1] = chosen.at;
}
