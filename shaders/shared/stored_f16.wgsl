// Rows of values in half precision, in groups of four.
@group(0) @binding(1) var<storage, read> rows: array<vec2<u32>>;

const FACTOR_LAST: bool = IS_DOUBLE;

// Converts values by their bits, because devices may treat numbers below the normal range, 2⁻²⁴ times an integer, as
// zero.
fn widened(bits: vec4<u32>) -> vec4<f32> {
  let size = bits & vec4<u32>(0x7fffu);
  let normal = bitcast<vec4<f32>>((size << vec4<u32>(13u)) + vec4<u32>(0x38000000u));
  let small = vec4<f32>(size) * 5.9604644775390625e-8f;
  let magnitude = select(normal, small, size < vec4<u32>(0x400u));
  let sign = (bits & vec4<u32>(0x8000u)) << vec4<u32>(16u);
  return bitcast<vec4<f32>>(bitcast<vec4<u32>>(magnitude) | sign);
}

fn stored_quad(at: u32) -> real4 {
  let pair = rows[at];
  let bits = vec4<u32>(pair.x & 0xffffu, pair.x >> 16u, pair.y & 0xffffu, pair.y >> 16u);
  return real4(widened(bits));
}

