// Finds the items that can take part in an exchange of two items of two groups. Pass 0 finds the largest bound of
// every side of every pair, pass 1 the items whose bound times the bound of the other side exceeds 1.
//
// A side is a pair as seen from one of its groups. With the item's coefficients x and y for unit duals of the pair,
// and their cosine ρ, the bound is w (s d + x² + y² − 2ρxy) + t. tiles: as in tiles.wgsl; ranges: first side and
// number of sides of every group; sides: columns of x and y, and the other side; numbers: w, s, 2ρ, t of every side;
// coefficients: `slots` per position; residuals: one per position; bounds: one per side, as bits of f32; found: the
// items, by tile and row. One workgroup per tile, for sides `first` to first + sides − 1 of its group.

struct Parameters {
  start: u32, tiles: u32, first_tile: u32, slots: u32, first: u32, sides: u32, most: u32, marks: u32,
}
struct Found { count: atomic<u32>, broken: atomic<u32>, items: array<u32> }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> tiles: array<u32>;
@group(0) @binding(2) var<storage, read> ranges: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> sides: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> numbers: array<real4>;
@group(0) @binding(5) var<storage, read> coefficients: array<real>;
@group(0) @binding(6) var<storage, read> residuals: array<real>;
@group(0) @binding(7) var<storage, read_write> bounds: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> found: Found;

const TILE: u32 = 256u;
// The largest bound that is distinguished from others.
const MOST: real = real(3.0e38);
// Slightly less than 1, because narrowing may decrease the bound of the other side.
const LIMIT: real = real(0.999999);

var<workgroup> sh_enters: array<atomic<u32>, 256>;

// Returns the largest bound of a side, and marks the rows whose bound exceeds `least`.
fn look_along(side: vec4<u32>, n: real4, start: u32, rows: u32, least: real) -> real {
  var largest = ZERO;
  for (var row = 0u; row < rows; row++) {
    let d = residuals[start + row];
    let base = (start + row) * parameters.slots;
    let x = coefficients[base + side.x];
    let y = coefficients[base + side.y];
    if is_broken(d) || d >= HIGHEST {
      atomicStore(&found.broken, 1u);
    } else if d > LOWEST {
      let bound = n.x * (n.y * d + x * x + y * y - n.z * x * y) + n.w;
      if is_broken(bound) {
        atomicStore(&found.broken, 1u);
      } else {
        largest = max(largest, bound);
        if bound > least {
          atomicStore(&sh_enters[row], 1u);
        }
      }
    }
  }
  return min(largest, MOST);
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let p = parameters;
  let number = workgroup_of(group, groups);
  atomicStore(&sh_enters[thread], 0u);
  workgroupBarrier();
  let start = tiles[4u * number + 1u];
  let rows = tiles[4u * number + 2u];
  let range = ranges[tiles[4u * number]];
  for (var at = p.first + thread; at < min(range.y, p.first + p.sides); at += 256u) {
    let own = range.x + at;
    let side = sides[own];
    var least = HIGHEST;
    if p.marks != 0u {
      let other = real(bitcast<f32>(atomicLoad(&bounds[side.z])));
      if other > ZERO {
        least = LIMIT / other;
      }
    }
    let largest = look_along(side, numbers[own], start, rows, least);
    if p.marks == 0u {
      atomicMax(&bounds[own], bitcast<u32>(f32(largest)));
    }
  }
  workgroupBarrier();
  if p.marks != 0u && thread < rows && atomicLoad(&sh_enters[thread]) != 0u {
    let slot = atomicAdd(&found.count, 1u);
    if slot < p.most {
      found.items[slot] = (p.first_tile + number) * TILE + thread;
    }
  }
}
