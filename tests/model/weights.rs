//! Weights of rows (quality, scores, cosines) against enumeration, under every law, with every method and solver.

use approx::assert_relative_eq;
use oracles::{
    Case, Constraint, Data, Problem, assert_error,
    checked::{Effort, Kind, Parts, Report, examine, examine_against},
    enumerable_cases, stats,
};
use partition_dpp::{
    Engine, Error, Features, KDpp, Partition, PartitionDpp, Quota, RidgeDpp, Subset,
    data::LabelCopies,
    error::WeightProblem,
    map::{BranchAndBound, KernelModel, Solver, TopScores},
    similarity::DotKernel,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const EFFORT: Effort = Effort { draws: 2_000, draws_by_nodes: 200, paths: 1, solvers: true };

/// Returns the known answers with these weights.
fn problems(scale: f64, constraint: impl Fn(&Case) -> Constraint) -> Vec<(String, Problem)> {
    let mut rng = StdRng::seed_from_u64(7);
    let cases = enumerable_cases().into_iter().filter(|case| case.items() <= 12);
    let problem = |case: Case| {
        let law = constraint(&case);
        let mut problem = Problem::new(case.rows.clone(), case.labels.clone(), law);
        problem.data = if case.dense { Data::Kernel } else { Data::Features };
        problem.log_weights = (0..case.items()).map(|_| scale * rng.random_range(-1.0..1.0)).collect();
        (case.name, problem)
    };
    cases.map(problem).collect()
}

fn around(case: &Case, total: bool) -> Constraint {
    let ranges = case.quota.iter().map(|&count| count.saturating_sub(1)..=count + 1).collect();
    Constraint::Ranges(ranges, total.then(|| case.quota.iter().sum()))
}

pub(crate) fn laws() -> [fn(&Case) -> Constraint; 6] {
    [
        |case| Constraint::Quota(case.quota.clone()),
        |case| Constraint::Independent(case.quota.clone()),
        |case| Constraint::Size(case.quota.iter().sum()),
        |_| Constraint::Any,
        |case| around(case, false),
        |case| around(case, true),
    ]
}

/// Fails on wrong answers, draws off the law, and refusals.
pub(crate) fn assert_right(what: &str, problem: &Problem, report: &Report) {
    assert!(report.wrong().is_empty(), "{what}: {:?}\n{problem}", report.wrong());
    assert!(report.refusals.is_empty(), "{what}: {:?}\n{problem}", report.refusals);
    let worst = report.p_values.iter().copied().fold(1.0, f64::min);
    assert!(worst > stats::ALPHA / 1000.0, "{what}: p = {worst:e}\n{problem}");
}

#[test]
fn quality_under_every_law() {
    for law in laws() {
        for (name, problem) in problems(1.5, law) {
            assert_right(&name, &problem, &examine(&problem, &Engine::cpu(), EFFORT, 1));
        }
    }
}

/// A diversity of ½ turns scores of ±1000 into ±500; a diversity of 0.1 turns them into ±4500.
///
/// Some of these laws are refused: dense kernels that lack dimensions, nearly dependent rows, and laws without a
/// tilt.
#[test]
fn scores_of_a_thousand() {
    let (mut asked, mut refused) = (0, 0);
    for (scale, law) in [500.0, 4_500.0].into_iter().flat_map(|scale| laws().map(|law| (scale, law))) {
        for (name, problem) in problems(scale, law) {
            let report = examine(&problem, &Engine::cpu(), EFFORT, 1);
            assert!(report.wrong().is_empty(), "{name}: {:?}\n{problem}", report.wrong());
            asked += 1;
            refused += usize::from(!report.refusals.is_empty());
        }
    }
    println!("{refused} of {asked} refused");
    assert!(refused * 4 <= asked, "{refused} of {asked} are refused");
}

/// Returns three rows per part in general position: every set has a positive determinant.
fn generic(constraint: Constraint, scale: f64, seed: u64) -> Problem {
    let mut rng = StdRng::seed_from_u64(seed);
    let rows = (0..9).map(|_| (0..5).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
    let mut problem = Problem::new(rows, vec![0, 0, 0, 1, 1, 1, 2, 2, 2], constraint);
    problem.log_weights = (0..9).map(|_| scale * rng.random_range(-1.0..1.0)).collect();
    problem
}

#[test]
fn large_scores_decide_where_they_must() {
    let laws = [
        Constraint::Quota(vec![1, 1, 1]),
        Constraint::Quota(vec![2, 1, 1]),
        Constraint::Ranges(vec![1..=2, 0..=3, 1..=1], None),
        Constraint::Ranges(vec![1..=2, 0..=3, 0..=1], Some(4)),
    ];
    for (law, seed) in laws.iter().flat_map(|law| (0..10).map(move |seed| (law, seed))) {
        let problem = generic(law.clone(), 500.0, seed);
        assert_right("large scores", &problem, &examine(&problem, &Engine::cpu(), EFFORT, seed));
    }
}

#[test]
fn conditions_and_weights() {
    for seed in 0..10 {
        for scale in [1.0, 500.0] {
            let mut problem = generic(Constraint::Quota(vec![2, 1, 1]), scale, seed);
            (problem.include, problem.exclude) = (vec![1], vec![4]);
            assert_right("conditions", &problem, &examine(&problem, &Engine::cpu(), EFFORT, seed));
        }
    }
}

/// Returns the kinds of checks that notice a planted fault.
fn kinds(report: &Report) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = report.faults.iter().map(|fault| fault.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

#[test]
fn weights_applied_once_instead_of_twice_are_noticed() {
    for law in [Constraint::Any, Constraint::Size(3), Constraint::Quota(vec![1, 1, 1])] {
        let problem = generic(law.clone(), 1.0, 3);
        let mut once = problem.clone();
        once.log_weights.iter_mut().for_each(|log| *log *= 0.5);
        let found = kinds(&examine_against(&problem.minors(), &once, &Engine::cpu(), EFFORT, 3));
        for kind in [Kind::LogZ, Kind::Marginals, Kind::LogProbabilities, Kind::Map] {
            assert!(found.contains(&kind), "{law:?}: {kind:?} is not in {found:?}");
        }
    }
}

/// A factor common to a part changes a law under ranges, but not under exact counts.
#[test]
fn a_shift_within_a_part_matters_under_ranges_alone() {
    let shifted = |law: Constraint| {
        let problem = generic(law, 1.0, 5);
        let mut other = problem.clone();
        other.log_weights[3..6].iter_mut().for_each(|log| *log += 0.7);
        kinds(&examine_against(&problem.minors(), &other, &Engine::cpu(), EFFORT, 5))
    };
    assert!(!shifted(Constraint::Quota(vec![1, 2, 1])).contains(&Kind::Marginals));
    assert!(shifted(Constraint::Ranges(vec![1..=2, 0..=2, 1..=1], None)).contains(&Kind::Marginals));
}

#[test]
fn unit_rows_are_cosines() {
    for seed in 0..5 {
        let mut problem = generic(Constraint::Quota(vec![1, 2, 1]), 0.0, seed);
        problem.log_weights.clear();
        let features = Parts::of(&problem).unwrap().features.with_unit_rows().unwrap();
        let length = |row: &Vec<f64>| row.iter().map(|x| x * x).sum::<f64>().sqrt();
        problem.log_weights = problem.rows.iter().map(|row| -length(row).ln()).collect();
        let report = examine(&problem, &Engine::cpu(), EFFORT, seed);
        assert_right("cosines", &problem, &report);
        // The library's own weights are the same.
        let (partition, quota) = parts(&problem.labels, [1, 2, 1]);
        let best = BranchAndBound::default();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let (_, optimum) = problem.minors().best(|set| problem.allows(set));
        assert_relative_eq!(best.solve(&dpp, &Engine::cpu()).unwrap().log_det, optimum, epsilon = 1e-12);
    }
}

fn parts(labels: &[usize], counts: [usize; 3]) -> (Partition, Quota) {
    let partition = Partition::from_labels(labels).unwrap();
    let quota = Quota::new(&partition, counts).unwrap();
    (partition, quota)
}

#[test]
fn the_objective_is_what_the_docs_say() {
    let problem = generic(Constraint::Size(3), 0.0, 9);
    let plain = Features::from_rows(9, 5, problem.rows.concat()).unwrap();
    let scores: Vec<f64> = (0..9).map(|item| f64::from(item * item % 7)).collect();
    for diversity in [0.1, 0.5, 0.9, 1.0] {
        let weighted = plain.with_scores(&scores, diversity).unwrap();
        let best =
            BranchAndBound::default().solve(&KDpp::new(&weighted, 3).unwrap(), &Engine::cpu()).unwrap();
        let minors = Problem { log_weights: Vec::new(), ..problem.clone() }.minors();
        let objective = |set: &[usize]| {
            let total: f64 = set.iter().map(|&item| scores[item]).sum();
            let set = set.iter().fold(0, |set, item| set | 1 << item);
            (1.0 - diversity) * total + diversity * minors.log_det(set)
        };
        let all = minors
            .sets()
            .filter(|set| set.count_ones() == 3)
            .map(|set| objective(&oracles::exact::items_of(set)));
        let most = all.fold(f64::NEG_INFINITY, f64::max);
        assert_relative_eq!(objective(best.subset.as_slice()), most, epsilon = 1e-9);
        assert_relative_eq!(diversity * best.log_det, most, epsilon = 1e-9);
    }
}

#[test]
fn the_top_scores_meet_the_quota() {
    let problem = generic(Constraint::Any, 0.0, 2);
    let features = Features::from_rows(9, 5, problem.rows.concat()).unwrap();
    let scores = [5.0, 4.0, 9.0, -1.0, -2.0, -3.0, 7.0, 8.0, 7.0];
    let top = |quota: &Quota, partition: &Partition| -> Subset {
        let dpp = PartitionDpp::new(&features, partition, quota).unwrap();
        TopScores::new(scores).solve(&dpp, &Engine::cpu()).unwrap().subset
    };
    let (partition, quota) = parts(&problem.labels, [2, 1, 1]);
    assert_eq!(top(&quota, &partition).as_slice(), [0, 2, 3, 7]);
    let ranges = Quota::new(&partition, [1..=2, 1..=3, 0..=1]).unwrap();
    assert_eq!(top(&ranges, &partition).as_slice(), [0, 2, 3, 7]);
    assert_eq!(top(&ranges.clone().with_total(3).unwrap(), &partition).as_slice(), [2, 3, 7]);
    let few = TopScores::new(&scores[..8]).solve(&KDpp::new(&features, 2).unwrap(), &Engine::cpu());
    assert_error!(few, Error::Shape { expected: 9, found: 8, .. }, ["scores"]);
}

#[test]
fn weights_go_where_rows_go() {
    let rows = vec![1.0, 0.0, 0.0, 2.0, 3.0, 1.0];
    let plain = Features::from_rows(3, 2, rows).unwrap();
    let weighted = plain.with_log_quality(&[0.5, -0.5, 1.0]).unwrap();
    let log_det = |features: &Features, items: [usize; 2]| {
        let model = KDpp::new(features, 2).unwrap().including(&items).unwrap();
        model.inference(&Engine::cpu()).unwrap().log_partition_function().value
    };
    assert_relative_eq!(log_det(&weighted, [0, 1]), log_det(&plain, [0, 1]), epsilon = 1e-14);
    assert_relative_eq!(log_det(&weighted, [1, 2]), log_det(&plain, [1, 2]) + 1.0, epsilon = 1e-14);
    // Qualities multiply.
    let twice = weighted.with_log_quality(&[0.0, 0.0, 0.25]).unwrap();
    assert_relative_eq!(log_det(&twice, [1, 2]), log_det(&plain, [1, 2]) + 1.5, epsilon = 1e-14);
    // Shards without weights have weights of one.
    let both = Features::concatenate(&[plain.clone(), weighted.clone()]).unwrap();
    assert_relative_eq!(log_det(&both, [0, 4]), log_det(&plain, [0, 1]) - 1.0, epsilon = 1e-14);
    let copies = LabelCopies::from_labels(&[vec!["a"], vec!["a", "b"], vec!["b"]]).unwrap();
    let copied = copies.features(&weighted).unwrap();
    assert_relative_eq!(log_det(&copied, [1, 3]), log_det(&weighted, [1, 2]), epsilon = 1e-14);
}

#[test]
fn bad_weights_are_refused_by_name() {
    let features = Features::from_rows(2, 2, vec![1.0, 0.0, 0.0, 0.0]).unwrap();
    let weights = |found: Result<Features, Error>| match found.unwrap_err() {
        Error::Weights(problem) => (problem.to_string(), problem),
        other => panic!("{other:?}"),
    };
    let (text, problem) = weights(features.with_scores(&[1.0, f64::NAN], 0.5));
    assert!(matches!(problem, WeightProblem::NotFinite { item: 1, .. }) && text.contains("item 1"), "{text}");
    for diversity in [0.0, -0.5, 1.5, f64::NAN] {
        let (text, problem) = weights(features.with_scores(&[1.0, 1.0], diversity));
        assert!(matches!(problem, WeightProblem::Diversity { .. }) && text.contains("at most 1"), "{text}");
    }
    let (text, problem) = weights(features.with_unit_rows());
    assert!(matches!(problem, WeightProblem::ZeroRow { item: 1 }) && text.contains("item 1"), "{text}");
    let few = features.with_log_quality(&[0.0]);
    assert_error!(few, Error::Shape { expected: 2, found: 1, .. }, ["log-qualities"]);
}

/// Seconds since 1970 work as scores. Nanoseconds and sentinels do not, since lengths of rows are lost next to them.
#[test]
fn weights_beside_which_rows_are_lost_are_refused() {
    let rows = vec![2.0, 0.0, 0.5, 1.0, 0.0, 3.0, 1.0, 1.0];
    let features = Features::from_rows(4, 2, rows).unwrap();
    let inclusion = |features: &Features| {
        KDpp::new(features, 2)
            .unwrap()
            .inference(&Engine::cpu())
            .unwrap()
            .inclusion_probabilities()
            .unwrap()
            .value
    };
    let small = [0.0, 1.0, 2.0, 0.5];
    let expected = inclusion(&features.with_log_quality(&small).unwrap());
    for common in [1e9, -4e9, 4e9] {
        let found = inclusion(&features.with_log_quality(&small.map(|log| common + log)).unwrap());
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-5, "{common:e}: {found} {expected}");
        }
    }
    let partition = Partition::from_labels(&[0, 0, 1, 1]).unwrap();
    let quota = Quota::new(&partition, [1, 1]).unwrap();
    let dots = DotKernel::new(&features);
    let kernel = || KernelModel::new(&dots, &partition, &quota).unwrap();
    let ridge = || RidgeDpp::new(&features, 0.5, &partition, &quota).unwrap();
    for log in [-1e30, f64::MAX, 4.3e9, -4.3e9] {
        let logs = [0.0, 0.0, log, 0.0];
        let found = [
            features.with_log_quality(&logs).err(),
            features.with_scores(&logs.map(|log| 2.0 * log.clamp(-1e300, 1e300)), 0.5).err(),
            kernel().with_log_quality(&logs).err(),
            ridge().with_log_quality(&logs).err(),
        ];
        for problem in found {
            let text = problem.as_ref().map(ToString::to_string).unwrap_or_default();
            let is_named = matches!(problem, Some(Error::Weights(WeightProblem::TooLarge { item: 2, .. })));
            assert!(is_named && text.contains("subtract a common number"), "{log:e}: {text}");
        }
    }
    let twice = features.with_log_quality(&[3e9; 4]).unwrap().with_log_quality(&[3e9; 4]);
    assert!(matches!(twice, Err(Error::Weights(WeightProblem::TooLarge { item: 0, .. }))));
}
