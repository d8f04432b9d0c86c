// Rows in tiles of 256, one tile per workgroup of 256 threads.
const TILE: u32 = 256u;

fn tile_of(group: vec3<u32>, groups: vec3<u32>) -> u32 {
  return group.x + group.y * groups.x;
}

