//! Sets from the softmax relaxation, against all sets.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use approx::assert_abs_diff_eq;
use oracles::{
    conditioned,
    conditions::Condition,
    enumerable_cases,
    exact::Minors,
    oracle::Determinants,
    random::normals,
    unconstrained::{all_sets, differences, expectation, features, gaussian, nonnegative, uniforms, zoo},
    watches::{reported, within},
    with_threads,
};
use partition_dpp::{
    Dpp, Engine, Features, Watch,
    map::{Greedy, Softmax, SoftmaxExtension, Solution, Solver, Termination},
};

fn solve(rows: &[Vec<f64>]) -> Solution {
    let features = features(rows);
    Softmax::default().solve(&Dpp::new(&features).unwrap(), &Engine::cpu()).unwrap()
}

/// Checks that no item can be added or dropped with a gain, and that the value is right.
fn check_local_optimum(rows: &[Vec<f64>], solution: &Solution, condition: &Condition) {
    let determinants = Determinants::of_features(rows.to_vec());
    let set = solution.subset.as_slice();
    let det = determinants.det(set);
    assert_abs_diff_eq!(det.ln(), solution.log_det, epsilon = 1e-9);
    assert!(condition.allows(set));
    for item in (0..rows.len())
        .filter(|item| !condition.included.contains(item) && !condition.excluded.contains(item))
    {
        let neighbour: Vec<usize> = if set.contains(&item) {
            set.iter().copied().filter(|&other| other != item).collect()
        } else {
            [set, &[item]].concat()
        };
        assert!(determinants.det(&neighbour) <= det * (1.0 + 1e-9), "item {item} improves {set:?}");
    }
}

#[test]
fn solutions_are_local_optima_and_often_the_best_sets() {
    let (mut optimal, mut greedy_optimal, mut count) = (0, 0, 0);
    for rows in zoo(6) {
        let best = Minors::of_features(&rows).optimum(|_| true);
        let solution = solve(&rows);
        assert_eq!(solution.termination, Termination::LocallyOptimal);
        assert!(solution.log_det <= best + 1e-9);
        check_local_optimum(&rows, &solution, &Condition::default());
        let features = features(&rows);
        let greedy = Greedy::default().solve(&Dpp::new(&features).unwrap(), &Engine::cpu()).unwrap().log_det;
        optimal += usize::from(solution.log_det > best - 1e-9);
        greedy_optimal += usize::from(greedy > best - 1e-9);
        count += 1;
    }
    println!("best sets: {optimal} of {count}; greedy {greedy_optimal}");
    assert!(optimal >= greedy_optimal && 10 * optimal > 8 * count);
}

#[test]
fn known_kernels() {
    let mut optimal = 0;
    for case in enumerable_cases() {
        let (features, best) = (case.features(), case.minors().optimum(|_| true));
        let solution = Softmax::default().solve(&Dpp::new(&features).unwrap(), &Engine::cpu()).unwrap();
        let slack = 1e-9 * best.abs().max(1.0);
        assert!(solution.log_det <= best + slack, "{}: {} > {best}", case.name, solution.log_det);
        println!("{}: {:.6} of {best:.6}, {} items", case.name, solution.log_det, solution.subset.len());
        optimal += usize::from(solution.log_det > best - slack);
    }
    println!("best sets: {optimal} of 15");
    assert_eq!(optimal, 15);
}

#[test]
fn a_quarter_where_no_set_is_negative() {
    let mut worst: f64 = 1.0;
    for seed in 0..10 {
        let (rows, best) = nonnegative(seed);
        worst = worst.min(solve(&rows).log_det / best);
    }
    println!("worst: {worst:.4} of the optimum");
    assert!(worst >= 0.25);
}

#[test]
fn included_and_excluded_items() {
    for (seed, dims) in [(1, 9), (2, 6), (3, 12), (4, 4)] {
        let rows = gaussian(9, dims, 0.6, 50 + seed);
        let features = features(&rows);
        for condition in [
            Condition::new(&[4], &[]),
            Condition::new(&[8, 0], &[]),
            Condition::new(&[], &[8, 7]),
            Condition::new(&[3], &[0, 5]),
            Condition::new(&[1, 2, 3, 4], &[0]),
        ] {
            let dpp = conditioned!(Dpp::new(&features).unwrap(), condition).unwrap();
            let solution = Softmax::default().solve(&dpp, &Engine::cpu()).unwrap();
            check_local_optimum(&rows, &solution, &condition);
            // The value and gradient are the same as with x = 1 and 0 there.
            let extension = SoftmaxExtension::new(&dpp);
            let x = uniforms(9, seed);
            let mut fixed = x.clone();
            condition.included.iter().for_each(|&item| fixed[item] = 1.0);
            condition.excluded.iter().for_each(|&item| fixed[item] = 0.0);
            let (sets, point) = (all_sets(&rows), extension.at(&x, &Engine::cpu()).unwrap());
            assert_abs_diff_eq!(point.value, expectation(&sets, &fixed), epsilon = 1e-9);
            let slopes = differences(|x| expectation(&sets, x), &fixed);
            for (item, slope) in slopes.into_iter().enumerate() {
                let is_fixed = condition.included.contains(&item) || condition.excluded.contains(&item);
                let expected = if is_fixed { 0.0 } else { slope };
                assert_abs_diff_eq!(point.gradient[item], expected, epsilon = 1e-4 * expected.abs().max(1.0));
            }
            assert!(condition.allows(extension.round(&x, &Engine::cpu()).unwrap().as_slice()));
        }
    }
    let everything: Vec<usize> = (0..4).collect();
    let features = features(&gaussian(4, 4, 1.0, 5));
    let full = Dpp::new(&features).unwrap().including(&everything).unwrap();
    assert_eq!(Softmax::default().solve(&full, &Engine::cpu()).unwrap().subset.as_slice(), everything);
    let nothing = Dpp::new(&features).unwrap().excluding(&everything).unwrap();
    assert!(Softmax::default().solve(&nothing, &Engine::cpu()).unwrap().subset.is_empty());
}

