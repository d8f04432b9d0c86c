// Rows of values in single precision, in groups of four.
@group(0) @binding(1) var<storage, read> rows: array<vec4<f32>>;

const FACTOR_LAST: bool = IS_DOUBLE;

fn stored_quad(at: u32) -> real4 {
  return of_single(rows[at]);
}

