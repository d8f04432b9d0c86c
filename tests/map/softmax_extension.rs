//! The softmax extension: value and gradient against enumeration, rounding against all sets.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use nalgebra::DMatrix;
use oracles::{
    assert_error,
    unconstrained::{all_sets, differences, expectation, features, gaussian, points, zoo},
};
use partition_dpp::{Dpp, Engine, Error, map::SoftmaxExtension};

/// Returns ln det(Diag(x)(K − I) + I).
fn formula(rows: &[Vec<f64>], x: &[f64]) -> f64 {
    let m = rows.len();
    let dot = |i: usize, j: usize| -> f64 { rows[i].iter().zip(&rows[j]).map(|(x, y)| x * y).sum() };
    let matrix = DMatrix::from_fn(m, m, |i, j| {
        let identity = f64::from(u8::from(i == j));
        x[i] * (dot(i, j) - identity) + identity
    });
    matrix.determinant().ln()
}

#[test]
fn values_are_expected_determinants() {
    let (mut worst, mut infinite): (f64, usize) = (0.0, 0);
    for rows in zoo(6) {
        let (features, sets) = (features(&rows), all_sets(&rows));
        let dpp = Dpp::new(&features).unwrap();
        let extension = SoftmaxExtension::new(&dpp);
        for x in points(rows.len(), 5) {
            let expected = expectation(&sets, &x);
            let found = extension.at(&x, &Engine::cpu()).unwrap().value;
            let error = (found - expected).abs() / expected.abs().max(1.0);
            worst = worst.max(error);
            assert!(error < 1e-9, "{found} {expected} at {x:?}");
            let by_formula = formula(&rows, &x);
            assert!(
                by_formula.is_nan() || abs_diff_eq!(by_formula, expected, epsilon = 1e-5),
                "two oracles agree"
            );
        }
        // At the corners: ln det K_S.
        for (set, det) in sets.iter().step_by(3) {
            let x: Vec<f64> = (0..rows.len()).map(|i| f64::from(u8::from(set.contains(&i)))).collect();
            let found = extension.at(&x, &Engine::cpu()).unwrap().value;
            if *det > 1e-9 {
                assert_abs_diff_eq!(found, det.ln(), epsilon = 1e-6 * det.ln().abs().max(1.0));
            } else {
                assert!(found < (1e-8_f64).ln(), "dependent rows: {found}");
                infinite += usize::from(found.is_infinite());
            }
        }
    }
    println!("worst relative error {worst:.1e}; −∞ at {infinite} corners");
    assert!(infinite > 100);
}

#[test]
fn gradients_are_differences() {
    let (mut worst, mut control): (f64, f64) = (0.0, f64::INFINITY);
    for rows in zoo(6).into_iter().filter(|rows| rows.len() > 1) {
        let (features, sets) = (features(&rows), all_sets(&rows));
        let dpp = Dpp::new(&features).unwrap();
        for x in &points(rows.len(), 9)[..3] {
            let found = SoftmaxExtension::new(&dpp).at(x, &Engine::cpu()).unwrap().gradient;
            let expected = differences(|x| expectation(&sets, x), x);
            let distance = |other: &[f64]| {
                let errors = other.iter().zip(&expected).map(|(x, y)| (x - y).abs() / y.abs().max(1.0));
                errors.fold(0.0, f64::max)
            };
            worst = worst.max(distance(&found));
            let opposite: Vec<f64> = found.iter().map(|x| -x).collect();
            let shifted: Vec<f64> = found.iter().map(|x| x + 1.0).collect();
            control = control.min(distance(&opposite)).min(distance(&shifted));
        }
    }
    println!("worst {worst:.1e}; wrong gradients are off by {control:.1e} at least");
    assert!(worst < 1e-4 && control > 0.1);
}

#[test]
fn rounding_never_lowers() {
    let (mut gained, mut rounded) = (0, 0);
    for rows in zoo(6) {
        let (features, sets) = (features(&rows), all_sets(&rows));
        let dpp = Dpp::new(&features).unwrap();
        let extension = SoftmaxExtension::new(&dpp);
        for seed in 0..12 {
            for x in points(rows.len(), seed) {
                let before = expectation(&sets, &x);
                let set = extension.round(&x, &Engine::cpu()).unwrap();
                let after = sets.iter().find(|(other, _)| other == set.as_slice()).unwrap().1.ln();
                assert!(after >= before - 1e-9 * before.abs().max(1.0), "{after} < {before} from {x:?}");
                // Entries at an end stay there.
                assert!((0..x.len()).all(|i| x[i] > 0.0 || !set.contains(i)));
                rounded += 1;
                gained += usize::from(after > before + 1e-6);
            }
        }
    }
    println!("{gained} of {rounded} roundings gained");
    assert!(gained > rounded / 2);
}

#[test]
fn points_outside_the_cube_are_refused() {
    let features = features(&gaussian(4, 3, 1.0, 1));
    let dpp = Dpp::new(&features).unwrap();
    let extension = SoftmaxExtension::new(&dpp);
    assert_error!(
        extension.at(&[0.5; 3], &Engine::cpu()),
        Error::Shape { expected: 4, found: 3, .. },
        ["cube", "4", "3"]
    );
    assert_error!(
        extension.at(&[0.5, 1.5, 0.0, 1.0], &Engine::cpu()),
        Error::NotAProbability { item: 1, value } if abs_diff_eq!(value, 1.5, epsilon = 1e-15),
        ["item 1", "1.5", "[0, 1]"]
    );
    assert_error!(
        extension.round(&[0.5, 0.5, 0.0, f64::NAN], &Engine::cpu()),
        Error::NotAProbability { item: 3, value } if value.is_nan(),
        ["item 3", "NaN"]
    );
}
