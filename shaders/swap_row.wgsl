// The row of the entering item, and the residuals of both items of a swap: 0 for the leaving item, −∞ for the
// entering one.
//
// swaps: see choose_swap; places: the first column of every group and the number of all columns, then tile and row of
// every column's item; residuals: one per position; vectors: receives the row from `to` on. One workgroup, for the
// chunk whose first tile is number `first`.

struct Parameters {
  start: u32, tiles: u32, quads: u32, reading: u32,
  step: u32, first: u32, groups: u32, to: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read> swaps: array<real4>;
@group(0) @binding(5) var<storage, read> places: array<u32>;
@group(0) @binding(6) var<storage, read_write> residuals: array<real>;
@group(0) @binding(7) var<storage, read_write> vectors: array<real>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let swap = swaps[2u * p.step];
  let more = swaps[2u * p.step + 1u];
  if workgroup_of(group, groups) > 0u || more.x != ONE {
    return;
  }
  let at = p.groups + 1u + 2u * (places[u32(more.y)] + u32(swap.w));
  let left = places[at];
  if thread == 0u && left >= p.first && left - p.first < p.tiles {
    residuals[tile_at(left - p.first).start + places[at + 1u]] = ZERO;
  }
  let number = u32(swap.y);
  if number < p.first || number - p.first >= p.tiles {
    return;
  }
  let tile = tile_at(number - p.first);
  let row = u32(swap.z);
  if thread == 0u {
    residuals[tile.start + row] = LOWEST;
  }
  let begin = row_start(tile, row);
  let factor = row_factor(tile, row);
  for (var quad = thread; quad < p.quads; quad += 256u) {
    let x = factor * stored_quad(begin + quad);
    let to = p.to + 4u * quad;
    vectors[to] = x.x;
    vectors[to + 1u] = x.y;
    vectors[to + 2u] = x.z;
    vectors[to + 3u] = x.w;
  }
}
