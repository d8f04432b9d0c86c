// The direction of a pick: its row, made orthogonal to the earlier directions and normalised. Its gain becomes −∞.
//
// directions: 4·quads values each, with `count` known directions; the next one is written; picks: see choose_pick;
// gains: one per position. One workgroup, for the chunk whose first tile is number `first`.

struct Parameters {
  start: u32, tiles: u32, quads: u32, reading: u32,
  pick: u32, first: u32, count: u32, groups: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(4) var<storage, read_write> directions: array<real4>;
@group(0) @binding(5) var<storage, read_write> picks: array<real4>;
@group(0) @binding(6) var<storage, read_write> gains: array<real>;
@group(0) @binding(7) var<storage, read> numbers: array<real4>;

var<workgroup> sh_pick: real4;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  if thread == 0u {
    sh_pick = picks[2u * p.pick];
  }
  let pick = workgroupUniformLoad(&sh_pick);
  let number = u32(pick.y);
  // Uniform over the workgroup.
  if workgroup_of(group, groups) > 0u || pick.w == ZERO || number < p.first || number - p.first >= p.tiles {
    return;
  }
  let tile = tile_at(number - p.first);
  let row = u32(pick.z);
  let start = row_start(tile, row);
  let factor = row_factor(tile, row);
  let own = p.count * p.quads;
  for (var quad = thread; quad < p.quads; quad += 256u) {
    directions[own + quad] = factor * stored_quad(start + quad);
  }
  let enlarged = orthonormalise(thread, 0u, p.count);
  if thread == 0u {
    gains[tile.start + row] = LOWEST;
    var operations = numbers[p.groups].x;
    if p.pick > 0u {
      operations = picks[2u * p.pick - 1u].x;
    }
    // The direction's error is the error of the row, magnified by normalising the residual.
    picks[2u * p.pick + 1u] = real4(operations + enlarged, ZERO, ZERO, ZERO);
  }
}
