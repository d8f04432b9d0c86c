//! Local search: known optima, local optimality by enumeration, quotas that trap it, conditions.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use oracles::{
    Constraint, Problem, enumerable_cases,
    exact::{Minors, set_of},
    local_search::{
        assert_locally_optimal, best_gain, dealt, greedy_quota, neighbours, one_that_greedy_misses,
        restarting, rows_of, solve_quota,
    },
    models,
    oracle::counts,
    random::normals,
};
use partition_dpp::{
    Dpp, Engine, Features, KDpp, Partition, PartitionDpp, Quota,
    map::{Greedy, LocalSearch, Solver},
};
use proptest::prelude::*;

#[test]
fn known_optima_with_restarts() {
    let mut missed_without = 0;
    for case in enumerable_cases() {
        let (features, best) = (case.features(), case.map.as_ref().unwrap().1);
        let solution = solve_quota(&features, &case.labels, &case.quota, restarting());
        assert_eq!(counts(solution.subset.as_slice(), &case.labels, case.quota.len()), case.quota);
        let tolerance = 1e-8 * (1.0 + best.abs());
        assert!(
            abs_diff_eq!(solution.log_det, best, epsilon = tolerance),
            "{}: {} {best}",
            case.name,
            solution.log_det
        );
        let once = greedy_quota(&features, &case.labels, &case.quota);
        missed_without += usize::from(once.log_det < best - tolerance);
    }
    assert!(missed_without > 0, "greedy finds all of them: this test would see nothing");
}

proptest! {
    #![proptest_config(models::config(200))]

    #[test]
    fn no_exchange_improves_and_never_below_greedy(model in models::models()) {
        let features = model.features();
        let greedy = greedy_quota(&features, &model.labels, &model.quota);
        let solution = solve_quota(&features, &model.labels, &model.quota, LocalSearch::default());
        prop_assert!(solution.log_det >= greedy.log_det - 1e-9 * (1.0 + greedy.log_det.abs()));
        assert_locally_optimal(&features, &model.labels, &solution);
        let set = solution.subset.as_slice();
        prop_assert_eq!(counts(set, &model.labels, model.quota.len()), model.quota.clone());
        // Neither does an exchange in two parts at once.
        let twice: Vec<Vec<usize>> = neighbours(set, &model.labels)
            .iter()
            .flat_map(|other| neighbours(other, &model.labels))
            .filter(|other| {
                let moved: Vec<usize> = other.iter().copied().filter(|item| !set.contains(item)).collect();
                moved.len() == 2 && model.labels[moved[0]] != model.labels[moved[1]]
            })
            .collect();
        let gain = best_gain(&rows_of(&features), set, &twice);
        prop_assert!(gain < 1e-8, "an exchange of two parts gains {}", gain);
    }

    #[test]
    fn scaled_rows_give_the_same_set(model in models::models()) {
        let features = model.features();
        let solution = solve_quota(&features, &model.labels, &model.quota, restarting());
        let doubled = model.scaled(|_| 4.0);
        let scaled = solve_quota(&doubled.features(), &model.labels, &model.quota, restarting());
        prop_assert_eq!(&scaled.subset, &solution.subset);
        let shift = 2.0 * model.k() as f64 * 4.0_f64.ln();
        prop_assert!(abs_diff_eq!(scaled.log_det - solution.log_det, shift, epsilon = 1e-9 * (1.0 + shift)));
    }
}

#[test]
fn local_optimality_at_larger_sizes() {
    for (items, dims, k) in [(300, 12, 12), (300, 30, 9), (500, 20, 19)] {
        let (features, labels) = one_that_greedy_misses(items, dims, k);
        let k_dpp = KDpp::new(&features, k).unwrap();
        let solution = LocalSearch::default().solve(&k_dpp, &Engine::cpu()).unwrap();
        assert_locally_optimal(&features, &labels, &solution);
        // The negative control: the check notices the improvement that greedy missed.
        let greedy = Greedy::default().solve(&k_dpp, &Engine::cpu()).unwrap();
        let set = greedy.subset.as_slice();
        assert!(best_gain(&rows_of(&features), set, &neighbours(set, &labels)) > 1e-6);
    }
}

/// A trap: greedy takes {0, 2}, and leaving it takes a move in both parts at once.
fn trap() -> (Features, [usize; 4]) {
    let rows = vec![1.0, 0.0, 0.9, 0.0, 1.3, 0.0, 0.0, 1.0, 0.9, 1.3, 0.0, 0.0];
    (Features::from_rows(4, 3, rows).unwrap(), [0, 0, 1, 1])
}

