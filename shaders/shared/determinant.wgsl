// Determinants of complex matrices with a separate exponent, one workgroup per matrix.

// Matrices with no pivot above this are left to the host.
const SINGULAR: f32 = 1.0e-18;
const SINGULAR_EXPONENT: i32 = -2147483647;
// The host refuses infinite values and NaN.
const BROKEN_EXPONENT: i32 = -2147483646;
// Exact powers of two that keep a mantissa in range.
const LARGE: real = 4294967296.0;
const SMALL: real = 2.3283064365386963e-10;
const SHIFT: i32 = 32;

struct Determinant { mantissa: complex, exponent: i32 }

// Divides by the larger part first, because squares could underflow.
fn reciprocal(x: complex) -> complex {
  if abs(x.x) >= abs(x.y) {
    let r = x.y / x.x;
    let d = x.x + x.y * r;
    return complex(ONE / d, -r / d);
  }
  let r = x.x / x.y;
  let d = x.x * r + x.y;
  return complex(r / d, -ONE / d);
}

// Returns the larger part, or HIGHEST if one is infinite or NaN.
fn size_of(x: complex) -> real {
  if is_broken(x.x) || is_broken(x.y) {
    return HIGHEST;
  }
  return max(abs(x.x), abs(x.y));
}

fn multiplied(determinant: Determinant, factor: complex) -> Determinant {
  var mantissa = times(determinant.mantissa, factor);
  var exponent = determinant.exponent;
  let size = size_of(mantissa);
  if size > LARGE {
    mantissa *= SMALL;
    exponent += SHIFT;
  } else if size < SMALL {
    mantissa *= LARGE;
    exponent -= SHIFT;
  }
  return Determinant(mantissa, exponent);
}
