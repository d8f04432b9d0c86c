//! Controls of the checks: each fails on a wrong answer, and passes on a right one.
#![allow(clippy::items_after_statements, reason = "names where they are used")]

use std::{collections::BTreeMap, sync::mpsc, time::Duration};

use oracles::{
    Constraint, Data, Problem,
    checked::{
        DEADLINE, Effort, Kind, Numbers, Outcome, Parts, draws, examine, examine_against, probe, solvers,
        uniform, with_deadline,
    },
    exact::{Law, Set},
    generator,
};
use partition_dpp::{
    Engine, Error, Features, KDpp,
    map::{BranchAndBound, Solver},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const EFFORT: Effort = Effort { draws: 2_000, draws_by_nodes: 2_000, paths: 6, solvers: true };

fn problem(constraint: Constraint) -> Problem {
    let rows = [[1.0, 0.2, -0.4], [0.3, 1.1, 0.5], [-0.7, 0.4, 0.9], [0.2, -1.2, 0.6], [0.8, 0.5, 1.3]];
    Problem::new(rows.map(Vec::from).to_vec(), vec![0, 0, 1, 1, 1], constraint)
}

fn laws() -> [Constraint; 4] {
    let ranges = Constraint::Ranges(vec![0..=1, 1..=2], None);
    [Constraint::Any, Constraint::Size(2), Constraint::Quota(vec![1, 2]), ranges]
}

/// Returns the kinds of faults found if one of the rows given to the library is longer by a factor.
fn kinds_with_a_longer_row(constraint: &Constraint, factor: f64) -> Vec<Kind> {
    let truth = problem(constraint.clone()).minors();
    let mut asked = problem(constraint.clone());
    asked.rows[4].iter_mut().for_each(|x| *x *= factor);
    let report = examine_against(&truth, &asked, &Engine::cpu(), EFFORT, 1);
    let mut kinds: Vec<Kind> = report.faults.iter().map(|fault| fault.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

#[test]
fn right_answers_pass() {
    for law in laws() {
        assert_eq!(kinds_with_a_longer_row(&law, 1.0), [], "{law:?}");
    }
}

#[test]
fn answers_off_by_1e_10_are_caught() {
    use Kind::{Chance, Conditionals, Counts, LogProbabilities, LogZ, Map, Marginals};
    for law in laws() {
        let expected = match law {
            Constraint::Any | Constraint::Size(_) => {
                vec![LogZ, Marginals, LogProbabilities, Counts, Chance, Map]
            }
            Constraint::Quota(_) => vec![LogZ, Marginals, LogProbabilities, Conditionals, Map],
            _ => vec![LogZ, Marginals, LogProbabilities, Map],
        };
        let found = kinds_with_a_longer_row(&law, 1.0 + 1e-10);
        assert!(expected.iter().all(|kind| found.contains(kind)), "{law:?}: {found:?}, not {expected:?}");
    }
}

#[test]
fn draws_from_another_law_are_caught() {
    for law in laws().into_iter().chain([Constraint::Independent(vec![1, 2])]) {
        assert!(kinds_with_a_longer_row(&law, 1.5).contains(&Kind::Draws), "{law:?}");
    }
}

#[test]
fn a_bound_lowered_by_1e_4_is_caught() {
    // The bound of branch and bound lies within 1e-6 of the optimum.
    for law in laws() {
        assert!(kinds_with_a_longer_row(&law, 1.0 - 1e-4).contains(&Kind::Bound), "{law:?}");
    }
    let asked = problem(Constraint::Size(2));
    let features = Features::from_rows(5, 3, asked.rows.concat()).unwrap();
    let solution =
        BranchAndBound::default().solve(&KDpp::new(&features, 2).unwrap(), &Engine::cpu()).unwrap();
    let bound = solution.upper_bound.unwrap();
    for (bound, faults) in [(bound, 0), (bound - 1e-4, 1)] {
        let found =
            probe(&asked, &Engine::cpu(), |examined| solvers::upper_bound(examined, "planted", bound)).faults;
        assert_eq!(found.len(), faults, "{found:?}");
        assert!(found.iter().all(|fault| fault.kind == Kind::Bound));
    }
}

#[test]
fn a_bound_on_a_gaussian_kernel_lowered_by_1e_6_is_caught() {
    let points = [0.0, 0.02, 0.04, 3.0].map(|x| vec![x]).to_vec();
    let mut asked = Problem::new(points, vec![0; 4], Constraint::Size(3));
    asked.data = Data::Gaussian;
    let made = Parts::of(&asked).unwrap();
    let solution =
        BranchAndBound::default().solve(&KDpp::new(&made.features, 3).unwrap(), &Engine::cpu()).unwrap();
    let bound = solution.upper_bound.unwrap();
    for (bound, faults) in [(bound, 0), (bound - 1e-6, 1)] {
        let found =
            probe(&asked, &Engine::cpu(), |examined| solvers::upper_bound(examined, "planted", bound)).faults;
        assert_eq!(found.len(), faults, "{found:?}");
    }
}

#[test]
fn an_error_above_three_times_its_claim_is_caught() {
    let off = |stated: f64| {
        let numbers = Numbers { got: 0.25 + 1e-9, exact: 0.25, stated, floor: 0.0 };
        let report = probe(&problem(Constraint::Any), &Engine::cpu(), |examined| {
            examined.compare(Kind::Marginals, "planted", "item 0", numbers);
        });
        report.faults.len()
    };
    assert_eq!((off(1e-14), off(3e-10), off(4e-10)), (1, 1, 0));
    let not_a_number = Numbers { got: f64::NAN, exact: 0.25, stated: 1.0, floor: 0.0 };
    let found = probe(&problem(Constraint::Any), &Engine::cpu(), |examined| {
        examined.compare(Kind::Marginals, "planted", "item 0", not_a_number);
    });
    assert_eq!(found.faults.len(), 1);
}

#[test]
fn a_refusal_of_well_conditioned_input_is_caught() {
    let error = || Error::IllConditioned { deviation: 1.0, tolerance: 1e-4 };
    let refused = |problem: &Problem| {
        let mut report = probe(problem, &Engine::cpu(), |examined| {
            let _: Option<()> = examined.answered("planted", Err(error()));
        });
        report.well_conditioned = problem.is_well_conditioned(&problem.minors());
        report.wrong().len()
    };
    let mut outlier = problem(Constraint::Any);
    outlier.rows[0].iter_mut().for_each(|x| *x *= 1e9);
    assert_eq!((refused(&problem(Constraint::Any)), refused(&outlier)), (1, 0));
    // Under a quota, parts may be scaled.
    let mut graded = problem(Constraint::Quota(vec![1, 1]));
    graded.rows[..2].iter_mut().flatten().for_each(|x| *x *= 1e30);
    assert_eq!(refused(&graded), 1);
    graded.rows[0].iter_mut().for_each(|x| *x *= 1e9);
    assert_eq!(refused(&graded), 0);
    // If no set is possible, refusals are right and answers are wrong.
    let mut impossible = problem(Constraint::Size(2));
    impossible.rows.iter_mut().skip(1).for_each(|row| row.fill(0.0));
    assert_eq!(refused(&impossible), 0);
    let answered = probe(&impossible, &Engine::cpu(), |examined| {
        examined.answered("planted", Ok(1));
    });
    assert_eq!(answered.faults[0].kind, Kind::Impossible);
}

#[test]
fn a_panic_and_a_hang_are_caught() {
    let panics = with_deadline(DEADLINE, || panic!("planted"));
    assert!(
        matches!(&panics, Outcome::<()>::Panicked(text) if text.contains("planted") && text.contains("controls"))
    );
    // The case waits until the deadline is over.
    let (over, waiting) = mpsc::channel::<()>();
    let hangs = with_deadline(Duration::from_millis(100), move || waiting.recv().unwrap_err());
    assert!(matches!(hangs, Outcome::Hangs));
    drop(over);
    let answers = with_deadline(DEADLINE, || 7);
    assert!(matches!(answers, Outcome::Answered(7)));
}

/// Returns counts of draws from a law whose sets are additionally weighted by `weight`.
fn drawn(law: &Law, weight: impl Fn(Set) -> f64, draws: usize, seed: u64) -> BTreeMap<Set, usize> {
    let weighted: Vec<(Set, f64)> = law.sets().map(|(set, p)| (set, p * weight(set))).collect();
    let total: f64 = weighted.iter().map(|(_, w)| w).sum();
    let mut rng = StdRng::seed_from_u64(seed);
    let mut counts = BTreeMap::new();
    for _ in 0..draws {
        let mut left = rng.random::<f64>() * total;
        let set = weighted.iter().find(|(_, w)| {
            left -= w;
            left <= 0.0
        });
        *counts.entry(set.unwrap_or(&weighted[weighted.len() - 1]).0).or_default() += 1;
    }
    counts
}

/// Returns p-values of draws from the laws of random problems, with sets weighted by a factor if their first item is
/// even.
fn p_values(factor: f64, draws: usize) -> Vec<f64> {
    let law = |seed| {
        let problem: Problem = generator::problem(seed);
        problem.minors().law(|set| problem.allows(set))
    };
    let weight = |set: Set| if set.trailing_zeros().is_multiple_of(2) { factor } else { 1.0 };
    let p_value = |(seed, law): (u64, Option<Law>)| {
        let law = law?;
        draws::p_values(&drawn(&law, weight, draws, seed), &law, draws, 0.0).0
    };
    (0..600).map(|seed| (seed, law(seed))).filter_map(p_value).collect()
}

#[test]
fn p_values_of_right_draws_are_uniform_and_others_are_not() {
    let right = p_values(1.0, 2_000);
    assert!(right.len() > 200, "{}", right.len());
    assert!(uniform::p_value(&right) > 1e-2, "{}", uniform::p_value(&right));
    // A factor of 1.2 is too small to be noticed in most single problems.
    let wrong = p_values(1.2, 2_000);
    assert!(uniform::p_value(&wrong) < 1e-6, "{}", uniform::p_value(&wrong));
    let seen_alone = wrong.iter().filter(|p| **p < 1e-4).count();
    assert!(seen_alone * 2 < wrong.len(), "{seen_alone} of {}", wrong.len());
}

#[test]
fn draws_of_impossible_sets_are_caught() {
    let law = problem(Constraint::Size(2)).minors().law(|set| set.count_ones() == 2).unwrap();
    let mut counts = drawn(&law, |_| 1.0, 2_000, 1);
    assert!(draws::p_values(&counts, &law, 2_000, 1e-12).1 > 0.5);
    // One draw of a set with probability zero, although 1e-12 is allowed.
    counts.insert(0b111, 1);
    assert!(draws::p_values(&counts, &law, 2_001, 1e-12).1 < 1e-8);
}

#[test]
fn every_law_and_every_kind_of_answer_is_compared() {
    let mut compared: BTreeMap<Kind, usize> = BTreeMap::new();
    for law in laws() {
        let report = examine(&problem(law), &Engine::cpu(), EFFORT, 3);
        assert!(report.refusals.is_empty() && report.well_conditioned);
        report.compared.iter().for_each(|(kind, count)| *compared.entry(*kind).or_default() += count);
    }
    use Kind::{Bound, Chance, Conditionals, Counts, Draws, LogProbabilities, LogZ, Map, Marginals};
    for kind in [LogZ, Marginals, LogProbabilities, Counts, Chance, Conditionals, Draws, Map, Bound] {
        assert!(compared.get(&kind).is_some_and(|count| *count > 0), "{kind:?}: {compared:?}");
    }
}
