//! Local search: threads, seeds, stops, reports, thresholds and guarantees.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use approx::{assert_abs_diff_eq, assert_relative_eq};
use nalgebra::DMatrix;
use oracles::{
    assert_error,
    exact::Minors,
    local_search::{dealt, one_that_greedy_misses, restarting, rows_of, solve_quota},
    watches::{reported, stopped_when, within},
    with_threads,
};
use partition_dpp::{
    Engine, Error, Features, KDpp, Watch,
    map::{Greedy, LocalSearch, Restarts, Solver, Termination},
};

#[test]
fn scales_of_parts_do_not_matter() {
    let (features, labels) = dealt(24, 8, 3, 3);
    let plain = solve_quota(&features, &labels, &[2, 2, 2], restarting());
    for powers in [[0, 0, 0], [400, -400, 0], [-480, 480, 480]] {
        let scaled = |(item, row): (usize, Vec<f64>)| {
            let factor = 2.0_f64.powi(powers[labels[item]]);
            row.into_iter().map(move |x| x * factor)
        };
        let values: Vec<f64> = rows_of(&features).into_iter().enumerate().flat_map(scaled).collect();
        let scaled = Features::from_rows(24, 8, values).unwrap();
        assert_eq!(solve_quota(&scaled, &labels, &[2, 2, 2], restarting()).subset, plain.subset);
    }
}

#[test]
fn the_same_set_for_any_number_of_threads() {
    let (features, labels) = dealt(40_000, 10, 3, 17);
    let solver = LocalSearch::default().with_restarts(Restarts::Count(2)).with_seed(5);
    let run = |threads| with_threads(threads, || solve_quota(&features, &labels, &[3, 2, 3], solver));
    let one = run(1);
    assert!(one.stats.swaps > 0);
    assert_eq!(one, run(2));
    assert_eq!(one, run(4));
}

#[test]
fn the_same_seed_gives_the_same_set() {
    let (features, _) = dealt(60, 20, 1, 23);
    let k_dpp = KDpp::new(&features, 15).unwrap();
    let solve = |seed| {
        let solver = LocalSearch::default().with_restarts(Restarts::Count(3)).with_seed(seed);
        solver.solve(&k_dpp, &Engine::cpu()).unwrap()
    };
    assert_eq!(solve(1), solve(1));
    assert_eq!(solve(1).stats.restarts, 3);
    // This depends on the generator, its streams and the order of its numbers; a change is value-breaking.
    assert_eq!(solve(1).subset.as_slice(), [5, 6, 7, 11, 14, 16, 22, 23, 26, 34, 35, 41, 51, 53, 55]);
}

#[test]
fn stops_return_the_best_so_far() {
    let (features, _) = one_that_greedy_misses(200, 20, 15);
    let k_dpp = KDpp::new(&features, 15).unwrap();
    let greedy = Greedy::default().solve(&k_dpp, &Engine::cpu()).unwrap();
    let whole = LocalSearch::default().solve(&k_dpp, &Engine::cpu()).unwrap();
    assert!(whole.log_det > greedy.log_det);

    let at_once = LocalSearch::default().solve(&k_dpp, &within(Duration::ZERO)).unwrap();
    assert_eq!((at_once.termination, at_once.subset.len()), (Termination::TimeLimit, 15));

    let stop = Arc::new(AtomicBool::new(true));
    let stopped = LocalSearch::default()
        .solve(&k_dpp, &Engine::cpu().watched(&Watch::default().stopped_by(&stop)))
        .unwrap();
    assert_eq!((stopped.termination, &stopped.subset), (Termination::Interrupted, &at_once.subset));
    assert_eq!(stopped.stats.evaluations, 0);

    // Stopped by the first report: after the first step of the first climb, or during restarts.
    let (watch, reports) = stopped_when(|_| true);
    let endless = LocalSearch::default().with_restarts(Restarts::Count(u64::MAX));
    let stopped = endless.solve(&k_dpp, &Engine::cpu().watched(&watch)).unwrap();
    assert_eq!(stopped.termination, Termination::Interrupted);
    let reports = reports.lock().unwrap();
    let last = reports.iter().map(|report| report.log_det).fold(f64::NEG_INFINITY, f64::max);
    assert!(!reports.is_empty());
    assert_abs_diff_eq!(stopped.log_det, last, epsilon = 1e-9);
    assert!(stopped.log_det > greedy.log_det);

    let short = Duration::from_millis(30);
    let cut = endless.solve(&k_dpp, &within(short)).unwrap();
    assert_eq!(cut.termination, Termination::TimeLimit);
    let full = LocalSearch::default().with_restarts(Restarts::UntilTimeLimit);
    let full = full.solve(&k_dpp, &within(short)).unwrap();
    assert!(matches!(full.termination, Termination::LocallyOptimal | Termination::TimeLimit));
    assert!(full.log_det >= whole.log_det - 1e-9 || full.termination == Termination::TimeLimit);
    // Without a limit, there is nothing to wait for.
    let once =
        LocalSearch::default().with_restarts(Restarts::UntilTimeLimit).solve(&k_dpp, &Engine::cpu()).unwrap();
    assert_eq!(once, whole);
}