#[test]
fn two_parts_escape_where_one_is_trapped() {
    let (features, labels) = trap();
    let greedy = greedy_quota(&features, &labels, &[1, 1]);
    assert_eq!(greedy.subset.as_slice(), [0, 2]);
    assert!(best_gain(&rows_of(&features), &[0, 2], &neighbours(&[0, 2], &labels)) < 0.0, "not a trap");
    let solution = solve_quota(&features, &labels, &[1, 1], LocalSearch::default());
    assert_eq!(solution.subset.as_slice(), [1, 3]);
    assert_eq!((solution.stats.swaps, solution.stats.exchanges), (0, 1));
    assert_abs_diff_eq!(solution.log_det, 2.0 * 1.69_f64.ln(), epsilon = 1e-12);
}

#[test]
fn two_parts_escape_among_many_items() {
    // More items than are all compared: short rows around the trap.
    let (features, _) = trap();
    let mut rows: Vec<f64> = normals(3 * 40_000, 1).into_iter().map(|x| 0.1 * x).collect();
    let places = [7, 20_000, 20_001, 39_998];
    for (place, row) in places.into_iter().zip(rows_of(&features)) {
        rows[3 * place..3 * place + 3].copy_from_slice(&row);
    }
    let labels: Vec<usize> = (0..40_000).map(|item| usize::from(item > 20_000)).collect();
    let features = Features::from_rows(40_000, 3, rows).unwrap();
    assert_eq!(greedy_quota(&features, &labels, &[1, 1]).subset.as_slice(), [7, 20_001]);
    let solution = solve_quota(&features, &labels, &[1, 1], LocalSearch::default());
    assert_eq!(solution.subset.as_slice(), [20_000, 39_998]);
    assert_eq!((solution.stats.swaps, solution.stats.exchanges), (0, 1));
}

#[test]
fn two_parts_escape_beside_an_included_item() {
    // The trap in the first three dimensions, with one more item of either part that must be included.
    let rows =
        [1.0, 0.0, 0.9, 0.0, 0.0, 1.3, 0.0, 0.0, 0.0, 1.0, 0.9, 0.0, 1.3, 0.0, 0.0, 0.0, 0.2, 0.1, 0.3, 2.0];
    let features = Features::from_rows(5, 4, rows.to_vec()).unwrap();
    let labels = [0, 0, 1, 1, 1];
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, [1, 2]).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap().including(&[4]).unwrap();
    let solution = LocalSearch::default().solve(&dpp, &Engine::cpu()).unwrap();
    let problem = Problem::new(rows_of(&features), labels.to_vec(), Constraint::Quota(vec![1, 2]));
    let best = Problem { include: vec![4], ..problem }.optimum();
    assert_abs_diff_eq!(solution.log_det, best, epsilon = 1e-12);
    assert_eq!((solution.stats.swaps, solution.stats.exchanges), (0, 1));
}

#[test]
fn tight_quotas_and_many_parts() {
    // Part-tight: nothing can move. Rank-tight: n = k. One item per part, with ten parts of six.
    for (items, dims, parts, quota) in [
        (6, 8, 2, vec![3, 3]),
        (12, 6, 3, vec![4, 1, 1]),
        (12, 6, 3, vec![2, 2, 2]),
        (60, 12, 10, vec![1; 10]),
        (60, 10, 10, vec![1; 10]),
        (60, 25, 10, vec![2; 10]),
    ] {
        let (features, labels) = dealt(items, dims, parts, 7);
        let solution = solve_quota(&features, &labels, &quota, restarting());
        let set = solution.subset.as_slice();
        assert_eq!(counts(set, &labels, parts), quota);
        assert_locally_optimal(&features, &labels, &solution);
        let greedy = greedy_quota(&features, &labels, &quota);
        assert!(solution.log_det >= greedy.log_det - 1e-9);
    }
}

#[test]
fn duplicates_and_a_part_that_needs_the_rank_others_took() {
    // Part 1 spans only one dimension, which greedy would rather give to part 0.
    let rows = vec![9.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0, 1.0, 0.0, 0.0];
    let features = Features::from_rows(6, 3, rows).unwrap();
    let labels = [0, 0, 0, 0, 0, 1];
    let solution = solve_quota(&features, &labels, &[2, 1], restarting());
    assert_eq!(solution.subset.as_slice(), [2, 4, 5]);
    assert_locally_optimal(&features, &labels, &solution);
}

