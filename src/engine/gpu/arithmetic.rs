//! The accuracy of a device's arithmetic. It is tested when the device is opened, since Vulkan guarantees division in
//! single precision only.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Gpu, buffers::size_of, context::Context, pace::Load, parameters::parameters, shaders::Shader};
use crate::{Result, engine::Precision};

/// The operations tested, in the order of the shader's results. Each has the largest relative error that the WGSL
/// specification allows, in units of the precision's ε: 1 if either neighbour may be the result, and 2.5 for a
/// quotient. A root is 1 over an inverse root, which adds 2. An inner product gets 4, for a product and three sums.
const OPERATIONS: [(&str, f64); 8] = [
    ("addition", 1.0),
    ("subtraction", 1.0),
    ("multiplication", 1.0),
    ("division", 2.5),
    ("square root", 4.5),
    ("conversion to single precision", 1.0),
    ("conversion of integers", 1.0),
    ("inner product", 4.0),
];
/// The number of pairs with arbitrary digits.
const ARBITRARY: usize = 500;

/// An operation that is less accurate than its precision requires, and its relative error.
pub(super) type Flaw = (&'static str, f64);

/// The exact result of an operation, and the number that its error is relative to.
type Expected = (f64, f64);

/// The operation of a device with the largest relative error above what is allowed, if any.
pub(super) fn flaw(context: &Context) -> Result<Option<Flaw>> {
    Ok(worst(context.precision, &errors(context)?))
}

/// The largest relative error of every operation of a device in its precision.
fn errors(context: &Context) -> Result<[f64; 8]> {
    context.checked("arithmetic", || {
        let (precision, width) = (context.precision, size_of(context.precision));
        let pairs = pairs(precision);
        let operands = context.uploaded(pairs.as_flattened())?;
        let results = context.reals(OPERATIONS.len() * pairs.len());
        let mut work = context.work("arithmetic");
        context.dispatch(
            &mut work,
            Shader::Arithmetic,
            &parameters! { pairs: pairs.len() },
            &[&operands, &results],
            Load { groups: pairs.len().div_ceil(64), flops: 16.0 * 64.0, bytes: 10.0 * 8.0 * 64.0 },
        )?;
        let bytes = (OPERATIONS.len() * width * pairs.len()) as u64;
        let found = context.download(work, &[(&results, 0, bytes)])?.concat();
        Ok(largest(&pairs, context.widened(&found).as_chunks().0))
    })
}

/// The largest relative errors, given the results of every pair.
fn largest(pairs: &[[f64; 2]], results: &[[f64; 8]]) -> [f64; 8] {
    let mut largest = [0.0; 8];
    for ((at, &pair), results) in (0..).zip(pairs).zip(results) {
        for ((largest, found), expected) in largest.iter_mut().zip(results).zip(expected(at, pair)) {
            *largest = f64::max(*largest, relative_error(*found, expected));
        }
    }
    largest
}

/// The operation with the largest relative error above what is allowed.
fn worst(precision: Precision, errors: &[f64; 8]) -> Option<Flaw> {
    let flawed = allowed(precision).zip(errors).filter(|((_, allowed), error)| *error > allowed);
    flawed.map(|((operation, _), error)| (operation, *error)).max_by(|one, other| one.1.total_cmp(&other.1))
}

/// The operations, and the largest relative error of each.
fn allowed(precision: Precision) -> impl Iterator<Item = (&'static str, f64)> {
    OPERATIONS.into_iter().map(move |(operation, tolerance)| {
        let narrow = operation == "conversion to single precision";
        let epsilon = if narrow { Precision::F32 } else { precision }.epsilon();
        (operation, tolerance * epsilon)
    })
}

impl Gpu {
    /// Operations, their largest relative errors, and the errors that are allowed.
    #[doc(hidden)]
    pub fn errors_of_arithmetic(&self) -> Result<Vec<(&'static str, f64, f64)>> {
        let errors = errors(self.context())?;
        let allowed = allowed(self.context().precision);
        Ok(allowed.zip(errors).map(|((operation, allowed), error)| (operation, error, allowed)).collect())
    }
}

/// The expected results of the operations for a pair.
fn expected(at: u32, [x, y]: [f64; 2]) -> [Expected; 8] {
    let exact = |value: f64| (value, value.abs());
    let is_single = x.abs() < 1e38 && x.abs() > 1e-37;
    [
        exact(x + y),
        exact(x - y),
        exact(x * y),
        exact(x / y),
        exact(x.abs().sqrt()),
        // Numbers beyond single precision may become anything.
        if is_single { exact(x) } else { (x, f64::INFINITY) },
        exact(at.wrapping_mul(0x9E37_79B1).into()),
        (1.5 * x - y + 0.25, 1.5 * x.abs() + y.abs() + 0.25),
    ]
}

/// The relative error; infinite for NaN.
fn relative_error(found: f64, (expected, scale): Expected) -> f64 {
    let error = (found - expected).abs();
    if error == 0.0 || scale.is_infinite() {
        0.0
    } else if error.is_finite() && scale != 0.0 {
        error / scale
    } else {
        f64::INFINITY
    }
}

/// Operands that expose single precision, or a quotient from a single-precision reciprocal.
///
/// They are thirds, neighbours of 1 and 2, cancelling differences, exponents beyond single precision in f64, and
/// arbitrary digits. No result overflows or underflows.
fn pairs(precision: Precision) -> Vec<[f64; 2]> {
    let e = precision.epsilon();
    let mut pairs = vec![
        [1.0, 3.0],
        [5.0, 3.0],
        [1.0, 49.0],
        [1.0, 2.0 - e],
        [2.0 - e, 1.0 + e],
        [1.0 + e, 1.0 - e / 2.0],
        [1.0 - e / 2.0, 2.0 - e],
        [4.0 / 3.0, 1.0 + 1.0 / 3.0 + e],
        [1.0 + 1e-9, 1.0],
        [1.0, 1e-9],
        [1.0 + 2_f64.powi(-30), 1.0 - 2_f64.powi(-30)],
        [1e16, 1.0 + 1e-3],
        [16_777_217.0, 16_777_219.0],
        [std::f64::consts::PI, std::f64::consts::E],
    ];
    let mut most = 30;
    if precision == Precision::F64 {
        pairs.extend([[1e150, 3e-150], [-3e-150, 7e149], [1e200, 1.1e-90], [-1e-200, 1.3e90]]);
        most = 128;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut next = || rng.random_range(1.0..2.0) * 2_f64.powi(rng.random_range(-most..most));
    pairs.extend((0..ARBITRARY).map(|_| [next(), -next()]));
    if precision == Precision::F32 {
        #[expect(clippy::cast_possible_truncation, reason = "the operands of the device")]
        pairs.as_flattened_mut().iter_mut().for_each(|x| *x = f64::from(*x as f32));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];

    fn results(precision: Precision, change: impl Fn(usize, f64) -> f64) -> Vec<[f64; 8]> {
        let of = |(at, &pair): (u32, &[f64; 2])| {
            let exact = expected(at, pair).map(|(value, _)| value);
            std::array::from_fn(|operation| change(operation, exact[operation]))
        };
        (0..).zip(&pairs(precision)).map(of).collect()
    }

    #[test]
    fn what_is_off_by_more_than_rounding_is_found_out() {
        for precision in PRECISIONS {
            assert_eq!(worst(precision, &largest(&pairs(precision), &results(precision, |_, x| x))), None);
            for (at, (operation, tolerance)) in OPERATIONS.into_iter().enumerate() {
                let epsilon = if at == 5 { Precision::F32 } else { precision }.epsilon();
                let off_by = |ulps: f64| {
                    let change = |other, x| if other == at { x * (1.0 + ulps * epsilon) } else { x };
                    worst(precision, &largest(&pairs(precision), &results(precision, change)))
                };
                // Half an ε of double precision cannot be represented in double precision.
                assert!(precision == Precision::F64 || off_by(tolerance - 0.5).is_none());
                for ulps in [tolerance + 1.5, 16.0, 1e4] {
                    let (found, size) = off_by(ulps).unwrap();
                    assert_eq!(found, operation);
                    assert!((0.5..2.0).contains(&(size / (ulps * epsilon))), "{size} {ulps}");
                }
            }
        }
    }

    #[test]
    fn a_quotient_by_a_reciprocal_in_single_precision_is_found_out() {
        #[expect(clippy::cast_possible_truncation, reason = "the flaw")]
        let narrow = |x: f64| f64::from(x as f32);
        let pairs = pairs(Precision::F64);
        let mut flawed = results(Precision::F64, |_, x| x);
        for (results, &[x, y]) in flawed.iter_mut().zip(&pairs) {
            results[3] = x * narrow(1.0 / y);
        }
        let found = |flawed: &[[f64; 8]]| worst(Precision::F64, &largest(&pairs, flawed));
        assert_eq!(found(&flawed).map(|(operation, _)| operation), Some("division"));
        // One step of Newton's iteration leaves the square of its error.
        for (results, &[x, y]) in flawed.iter_mut().zip(&pairs) {
            let reciprocal = if y.abs() < 1e30 && y.abs() > 1e-30 { narrow(1.0 / y) } else { 1.0 / y };
            results[3] = x * (reciprocal * (2.0 - y * reciprocal));
        }
        let (operation, error) = found(&flawed).unwrap();
        assert!(operation == "division" && error < 1e-13, "{operation} {error}");
    }

    #[test]
    fn what_is_no_number_is_no_result() {
        for nothing in [f64::NAN, f64::INFINITY] {
            let change = |operation, x| if operation == 2 && x > 1e7 { nothing } else { x };
            for precision in PRECISIONS {
                let found = worst(precision, &largest(&pairs(precision), &results(precision, change)));
                assert_eq!(found, Some(("multiplication", f64::INFINITY)));
            }
        }
    }

    #[test]
    fn all_results_are_ordinary_numbers() {
        for precision in PRECISIONS {
            let least =
                if precision == Precision::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
            let most = if precision == Precision::F32 { f64::from(f32::MAX) } else { f64::MAX };
            let ordinary = |x: f64| x == 0.0 || (least..=most).contains(&x.abs());
            assert!(results(precision, |_, x| x).as_flattened().iter().all(|&x| ordinary(x)));
        }
    }
}