#[test]
fn magnitudes_from_tiny_to_huge() {
    let rows = gaussian(10, 5, 1.0, 3);
    let scaled = |scale: f64| -> Vec<Vec<f64>> {
        rows.iter().map(|row| row.iter().map(|x| x * scale).collect()).collect()
    };
    assert!(solve(&scaled(1e-160)).subset.is_empty());
    let mut last = None;
    for exponent in [3, 6, 20, 80, 150] {
        let scale = 10.0_f64.powi(exponent);
        let solution = solve(&scaled(scale));
        assert_eq!(solution.subset.len(), 5, "1e{exponent}");
        let unscaled = solution.log_det - 10.0 * scale.ln();
        let best = Minors::of_features(&rows).optimum(|set| set.count_ones() == 5);
        println!("1e{exponent}: {unscaled:.6} of {best:.6}");
        assert!(unscaled <= best + 1e-9 && unscaled > best - 2.0);
        last = Some(solution.subset);
    }
    assert!(last.is_some());
    let mut mixed = gaussian(6, 6, 1.0, 4);
    for (at, row) in mixed.iter_mut().enumerate() {
        row.iter_mut().for_each(|x| *x *= if at % 2 == 0 { 1e120 } else { 1e-120 });
    }
    assert_eq!(solve(&mixed).subset.as_slice(), [0, 2, 4]);
    // Ordinary rows next to one that is far too long to be used unscaled.
    let mut one_long = gaussian(6, 6, 2.0, 4);
    one_long[3].iter_mut().for_each(|x| *x *= 1e60);
    check_local_optimum(&one_long, &solve(&one_long), &Condition::default());
}

#[test]
fn the_same_for_any_number_of_threads_and_type() {
    let values: Vec<f32> = normals(3000 * 20, 8).into_iter().map(|x| x as f32).collect();
    let wide: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    let run = |threads, features: &Features| {
        with_threads(threads, || {
            Softmax::default().solve(&Dpp::new(features).unwrap(), &Engine::cpu()).unwrap()
        })
    };
    let single = run(1, &Features::from_rows(3000, 20, &values[..]).unwrap());
    println!(
        "{} items, ln det {:.3}, {} steps",
        single.subset.len(),
        single.log_det,
        single.stats.iterations
    );
    assert_eq!(single, run(2, &Features::from_rows(3000, 20, &values[..]).unwrap()));
    assert_eq!(single, run(1, &Features::from_rows(3000, 20, &wide[..]).unwrap()));
}

#[test]
fn stopped_runs_return_a_set_and_say_so() {
    let rows = gaussian(60, 12, 0.8, 2);
    let features = features(&rows);
    let dpp = Dpp::new(&features).unwrap();
    let whole = Softmax::default().solve(&dpp, &Engine::cpu()).unwrap();
    let limited = Softmax::default().solve(&dpp, &within(Duration::ZERO)).unwrap();
    assert_eq!(limited.termination, Termination::TimeLimit);
    assert_eq!(limited.stats.iterations, 0);
    let det = Determinants::of_features(rows.clone()).det(limited.subset.as_slice());
    assert_abs_diff_eq!(limited.log_det, det.ln(), epsilon = 1e-9);
    assert!(limited.log_det > 0.0, "{}", limited.log_det);

    let stop = Arc::new(AtomicBool::new(true));
    let stopped =
        Softmax::default().solve(&dpp, &Engine::cpu().watched(&Watch::default().stopped_by(&stop))).unwrap();
    assert_eq!((stopped.termination, &stopped.subset), (Termination::Interrupted, &limited.subset));

    let (watch, reports) = reported();
    let watched = Softmax::default().solve(&dpp, &Engine::cpu().watched(&watch)).unwrap();
    assert_eq!(watched, whole);
    let reports = reports.lock().unwrap();
    for report in &*reports {
        assert!(report.log_det <= whole.log_det + 1e-9 && report.upper_bound.is_none());
    }
    assert_eq!(reports.iter().map(|report| report.steps).max(), Some(whole.stats.iterations));
    assert!(reports.len() as u64 >= whole.stats.iterations);
}
