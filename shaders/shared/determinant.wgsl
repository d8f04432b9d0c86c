// Determinants of complex matrices with a separate exponent, one workgroup per matrix.

// Matrices with no pivot above this are left to the host.
const SINGULAR: f32 = 1.0e-18;
const SINGULAR_EXPONENT: i32 = -2147483647;
// The host refuses infinite values and NaN.
const BROKEN_EXPONENT: i32 = -2147483646;
const BROKEN_KEY: u32 = 0x7f800000u;
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

// Returns a key by which pivots are compared: a size in f32 whose last bits give way to KEY_ROWS minus the row, so that
// the largest key is the key of the largest entry. In f64, sizes beyond f32 count as broken.
fn key_of(x: complex, row: u32) -> u32 {
  return (bitcast<u32>(f32(abs(x.x) + abs(x.y))) & ~KEY_ROWS) | (KEY_ROWS - row);
}

// Returns the determinant so far, or that it has ended with a step whose pivot has this key.
fn judged(determinant: Determinant, key: u32) -> Determinant {
  if determinant.exponent > BROKEN_EXPONENT && key >= BROKEN_KEY {
    return Determinant(complex(ZERO, ZERO), BROKEN_EXPONENT);
  }
  if determinant.exponent > BROKEN_EXPONENT && bitcast<f32>(key & ~KEY_ROWS) <= SINGULAR {
    return Determinant(complex(ZERO, ZERO), SINGULAR_EXPONENT);
  }
  return determinant;
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
