// A result: a number within the dispatches, with the highest bit set if the host must decide, and the picks.

fn record(number: u32) {
  let size = parameters.size;
  let slot = atomicAdd(&found.count, 1u);
  if slot < parameters.slots {
    let base = slot * (size + 1u);
    found.records[base] = number | select(0u, 0x80000000u, sh_state == UNDECIDED);
    for (var s = 0u; s < size; s++) {
      found.records[base + 1u + s] = sh_picks[s];
    }
  }
}