#[test]
fn reports_only_rise() {
    let (features, _) = dealt(100, 20, 1, 4);
    let k_dpp = KDpp::new(&features, 12).unwrap();
    let (watch, reports) = reported();
    let solution = restarting().solve(&k_dpp, &Engine::cpu().watched(&watch)).unwrap();
    let reports = reports.lock().unwrap();
    assert!(reports.is_sorted_by_key(|report| report.log_det), "{reports:?}");
    assert_abs_diff_eq!(reports.last().unwrap().log_det, solution.log_det, epsilon = 1e-9);
}

#[test]
fn epsilon_is_a_threshold() {
    let (features, _) = dealt(200, 20, 1, 2);
    let k_dpp = KDpp::new(&features, 15).unwrap();
    let greedy = Greedy::default().solve(&k_dpp, &Engine::cpu()).unwrap();
    let content = LocalSearch::default().with_epsilon(1e6).solve(&k_dpp, &Engine::cpu()).unwrap();
    assert_eq!((content.stats.swaps, &content.subset), (0, &greedy.subset));
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_error!(
            LocalSearch::default().with_epsilon(epsilon).solve(&k_dpp, &Engine::cpu()),
            Error::NotPositive { what: "epsilon", .. },
            ["epsilon"]
        );
    }
}

/// Compares κ(A) and the guarantee of theorem 4.1 with independently computed eigenvalues and with the optimum.
#[test]
fn the_guarantee_holds() {
    for seed in 0..20 {
        let (features, _) = dealt(12, 5, 1, seed);
        let rows = rows_of(&features);
        let kernel =
            DMatrix::from_fn(12, 12, |i, j| rows[i].iter().zip(&rows[j]).map(|(x, y)| x * y).sum::<f64>());
        let mut eigenvalues: Vec<f64> = kernel.symmetric_eigenvalues().iter().copied().collect();
        eigenvalues.sort_by(|x, y| y.total_cmp(x));
        let minors = Minors::of_features(&rows);
        for k in 1..=5 {
            let solution =
                LocalSearch::default().solve(&KDpp::new(&features, k).unwrap(), &Engine::cpu()).unwrap();
            let tail = eigenvalues[k - 1..].iter().sum::<f64>() / (12 - k + 1) as f64;
            let condition = eigenvalues[0] / tail;
            let found = solution.stats.condition.unwrap();
            assert_relative_eq!(found, condition, epsilon = 0.0, max_relative = 1e-9);
            let gap = minors.optimum(|set| set.count_ones() as usize == k) - solution.log_det;
            let guarantee = solution.stats.log_guarantee.unwrap();
            assert!(gap <= guarantee + 1e-9, "k = {k}: gap {gap}, guarantee {guarantee}");
            let factorial: f64 = (1..=k).map(|i| (i as f64).ln()).sum();
            assert!(guarantee <= 2.0 * factorial + 1e-12);
            assert!(solution.stats.swap_bound.unwrap() >= solution.stats.swaps as f64);
        }
        let labels: Vec<usize> = (0..12).map(|item| item % 2).collect();
        let parts = solve_quota(&features, &labels, &[2, 2], LocalSearch::default());
        assert_eq!((parts.stats.swap_bound, parts.stats.log_guarantee), (None, None));
    }
}
