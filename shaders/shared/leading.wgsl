// The largest of 256 values, the first of equals, and the second largest.

// Treats infinite values and NaN as HIGHEST, which the host refuses.
fn counted(x: real) -> real {
  if is_broken(x) {
    return HIGHEST;
  }
  return x;
}

struct Leading { value: real, second: real, position: u32, slot: u32 }

var<workgroup> sh_leading: array<Leading, 256>;

fn leading_of(one: Leading, other: Leading) -> Leading {
  let other_wins = other.value > one.value || (other.value == one.value && other.position < one.position);
  if other_wins {
    return Leading(other.value, max(other.second, one.value), other.position, other.slot);
  }
  return Leading(one.value, max(one.second, other.value), one.position, one.slot);
}

// Returns the leading values of all threads of a workgroup, in thread 0.
fn lead(thread: u32, own: Leading) -> Leading {
  sh_leading[thread] = own;
  var leading = own;
  for (var half = 128u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if thread < half {
      leading = leading_of(leading, sh_leading[thread + half]);
      sh_leading[thread] = leading;
    }
  }
  return leading;
}
