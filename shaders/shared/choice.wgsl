// A choice in proportion to weights, which are added up by tiles of 256.
const TILE: u32 = 256u;
const NONE: u32 = 0xffffffffu;

var<workgroup> sh_weights: array<real, 256>;

// Which of the weights, and what was left to pass at its start.
struct Passed { at: u32, left: real }

// The weight in which the sum so far passes a number; the last positive one if rounding leaves none.
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
