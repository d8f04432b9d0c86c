// Walker's alias tables in integers.

// Returns the entry that a word of 64 bits selects from a table, and the share within it. The high half of word ×
// length picks the entry, the low half the share.
fn drawn_entry(high: u32, low: u32, length: u32, capacity: u32) -> vec2<u32> {
  let below = wide_product(low, length);
  let above = wide_product(high, length);
  let middle = above.y + below.x;
  let index = above.x + u32(middle < below.x);
  let least = wide_product(below.y, capacity);
  let most = wide_product(middle, capacity);
  return vec2<u32>(index, most.x + u32(most.y + least.x < least.x));
}

// Returns the number in [0, 1) with the leading 53 bits of two words, or fewer in single precision.
fn unit_number(high: u32, low: u32) -> real {
  let rest = ((high & 255u) << 21u) | (low >> 11u);
  return real(high >> 8u) * real(5.9604644775390625e-8) + real(rest) * real(1.1102230246251565e-16);
}
