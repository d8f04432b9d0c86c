// Rows in tiles of 256, one tile per workgroup of 256 threads.
const TILE: u32 = 256u;

