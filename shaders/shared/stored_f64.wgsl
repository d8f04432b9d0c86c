// Rows of values in double precision, in groups of four.
@group(0) @binding(1) var<storage, read> rows: array<vec4<f64>>;

const FACTOR_LAST: bool = false;

fn stored_quad(at: u32) -> real4 {
  return real4(rows[at]);
}

