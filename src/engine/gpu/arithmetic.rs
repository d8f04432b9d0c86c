//! The accuracy of a device's f64, which is tested when the device is opened: Vulkan guarantees division in single
//! precision only.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{context::Context, pace::Load, shaders::Shader, words};
use crate::Result;

/// The operations tested, in the order of the shader's results.
const OPERATIONS: [&str; 4] = ["addition", "subtraction", "multiplication", "division"];
/// Largest relative error of an operation in f64: ε/2 for a rounded result, ε or 2ε for a Newton iteration without
/// correction.
const TOLERANCE: f64 = 4.0 * f64::EPSILON;
/// Number of pairs with arbitrary digits.
const ARBITRARY: usize = 500;

/// An operation that is less accurate than f64, and its relative error.
pub(super) type Flaw = (&'static str, f64);

/// Tests all operations on a device in f64, and returns the worst flaw, if there is any.
pub(super) fn flaw(context: &Context) -> Result<Option<Flaw>> {
    context.checked("arithmetic", || {
        let pairs = pairs();
        let operands = context.uploaded(pairs.as_flattened())?;
        let results = context.reals(4 * pairs.len());
        let mut work = context.work("arithmetic");
        context.dispatch(
            &mut work,
            Shader::Arithmetic,
            &[words(pairs.len())],
            &[operands.as_entire_binding(), results.as_entire_binding()],
            Load { groups: pairs.len().div_ceil(64), flops: 4.0 * 64.0, bytes: 6.0 * 8.0 * 64.0 },
        )?;
        let found = context.download(work, &[(&results, 0, 4 * 8 * pairs.len() as u64)])?.concat();
        Ok(worst(&pairs, context.widened(&found).as_chunks().0))
    })
}

/// The operation with the largest relative error above the tolerance, given the four results of every pair.
fn worst(pairs: &[[f64; 2]], results: &[[f64; 4]]) -> Option<Flaw> {
    let mut worst = None;
    for (&[x, y], results) in pairs.iter().zip(results) {
        for ((operation, found), expected) in
            OPERATIONS.into_iter().zip(results).zip([x + y, x - y, x * y, x / y])
        {
            let error = relative_error(*found, expected);
            if error > TOLERANCE && worst.is_none_or(|(_, known)| error > known) {
                worst = Some((operation, error));
            }
        }
    }
    worst
}

/// The relative error; infinite for NaN.
fn relative_error(found: f64, expected: f64) -> f64 {
    let error = (found - expected).abs();
    if error == 0.0 {
        0.0
    } else if error.is_finite() && expected != 0.0 {
        error / expected.abs()
    } else {
        f64::INFINITY
    }
}

/// Operands that expose single precision, or a quotient from a single-precision reciprocal: thirds, neighbours of 1 and
/// 2, cancelling differences, exponents beyond single precision, and arbitrary digits. No result over- or underflows in
/// f64.
fn pairs() -> Vec<[f64; 2]> {
    const E: f64 = f64::EPSILON;
    let mut pairs = vec![
        [1.0, 3.0],
        [5.0, 3.0],
        [1.0, 49.0],
        [1.0, 2.0 - E],
        [2.0 - E, 1.0 + E],
        [1.0 + E, 1.0 - E / 2.0],
        [1.0 - E / 2.0, 2.0 - E],
        [4.0 / 3.0, 1.0 + 1.0 / 3.0 + E],
        [1.0 + 1e-9, 1.0],
        [1.0, 1e-9],
        [1.0 + 2_f64.powi(-30), 1.0 - 2_f64.powi(-30)],
        [1e16, 1.0 + 1e-3],
        [1e150, 3e-150],
        [-3e-150, 7e149],
        [1e200, 1.1e-90],
        [-1e-200, 1.3e90],
        [16_777_217.0, 16_777_219.0],
        [std::f64::consts::PI, std::f64::consts::E],
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut next = || rng.random_range(1.0..2.0) * 2_f64.powi(rng.random_range(-128..128));
    pairs.extend((0..ARBITRARY).map(|_| [next(), -next()]));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(change: impl Fn(usize, f64) -> f64) -> Vec<[f64; 4]> {
        let exact = |&[x, y]: &[f64; 2]| [x + y, x - y, x * y, x / y];
        let changed =
            |results: [f64; 4]| std::array::from_fn(|operation| change(operation, results[operation]));
        pairs().iter().map(exact).map(changed).collect()
    }

    #[test]
    fn what_is_off_in_the_ninth_digit_is_no_f64() {
        assert_eq!(worst(&pairs(), &results(|_, x| x)), None);
        for (at, operation) in OPERATIONS.into_iter().enumerate() {
            for error in [1e-8, 1e-12, 5.0 * f64::EPSILON] {
                let flawed = results(|other, x| if other == at { x * (1.0 + error) } else { x });
                let (found, size) = worst(&pairs(), &flawed).unwrap();
                assert_eq!(found, operation);
                assert!((0.5..2.0).contains(&(size / error)), "{size} {error}");
            }
        }
    }

    #[test]
    fn a_quotient_by_a_reciprocal_in_single_precision_is_found_out() {
        #[expect(clippy::cast_possible_truncation, reason = "the flaw")]
        let narrow = |x: f64| f64::from(x as f32);
        let mut flawed = results(|_, x| x);
        for (results, &[x, y]) in flawed.iter_mut().zip(&pairs()) {
            results[3] = x * narrow(1.0 / y);
        }
        assert_eq!(worst(&pairs(), &flawed).map(|(operation, _)| operation), Some("division"));
        // One step of Newton's iteration leaves the square of its error.
        for (results, &[x, y]) in flawed.iter_mut().zip(&pairs()) {
            let reciprocal = if y.abs() < 1e30 && y.abs() > 1e-30 { narrow(1.0 / y) } else { 1.0 / y };
            results[3] = x * (reciprocal * (2.0 - y * reciprocal));
        }
        let (operation, error) = worst(&pairs(), &flawed).unwrap();
        assert!(operation == "division" && error < 1e-13, "{operation} {error}");
    }

    #[test]
    fn what_is_no_number_is_no_result() {
        for nothing in [f64::NAN, f64::INFINITY] {
            let flawed = results(|operation, x| if operation == 2 && x > 1e80 { nothing } else { x });
            assert_eq!(worst(&pairs(), &flawed), Some(("multiplication", f64::INFINITY)));
        }
    }

    #[test]
    fn all_results_are_ordinary_numbers() {
        let ordinary = |x: f64| x == 0.0 || x.is_normal();
        assert!(results(|_, x| x).as_flattened().iter().all(|&x| ordinary(x)));
    }
}
