// Arithmetic in double precision.
alias real = f64;
alias real4 = vec4<f64>;
alias complex = vec2<f64>;
const IS_DOUBLE: bool = true;
const ZERO: real = 0.0lf;
const ONE: real = 1.0lf;
// Stand-ins for infinity, which has no literal; finite values are smaller.
const HIGHEST: real = 1.0e308lf;
const LOWEST: real = -1.0e308lf;

// Whether x is infinite or NaN. Bits are tested, because compilers may assume that comparisons meet neither. The 64
// bits are not accessible, but 2⁻⁹⁰⁰ x fits in 32 bits and is infinite or NaN if x is.
fn is_broken(x: real) -> bool {
  return (bitcast<u32>(f32(x * 1.1830521861667747e-271lf)) & 0x7f800000u) == 0x7f800000u;
}

// Returns x, because the bits of f64 are not accessible. Compilers may rearrange sums across this call.
fn kept(x: real4, zero: u32) -> real4 {
  return x;
}

// Returns the same numbers. Values below the normal range are converted by their bits, because devices may treat them
// as zero. A branch skips this for most values, because most GPUs are slow in double precision.
fn of_single(x: vec4<f32>) -> real4 {
  let bits = bitcast<vec4<u32>>(x);
  let size = bits & vec4<u32>(0x7fffffffu);
  if all(size - vec4<u32>(1u) >= vec4<u32>(0x7fffffu)) {
    return real4(x);
  }
  let magnitude = real4(size & vec4<u32>(0x7fffffu)) * 1.401298464324817e-45lf;
  let small = select(magnitude, -magnitude, size != bits);
  return select(real4(x), small, size < vec4<u32>(0x800000u));
}
