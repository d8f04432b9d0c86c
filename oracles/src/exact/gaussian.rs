//! Gaussian kernels of a few points, to more than a hundred digits.

use num_bigint::BigInt;

use super::{Minors, Supersets, integers};

/// Bits after the binary point of an entry, and of intermediate results.
const BITS: i64 = 448;
const WORKING: i64 = BITS + 64;
/// The number of times an exponent is halved before the series, and the largest exponent that is not taken as ∞.
const HALVINGS: i64 = 16;
const LARGEST: i64 = 256;

impl Minors {
    /// Computes the minors of K_ij = exp(−‖x_i − x_j‖² / 2).
    ///
    /// Each entry is within 2⁻⁴⁴⁷, or 0 if it is below e⁻²⁵⁶.
    pub fn of_gaussian(points: &[Vec<f64>]) -> Self {
        let (flat, unit) = integers(&points.concat());
        let points: Vec<&[BigInt]> = flat.chunks_exact(points[0].len()).collect();
        let square =
            |x: &[BigInt], y: &[BigInt]| x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<BigInt>();
        // The scale is half the square of the unit.
        let entry =
            |x: &[BigInt], y: &[BigInt]| exp_of_minus(&shifted(&square(x, y), WORKING + 2 * unit - 1));
        let gram = points.iter().map(|x| points.iter().map(|y| entry(x, y)).collect()).collect();
        Self::of_gram(gram, &vec![-BITS; points.len()], Supersets::Unknown)
    }
}

/// Returns z·2^by, rounded down.
fn shifted(z: &BigInt, by: i64) -> BigInt {
    if by < 0 { z >> by.unsigned_abs() } else { z << by.unsigned_abs() }
}

/// Returns e^−x with `BITS` bits after the binary point, for x with `WORKING` of them.
fn exp_of_minus(x: &BigInt) -> BigInt {
    let one = BigInt::from(1) << WORKING.unsigned_abs();
    if *x > &one * LARGEST {
        return BigInt::ZERO;
    }
    let small = shifted(x, -HALVINGS);
    let (mut sum, mut term, mut number) = (one.clone(), one, 0);
    while term != BigInt::ZERO {
        number += 1;
        term = -shifted(&(term * &small), -WORKING) / number;
        sum += &term;
    }
    for _ in 0..HALVINGS {
        sum = shifted(&(&sum * &sum), -WORKING);
    }
    shifted(&sum, BITS - WORKING)
}

#[test]
fn entries_are_those_of_f64() {
    for x in [0.0, 1e-9, 0.01, 0.5, 3.0, 20.0] {
        let minors = Minors::of_gaussian(&[vec![0.0, 1e9], vec![x, 1e9]]);
        let expected = -(-x * x).exp_m1();
        let found = minors.log_det(0b11).exp();
        assert!((found - expected).abs() <= 1e-14 * expected, "{x}: {found}, not {expected}");
    }
    let copies = Minors::of_gaussian(&[vec![3.7], vec![3.7]]);
    assert!(!copies.det(0b11).is_positive());
}
