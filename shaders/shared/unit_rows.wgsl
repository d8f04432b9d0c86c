// Rows of unit length, in up to three buffers. Every buffer except the last holds rows_at_a_time of them.
@group(0) @binding(1) var<storage, read> unit_rows: array<real>;
@group(0) @binding(2) var<storage, read> second_rows: array<real>;
@group(0) @binding(3) var<storage, read> third_rows: array<real>;

// Returns entry j of a row of `width` values.
fn unit_entry(position: u32, width: u32, j: u32) -> real {
  let at_a_time = parameters.rows_at_a_time;
  let at = position % at_a_time * width + j;
  let buffer = position / at_a_time;
  if buffer == 0u {
    return unit_rows[at];
  }
  if buffer == 1u {
    return second_rows[at];
  }
  return third_rows[at];
}