#[test]
fn conditions_are_kept() {
    for seed in 0..10 {
        let (features, labels) = dealt(12, 6, 3, seed);
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = Quota::new(&partition, [2, 1, 2]).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let dpp = dpp.including(&[3]).unwrap().excluding(&[5, 6]).unwrap();
        let problem = Problem::new(rows_of(&features), labels, Constraint::Quota(vec![2, 1, 2]));
        let problem = Problem { include: vec![3], exclude: vec![5, 6], ..problem };
        let best = problem.optimum();
        let solution = restarting().solve(&dpp, &Engine::cpu()).unwrap();
        assert!(abs_diff_eq!(solution.log_det, best, epsilon = 1e-9), "seed {seed}");
        let k_dpp = KDpp::new(&features, 4).unwrap().including(&[3]).unwrap().excluding(&[5, 6]).unwrap();
        let best = Problem { constraint: Constraint::Size(4), ..problem }.optimum();
        let solution = restarting().solve(&k_dpp, &Engine::cpu()).unwrap();
        assert!(abs_diff_eq!(solution.log_det, best, epsilon = 1e-9), "seed {seed}");
        // All items are included: there is nothing to search.
        let whole = KDpp::new(&features, 2).unwrap().including(&[1, 2]).unwrap();
        assert_eq!(restarting().solve(&whole, &Engine::cpu()).unwrap().subset.as_slice(), [1, 2]);
    }
}

#[test]
fn sets_of_any_size_gain_and_lose_items() {
    let mut resized = 0;
    for seed in 0..30 {
        let (features, _) = dealt(12, 5, 1, 100 + seed);
        let minors = Minors::of_features(&rows_of(&features));
        let scaled = |factor: f64| {
            let values = rows_of(&features).concat().iter().map(|x| x * factor).collect::<Vec<_>>();
            Features::from_rows(12, 5, values).unwrap()
        };
        for factor in [0.3, 0.5, 0.8] {
            let features = scaled(factor);
            let minors = minors.weighted(&[factor.ln(); 12]);
            let value = |set: &[usize]| minors.log_det(set_of(set.iter().copied()));
            let dpp = Dpp::new(&features).unwrap();
            let solution = LocalSearch::default().solve(&dpp, &Engine::cpu()).unwrap();
            let set = solution.subset.as_slice();
            assert_abs_diff_eq!(value(set), solution.log_det, epsilon = 1e-9);
            let toggled = |item: usize| {
                let mut other: Vec<usize> = set.iter().copied().filter(|&kept| kept != item).collect();
                if !set.contains(&item) {
                    other.push(item);
                }
                other
            };
            let mut others = neighbours(set, &[0; 12]);
            others.extend((0..12).map(toggled));
            assert!(others.iter().all(|other| value(other) < solution.log_det + 1e-8), "seed {seed}");
            resized += solution.stats.resizes;
            let best = minors.optimum(|_| true);
            let restarted = restarting().solve(&dpp, &Engine::cpu()).unwrap();
            assert!(
                abs_diff_eq!(restarted.log_det, best, epsilon = 1e-9),
                "seed {seed}: {} {best}",
                restarted.log_det
            );
        }
    }
    assert!(resized > 0, "no item was added or removed: the test would see nothing");
    let tiny = Features::from_rows(2, 2, vec![0.1, 0.0, 0.0, 0.1]).unwrap();
    let empty = restarting().solve(&Dpp::new(&tiny).unwrap(), &Engine::cpu()).unwrap();
    assert!(empty.subset.is_empty(), "{}", empty.subset);
    assert_abs_diff_eq!(empty.log_det, 0.0, epsilon = 1e-15);
}

#[test]
fn a_removal_improves() {
    // Greedy takes the long diagonal and then both axes, each with a gain; the axes are worth more without the
    // diagonal.
    let rows = vec![1.5, 1.5, 0.9, 2.0, 0.0, 0.0, 0.0, 2.0, 0.0];
    let features = Features::from_rows(3, 3, rows).unwrap();
    let dpp = Dpp::new(&features).unwrap();
    assert_eq!(Greedy::default().solve(&dpp, &Engine::cpu()).unwrap().subset.len(), 3);
    let solution = LocalSearch::default().solve(&dpp, &Engine::cpu()).unwrap();
    assert_eq!(solution.subset.as_slice(), [1, 2]);
    assert_eq!((solution.stats.swaps, solution.stats.resizes), (0, 1));
    assert_abs_diff_eq!(solution.log_det, 16.0_f64.ln(), epsilon = 1e-12);
}
