//! e^x of many values at once.

#![expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]

use pulp::{Arch, Simd, WithSimd};

use crate::engine::row_kernels::CHUNK;

/// The number of values computed together, so that none waits for its own sum.
const MANY: usize = 4 * CHUNK;
/// Below this, e^x is near the smallest normal number and counts as 0.
const LEAST: f64 = -708.0;
/// ln 2 as a sum of two terms. Small integer multiples of the first are exact.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
/// Adding this rounds to an integer, which then stands in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// 1/j!
const TAYLOR: [f64; 14] = [
    1.0,
    1.0,
    0.5,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// x ← e^x for every x ≤ 0, to a relative error of 4e-16; 0 below −708.
pub(super) fn exponentials(values: &mut [f64]) {
    struct Exponentials<'a>(&'a mut [f64]);
    impl WithSimd for Exponentials<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let (many, rest) = self.0.as_chunks_mut::<MANY>();
            for many in many {
                *many = exponentials_of(*many);
            }
            let (chunks, rest) = rest.as_chunks_mut::<CHUNK>();
            for chunk in chunks {
                *chunk = exponentials_of(*chunk);
            }
            let mut last = [0.0; CHUNK];
            last[..rest.len()].copy_from_slice(rest);
            rest.copy_from_slice(&exponentials_of(last)[..rest.len()]);
        }
    }
    Arch::new().dispatch(Exponentials(values));
}

/// Computes e^x by single sums and products, which are the same on every machine.
#[inline(always)]
fn exponentials_of<const N: usize>(x: [f64; N]) -> [f64; N] {
    let mut out = [0.0; N];
    for lane in 0..N {
        let bounded = if x[lane] > LEAST { x[lane] } else { LEAST };
        // e^x = 2^n e^r with |r| ≤ ½ ln 2.
        let shifted = bounded * std::f64::consts::LOG2_E + ROUND;
        let n = shifted - ROUND;
        let r = (bounded - n * LN_2[0]) - n * LN_2[1];
        let mut sum = TAYLOR[13];
        for term in (0..13).rev() {
            sum = sum * r + TAYLOR[term];
        }
        let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
        out[lane] = if x[lane] < LEAST { 0.0 } else { sum * power };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_the_standard_library() {
        let given: Vec<f64> = (0..200_003).map(|i| -f64::from(i) * 0.003_541).collect();
        let mut found = given.clone();
        exponentials(&mut found);
        for (x, found) in given.iter().zip(&found) {
            let expected = if *x < LEAST { 0.0 } else { x.exp() };
            assert!((found - expected).abs() <= 4e-16 * expected, "e^{x}: {found} instead of {expected}");
        }
        assert!((found[0] - 1.0).abs() <= 0.0, "e^0 is exact");
    }
}
