//! Ranks without rounding.

const PRIME: u64 = (1 << 61) - 1;

/// The rank of rows of any scale, in arithmetic modulo a prime.
///
/// It is never above the rank of the rows, and below it for about one matrix in 2⁶¹ / n².
///
/// # Cost
/// m·n·rank multiplications of 64 bits.
pub(crate) fn rank<R: AsRef<[f64]>>(rows: impl Iterator<Item = R>) -> usize {
    let mut span = ModularSpan::default();
    for row in rows {
        let row = row.as_ref();
        span.add(row);
        if span.rank() == row.len() {
            break;
        }
    }
    span.rank()
}

/// The span of rows, modulo the prime.
#[derive(Default)]
pub(super) struct ModularSpan(Vec<Pivot>);

impl ModularSpan {
    /// Adds one row, with n·rank multiplications.
    pub(super) fn add(&mut self, row: &[f64]) {
        let mut residual: Vec<u64> = row.iter().map(|&x| residue(x)).collect();
        for Pivot { column, row } in &self.0 {
            let factor = residual[*column];
            if factor != 0 {
                residual.iter_mut().zip(row).for_each(|(x, &y)| *x = add(*x, times(PRIME - factor, y)));
            }
        }
        if let Some(column) = residual.iter().position(|&x| x != 0) {
            let inverse = power(residual[column], PRIME - 2);
            residual.iter_mut().for_each(|x| *x = times(*x, inverse));
            self.0.push(Pivot { column, row: residual });
        }
    }

    pub(super) fn rank(&self) -> usize {
        self.0.len()
    }
}

/// A row with a 1 in its pivot's column.
struct Pivot {
    column: usize,
    row: Vec<u64>,
}

/// x modulo the prime; 2⁶¹ is 1 modulo the prime, so multiplying by a power of two is a shift.
fn residue(x: f64) -> u64 {
    let super::Scaled { significand, exponent } = super::Scaled::new(x);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "53 bits, not negative")]
    let integer = (significand.abs() * 2_f64.powi(53)) as u64;
    let shift = u32::try_from((exponent - 53).rem_euclid(61)).unwrap_or_default();
    let size = times(integer, 1 << shift);
    if significand < 0.0 && size != 0 { PRIME - size } else { size }
}

fn add(x: u64, y: u64) -> u64 {
    let sum = x + y;
    if sum >= PRIME { sum - PRIME } else { sum }
}

fn times(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    #[expect(clippy::cast_possible_truncation, reason = "61 bits each")]
    let (low, high) = ((product & u128::from(PRIME)) as u64, (product >> 61) as u64);
    add(low, high)
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank_of(rows: &[&[f64]]) -> usize {
        rank(rows.iter().copied())
    }

    #[test]
    fn rows_of_any_scale() {
        assert_eq!(rank_of(&[&[1e300, 2e300], &[3e-300, 7e-300]]), 2);
        let x = 0.1_f64;
        assert_eq!(rank_of(&[&[x, 2.0 * x], &[x * 2_f64.powi(-900), x * 2_f64.powi(-899)]]), 1);
        assert_eq!(rank_of(&[&[1.0, 1.0], &[1.0, 1.0 + f64::EPSILON]]), 2);
        assert_eq!(rank_of(&[&[0.0, 0.0], &[0.0, -5e-324]]), 1);
        assert_eq!(rank_of(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], &[5.0, 7.0, 9.0]]), 2);
    }

    #[test]
    fn residues_add_up() {
        for (x, y) in [(1.5, -0.25), (-3.0, 7.5), (1.0, -1.0), (1e10, 2_f64.powi(-10))] {
            assert_eq!(add(residue(x), residue(y)), residue(x + y), "{x} + {y}");
        }
        assert_eq!(times(residue(1e200), power(residue(1e200), PRIME - 2)), 1);
    }
}
