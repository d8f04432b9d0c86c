// Draws of items from parts in proportion to their weights. Requires `trial_entries` and `picks`.

const NOBODY: u32 = 0xffffffffu;

// Returns the position that a trial's words draw from the part of pick t; NOBODY for the null entry.
fn drawn_position(words: vec4<u32>, t: u32) -> u32 {
  let pick = picks[t];
  let drawn = drawn_entry(words.x, words.y, pick.y, pick.z);
  let entry = trial_entries[pick.x + pick.w + drawn.x];
  let local = select(entry.y, drawn.x, drawn.y < entry.x);
  return select(pick.x + local, NOBODY, local + 1u == pick.y);
}

