//! Bounds for rows that agree to ten digits: the rounding of included items matters, too.

use oracles::{
    exact::{Minors, set_of},
    random::normals,
};
use partition_dpp::{
    Dpp, Engine, Features, KDpp,
    map::{BranchAndBound, Solver, UpperBound},
};

const ITEMS: usize = 9;
const SIZE: usize = 4;

/// Returns rows b + x of integers with x small next to b, which is about 2^exponent: all digits except the last
/// agree.
fn near(exponent: i32, seed: u64) -> Vec<Vec<f64>> {
    let numbers = normals((ITEMS + 1) * SIZE, seed);
    let (x, base) = numbers.split_at(ITEMS * SIZE);
    let entry = |(x, base): (&f64, &f64)| (x * 7.0).round() + (base * 2_f64.powi(exponent)).round();
    x.chunks(SIZE).map(|x| x.iter().zip(base).map(entry).collect()).collect()
}

#[test]
fn bounds_hold_where_included_rows_almost_agree() {
    let mut worst: f64 = 0.0;
    for (exponent, seed) in
        [20, 28, 32, 35].into_iter().flat_map(|exponent| (1..25).map(move |seed| (exponent, seed)))
    {
        let rows = near(exponent, seed);
        let (minors, features) =
            (Minors::of_features(&rows), Features::from_rows(ITEMS, SIZE, rows.concat()).unwrap());
        for included in [&[][..], &[0], &[3, 5], &[1, 4, 7]] {
            let kept = set_of(included.iter().copied());
            let best = minors.optimum(|set| set.count_ones() as usize == SIZE && set & kept == kept);
            let Ok(model) = KDpp::new(&features, SIZE).unwrap().including(included) else { continue };
            if best == f64::NEG_INFINITY {
                continue;
            }
            let certificate = UpperBound::default().certify(&model, &Engine::cpu()).unwrap();
            let solution = BranchAndBound::default().solve(&model, &Engine::cpu()).unwrap();
            for bound in [certificate.upper_bound, solution.upper_bound.unwrap()] {
                worst = worst.max(best - bound);
            }
        }
    }
    println!("largest violation {worst:e}");
    assert!(worst < 1e-12, "{worst}");
}

#[test]
fn bounds_stay_close_where_included_rows_almost_agree() {
    // Items 0 and 2 agree to eleven digits; the others are as close, and add nothing.
    let base = normals(5, 3);
    let noise = normals(15, 4);
    let values: Vec<f64> = (0..15).map(|at| base[at % 5] + 1e-11 * noise[at]).collect();
    let features = Features::from_rows(3, 5, values).unwrap();
    let model = Dpp::new(&features).unwrap().including(&[0, 2]).unwrap();
    let solution = BranchAndBound::default().solve(&model, &Engine::cpu()).unwrap();
    assert_eq!(solution.subset.as_slice(), [0, 2]);
    assert!(solution.gap().unwrap() < 1e-2, "{:?}", solution.gap());
}

#[test]
fn rows_that_vanish_when_squared_still_have_a_bound() {
    let scales = [1e100, 1e-90, 1e-95, 1e-100];
    let values: Vec<f64> = normals(20, 5).iter().enumerate().map(|(at, x)| x * scales[at / 5]).collect();
    let features = Features::from_rows(4, 5, values).unwrap();
    for size in 2..=3 {
        let model = KDpp::new(&features, size).unwrap();
        let certificate = UpperBound::default().certify(&model, &Engine::cpu()).unwrap();
        let best = 2.0 * scales[..size].iter().map(|scale| scale.ln()).sum::<f64>();
        assert!(certificate.upper_bound > best, "{} {best}", certificate.upper_bound);
    }
}
