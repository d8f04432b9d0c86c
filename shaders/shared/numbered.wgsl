// Random words, numbered by proposal. Requires a block and a seed among the parameters.

// First counter of the trials.
const TRIALS: u32 = 0x80000000u;

fn key() -> vec2<u32> {
  return vec2<u32>(parameters.seed_low, parameters.seed_high);
}

fn counter(index: u32, draw: u32) -> vec4<u32> {
  return vec4<u32>(index, draw, parameters.block_low, parameters.block_high);
}

