//! Independent k-DPPs, part by part: enumerated optima, conditions, and the union of the parts' solutions.

use approx::assert_abs_diff_eq;
use oracles::{Constraint, Problem, enumerable_cases, random::normals};
use partition_dpp::{
    Engine, Features, IndependentKDpps, Partition, PartitionDpp, Quota,
    map::{BranchAndBound, Greedy, LocalSearch, Solution, Solver, Termination, UpperBound},
};

fn solve(model: &IndependentKDpps) -> Solution {
    let solver = BranchAndBound::default();
    let parts: Result<Vec<_>, _> =
        model.parts().iter().map(|part| solver.solve(part, &Engine::cpu())).collect();
    Solution::union(parts.unwrap()).unwrap()
}

#[test]
fn the_best_sets_of_all_parts_are_the_best_set() {
    let mut compared = 0;
    for case in enumerable_cases() {
        let features = case.features();
        let partition = Partition::from_labels(&case.labels).unwrap();
        let quota = Quota::new(&partition, &case.quota).unwrap();
        let Ok(model) = IndependentKDpps::new(&features, &partition, &quota) else { continue };
        let rows: Vec<Vec<f64>> = (0..case.items()).map(|item| features.row(item)).collect();
        let found = solve(&model);
        let constraint = Constraint::Independent(case.quota.clone());
        let best = Problem::new(rows, case.labels, constraint).optimum();
        assert_abs_diff_eq!(found.log_det, best, epsilon = 1e-9 * (1.0 + best.abs()));
        assert_eq!(found.subset.part_counts(&partition), case.quota, "{}", case.name);
        assert_eq!(found.termination, Termination::Optimal);
        assert!(found.gap().unwrap() <= 1e-9 * case.quota.len() as f64, "{}", case.name);
        let joint = PartitionDpp::new(&features, &partition, &quota)
            .map(|dpp| BranchAndBound::default().solve(&dpp, &Engine::cpu()).unwrap().log_det);
        // By Hadamard and Fischer, parts together have no larger determinant than separately.
        assert!(joint.is_err() || joint.unwrap() <= best + 1e-9 * (1.0 + best.abs()), "{}", case.name);
        compared += 1;
    }
    assert!(compared >= 5, "{compared}");
}

#[test]
fn conditions_and_parts_without_choice() {
    let labels: Vec<usize> = (0..12).map(|item| item % 4).collect();
    let rows: Vec<Vec<f64>> = normals(48, 11).chunks(4).map(<[f64]>::to_vec).collect();
    let features = Features::from_rows(12, 4, rows.concat()).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    // All of part 0, two of part 1 with item 5, none of part 2, and one of part 3 except item 7.
    let quota = Quota::new(&partition, [3, 2, 0, 1]).unwrap();
    let model = IndependentKDpps::new(&features, &partition, &quota).unwrap();
    let model = model.including(&[5, 4]).unwrap().excluding(&[7]).unwrap();
    let found = solve(&model);
    let problem = Problem::new(rows, labels, Constraint::Independent(vec![3, 2, 0, 1]));
    let best = Problem { include: vec![5, 4], exclude: vec![7], ..problem }.optimum();
    assert_abs_diff_eq!(found.log_det, best, epsilon = 1e-9);
    assert_eq!(found.subset.part_counts(&partition), [3, 2, 0, 1]);
    assert!(found.subset.contains(5) && found.subset.contains(4) && !found.subset.contains(7));
}

#[test]
fn more_items_than_features_are_no_matter() {
    // Three parts of three items each in three dimensions: six items have no joint determinant.
    let features = Features::from_rows(9, 3, normals(27, 3)).unwrap();
    let partition = Partition::from_labels(&[0, 0, 0, 1, 1, 1, 2, 2, 2]).unwrap();
    let quota = Quota::each(&partition, 2).unwrap();
    assert!(PartitionDpp::new(&features, &partition, &quota).is_err());
    let model = IndependentKDpps::new(&features, &partition, &quota).unwrap();
    let exact = solve(&model);
    let solvers: [&dyn Solver<_>; 2] = [&Greedy::default(), &LocalSearch::default()];
    for solver in solvers {
        let parts = model.parts().iter().map(|part| {
            let found = solver.solve(part, &Engine::cpu()).unwrap();
            found.certified(&UpperBound::default().certify(part, &Engine::cpu()).unwrap())
        });
        let found = Solution::union(parts).unwrap();
        assert!(found.log_det <= exact.log_det + 1e-12);
        assert!(found.upper_bound.unwrap() >= exact.log_det, "{found:?}");
        assert_eq!(found.subset.len(), 6);
    }
    assert_eq!(Solution::union([]), None);
}

#[test]
fn a_union_is_as_sure_as_its_least_sure_part() {
    let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0]).unwrap();
    let partition = Partition::from_labels(&["a", "a", "b", "b"]).unwrap();
    let quota = Quota::new(&partition, [1, 1]).unwrap();
    let model = IndependentKDpps::new(&features, &partition, &quota).unwrap();
    let parts = model.parts();
    let proven = BranchAndBound::default().solve(&parts[0], &Engine::cpu()).unwrap();
    let greedy = Greedy::default().solve(&parts[1], &Engine::cpu()).unwrap();
    let union = Solution::union([proven.clone(), greedy.clone()]).unwrap();
    assert_eq!((union.termination, union.upper_bound), (Termination::QuotaMet, None));
    assert_abs_diff_eq!(union.log_det, proven.log_det + greedy.log_det);
}
