// Arithmetic in single precision.
alias real = f32;
alias real4 = vec4<f32>;
alias complex = vec2<f32>;
const IS_DOUBLE: bool = false;
const ZERO: real = 0.0f;
const ONE: real = 1.0f;
// Stand-ins for infinity, which has no literal; finite values are smaller.
const HIGHEST: real = 3.0e38f;
const LOWEST: real = -3.0e38f;

// Whether x is infinite or NaN. Bits are tested, because compilers may assume that comparisons meet neither.
fn is_broken(x: real) -> bool {
  return (bitcast<u32>(x) & 0x7f800000u) == 0x7f800000u;
}

// Returns x, through a zero that compilers cannot predict. They may rearrange sums as if nothing were rounded, but
// not across this call.
fn kept(x: real4, zero: u32) -> real4 {
  return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(zero, zero, zero, zero));
}

// Returns the same numbers. Rows are far above the smallest normal number.
fn of_single(x: vec4<f32>) -> real4 {
  return x;
}
