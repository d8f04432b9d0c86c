// Philox4x32-10, a counter-based generator: Salmon, Moraes, Dror and Shaw (2011).

// Returns the high and low words of a product.
fn wide_product(x: u32, y: u32) -> vec2<u32> {
  let x_low = x & 0xffffu;
  let x_high = x >> 16u;
  let y_low = y & 0xffffu;
  let y_high = y >> 16u;
  let one = x_low * y_high;
  let other = x_high * y_low;
  let middle = ((x_low * y_low) >> 16u) + (one & 0xffffu) + (other & 0xffffu);
  return vec2<u32>(x_high * y_high + (one >> 16u) + (other >> 16u) + (middle >> 16u), x * y);
}

// Returns four random words, a function of a counter and a key.
fn random_words(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
  var words = counter;
  var round_key = key;
  for (var round = 0u; round < 10u; round++) {
    let one = wide_product(0xD2511F53u, words.x);
    let other = wide_product(0xCD9E8D57u, words.z);
    words = vec4<u32>(other.x ^ words.y ^ round_key.x, other.y, one.x ^ words.w ^ round_key.y, one.y);
    round_key += vec2<u32>(0x9E3779B9u, 0xBB67AE85u);
  }
  return words;
}
