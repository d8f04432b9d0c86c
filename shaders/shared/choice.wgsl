// A choice in proportion to weights, which are summed in tiles of 256.
const TILE: u32 = 256u;
const NONE: u32 = 0xffffffffu;

var<workgroup> sh_weights: array<real, 256>;

// The position of the chosen weight, and the part of the sum that was left at its start.
struct Passed { at: u32, left: real }

// Returns the weight at which the running sum passes a number, or the last positive weight if rounding leaves none.
fn passed(sum: real) -> Passed {
  var chosen = Passed(NONE, sum);
  var left = sum;
  for (var at = 0u; at < 256u; at++) {
    let weight = sh_weights[at];
    if weight > ZERO {
      chosen = Passed(at, left);
      if left < weight {
        break;
      }
      left -= weight;
    }
  }
  return chosen;
}
