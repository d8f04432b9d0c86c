// Complex numbers.
fn times(x: complex, y: complex) -> complex {
  return complex(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}

// Returns x − m y, in four operations if the compiler fuses them.
fn reduced(x: complex, m: complex, y: complex) -> complex {
  return complex(x.x - m.x * y.x + m.y * y.y, x.y - m.x * y.y - m.y * y.x);
}

// Returns a mantissa times a power of two; zero below the range of both precisions.
fn scaled(mantissa: complex, exponent: i32) -> complex {
  var x = mantissa;
  if exponent < -2048 {
    return complex(ZERO, ZERO);
  }
  var left = exponent;
  for (; left <= -32; left += 32) {
    x *= 2.3283064365386963e-10;
  }
  for (; left < 0; left++) {
    x *= 0.5;
  }
  for (; left > 0; left--) {
    x *= 2.0;
  }
  return x;
}

