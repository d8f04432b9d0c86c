//! K + δI against enumeration: features with a ridge under every law, and the mixture that does not need such
//! features.

use std::collections::BTreeMap;

use approx::assert_abs_diff_eq;
use oracles::{
    Constraint, Data, Problem, assert_error,
    checked::{Effort, draws::p_values, examine},
    enumerable_cases,
    exact::{Law, Set, items_of, set_of},
    random::normals,
    stats,
};
use partition_dpp::{
    Engine, Error, Features, Partition, Quota, RidgeDpp, Sampler, SamplerOptions, error::WeightProblem,
    sample::Algorithm,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::weights::{assert_right, laws};

const EFFORT: Effort = Effort { draws: 2_000, draws_by_nodes: 200, paths: 1, solvers: true };

/// Returns the known answers with this ridge.
fn known(
    delta: f64,
    scale: f64,
    constraint: impl Fn(&oracles::Case) -> Constraint,
) -> Vec<(String, Problem)> {
    let mut rng = StdRng::seed_from_u64(11);
    let cases = enumerable_cases().into_iter().filter(|case| case.items() <= 12);
    let problem = |case: oracles::Case| {
        let mut problem = Problem::new(case.rows.clone(), case.labels.clone(), constraint(&case));
        problem.data = if case.dense { Data::Kernel } else { Data::Features };
        problem = problem.with_ridge(delta);
        if scale > 0.0 {
            problem.log_weights = (0..case.items()).map(|_| scale * rng.random_range(-1.0..1.0)).collect();
        }
        (case.name, problem)
    };
    cases.map(problem).collect()
}

#[test]
fn features_with_a_ridge_under_every_law() {
    for law in laws() {
        for (first, delta, scale) in [(0, 0.5, 0.0), (1, 1e-3, 1.0)] {
            for (name, problem) in known(delta, scale, law).into_iter().skip(first).step_by(2) {
                assert_right(&name, &problem, &examine(&problem, &Engine::cpu(), EFFORT, 1));
            }
        }
    }
}

/// Returns three parts of three rows with two features, under laws that need up to all nine.
pub(crate) fn generic(constraint: Constraint, delta: f64, scale: f64, seed: u64) -> Problem {
    let mut rng = StdRng::seed_from_u64(seed);
    let rows = (0..9).map(|_| (0..2).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
    let problem = Problem::new(rows, vec![0, 0, 0, 1, 1, 1, 2, 2, 2], constraint);
    let mut problem = problem.with_ridge(delta);
    if scale > 0.0 {
        problem.log_weights = (0..9).map(|_| scale * rng.random_range(-1.0..1.0)).collect();
    }
    problem
}

pub(crate) fn constraints() -> Vec<Constraint> {
    vec![
        Constraint::Quota(vec![1, 1, 1]),
        Constraint::Quota(vec![2, 1, 3]),
        Constraint::Quota(vec![0, 3, 2]),
        Constraint::Ranges(vec![1..=2, 0..=2, 0..=1], None),
        // Wider than the number of features: drawn as sets of any size, and accepted.
        Constraint::Ranges(vec![1..=2, 0..=3, 0..=1], None),
        Constraint::Ranges(vec![2..=3, 3..=3, 0..=2], None),
        Constraint::Ranges(vec![0..=3, 0..=3, 0..=3], None),
    ]
}

/// Returns the mixture for a problem, without features for the ridge.
pub(crate) fn mixture(problem: &Problem) -> RidgeDpp {
    let (rows, delta) = problem.ridge.as_ref().unwrap();
    let features = Features::from_rows(rows.len(), rows[0].len(), rows.concat()).unwrap();
    let partition = Partition::from_labels(&problem.labels).unwrap();
    let quota = match &problem.constraint {
        Constraint::Quota(counts) => Quota::new(&partition, counts),
        Constraint::Ranges(ranges, None) => Quota::new(&partition, ranges),
        Constraint::Ranges(ranges, Some(total)) => Quota::new(&partition, ranges).unwrap().with_total(*total),
        other => panic!("{other:?}"),
    };
    let dpp = RidgeDpp::new(&features, *delta, &partition, &quota.unwrap()).unwrap();
    let dpp = if problem.log_weights.is_empty() {
        dpp
    } else {
        dpp.with_log_quality(&problem.log_weights).unwrap()
    };
    dpp.including(&problem.include).unwrap().excluding(&problem.exclude).unwrap()
}

pub(crate) fn law(problem: &Problem) -> Law {
    problem.minors().law(|set| problem.allows(set)).unwrap()
}

fn drawn(dpp: &RidgeDpp, draws: u64, seed: u64) -> BTreeMap<Set, usize> {
    counted(&dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap(), draws, seed)
}

fn counted(sampler: &Sampler, draws: u64, seed: u64) -> BTreeMap<Set, usize> {
    assert!(sampler.law_error() < 1e-10);
    let mut counts = BTreeMap::new();
    for subset in sampler.sample_many(draws, seed).subsets() {
        *counts.entry(set_of(subset.iter())).or_default() += 1;
    }
    counts
}

/// Returns the p-value of draws, and the p-value of sets that should not occur.
fn p_value(problem: &Problem, draws: u64, seed: u64) -> f64 {
    let (p, rare) = p_values(&drawn(&mixture(problem), draws, seed), &law(problem), draws as usize, 1e-9);
    p.unwrap_or(1.0).min(if rare < 1e-9 { 0.0 } else { 1.0 })
}

pub(crate) fn cases() -> Vec<Problem> {
    let mut problems: Vec<Problem> = constraints()
        .into_iter()
        .flat_map(|law| {
            [(0.02, 1), (0.3, 2), (5.0, 3)].map(|(delta, seed)| generic(law.clone(), delta, 0.0, seed))
        })
        .collect();
    for (_, problem) in known(0.1, 0.0, |case| Constraint::Quota(case.quota.clone())) {
        if problem.data == Data::Features {
            problems.push(problem);
        }
    }
    let conditioned = problems.iter().take(6).cloned().map(|mut problem| {
        (problem.include, problem.exclude) = (vec![5], vec![1]);
        problem
    });
    let conditioned: Vec<Problem> = conditioned.collect();
    problems.extend(conditioned);
    problems
}

#[test]
fn the_mixture_draws_from_the_law() {
    for (seed, problem) in (0..).zip(cases()) {
        let p = p_value(&problem, 20_000, seed);
        assert!(p > stats::ALPHA / 1000.0, "p = {p:e}\n{problem}");
    }
}

#[test]
fn items_are_added_by_their_quality() {
    for (seed, law) in (0..).zip(constraints()) {
        for (delta, scale) in [(0.05, 0.7), (1.0, 2.0)] {
            let mut problem = generic(law.clone(), delta, scale, seed);
            let p = p_value(&problem, 20_000, seed);
            assert!(p > stats::ALPHA / 1000.0, "p = {p:e}\n{problem}");
            if seed != 2 {
                (problem.include, problem.exclude) = (vec![7], vec![]);
                let p = p_value(&problem, 20_000, seed);
                assert!(p > stats::ALPHA / 1000.0, "p = {p:e}\n{problem}");
            }
        }
    }
}

/// Sets of any size are never rejected, and sets under wide ranges rarely.
#[test]
fn wide_ranges_are_drawn_as_sets_of_any_size() {
    let algorithm = |ranges: [std::ops::RangeInclusive<usize>; 3]| {
        let problem = generic(Constraint::Ranges(ranges.to_vec(), None), 0.5, 1.0, 1);
        let sampler = mixture(&problem).sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
        (sampler.algorithm(), sampler.bound())
    };
    assert_eq!(algorithm([0..=3, 0..=3, 0..=3]), (Algorithm::Spectral, None));
    assert_eq!(algorithm([1..=3, 0..=3, 0..=2]), (Algorithm::Rejection, None));
    assert!(matches!(algorithm([1..=2, 0..=2, 0..=2]), (Algorithm::Rejection, Some(_))));
}

/// Each part by itself follows the law of parts that share no features.
#[test]
fn independent_parts() {
    let ranges = Constraint::Ranges(vec![1..=2, 0..=3, 2..=2], None);
    for (seed, constraint) in (0..).zip([Constraint::Quota(vec![2, 1, 3]), ranges]) {
        for scale in [0.0, 1.0] {
            let mut problem = generic(constraint.clone(), 0.3, scale, seed);
            (problem.include, problem.exclude) = (vec![0], vec![7]);
            problem.exclude.truncate(usize::from(seed > 0));
            let dpp = mixture(&problem);
            let (rows, delta) = problem.ridge.clone().unwrap();
            let apart = rows.iter().zip(&problem.labels).map(|(row, part)| {
                let mut apart = vec![0.0; 6];
                apart[2 * part..2 * part + 2].copy_from_slice(row);
                apart
            });
            let mut apart = Problem::new(apart.collect(), problem.labels.clone(), constraint.clone());
            (apart.include, apart.exclude) = (problem.include.clone(), problem.exclude.clone());
            apart.log_weights = problem.log_weights.clone();
            let apart = apart.with_ridge(delta);
            let sampler = dpp.independent_sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
            let (p, rare) = p_values(&counted(&sampler, 20_000, seed), &law(&apart), 20_000, 1e-9);
            assert!(p.unwrap_or(1.0) > stats::ALPHA / 1000.0 && rare > 1e-9, "{p:?}\n{problem}");
            // The law of all parts together is different.
            let (p, _) = p_values(&drawn(&dpp, 20_000, seed), &law(&apart), 20_000, 1e-9);
            assert!(p.unwrap() < 1e-6, "{p:?}\n{problem}");
        }
    }
}

/// The check distinguishes the laws that faulty draws would have.
#[test]
fn planted_faults_are_noticed() {
    let plain = generic(Constraint::Quota(vec![2, 1, 2]), 0.2, 0.0, 4);
    let weighted = generic(Constraint::Quota(vec![2, 1, 2]), 0.2, 1.0, 4);
    let draws = 20_000;
    let distance = |problem: &Problem, weight: &dyn Fn(Set) -> f64| {
        let sets: Vec<Set> = problem.minors().sets().filter(|set| problem.allows(*set)).collect();
        let whole: f64 = sets.iter().map(|set| weight(*set)).sum();
        let counts = drawn(&mixture(problem), draws, 4);
        let off = |set: &Set| {
            let expected = draws as f64 * weight(*set) / whole;
            (counts.get(set).copied().unwrap_or(0) as f64 - expected).powi(2) / expected
        };
        sets.iter().map(off).sum::<f64>() / sets.len() as f64
    };
    let expansion = |problem: &Problem, fill: &dyn Fn(Set, Set) -> f64| {
        let (rows, delta) = problem.ridge.clone().unwrap();
        let mut kernel = Problem { rows, ridge: None, ..problem.clone() };
        kernel.constraint = Constraint::Any;
        let minors = kernel.minors();
        let subsets = move |set: Set| (0..=set).filter(move |t| t & !set == 0);
        let of = move |set: Set| -> f64 {
            let term = |t: Set| {
                let det = if t == 0 { 1.0 } else { minors.log_det(t).exp() };
                det * delta.powi((set & !t).count_ones().cast_signed()) * fill(set, t)
            };
            subsets(set).map(term).sum()
        };
        distance(problem, &of)
    };
    let quality = |problem: &Problem, set: Set| {
        items_of(set).into_iter().map(|item| (2.0 * problem.log_weight(item)).exp()).product::<f64>()
    };
    assert!(expansion(&plain, &|_, _| 1.0) < 1.5);
    // Fault without binomials: T is weighted by how often it is drawn, not by how often it can be filled up.
    let binomials = |set: Set, t: Set| {
        let part = |l: usize| {
            let (of_set, of_t) = ((set >> (3 * l) & 7).count_ones(), (t >> (3 * l) & 7).count_ones());
            let (free, added) = (3 - of_t, of_set - of_t);
            f64::from(if added == 0 || added == free { 1 } else { 3_u32.min(free) })
        };
        (0..3).map(part).product::<f64>().recip()
    };
    assert!(expansion(&plain, &binomials) > 3.0);
    assert!(expansion(&weighted, &|set, t| quality(&weighted, set & !t)) < 1.5);
    // Fault: items are added uniformly.
    assert!(expansion(&weighted, &|_, _| 1.0) > 3.0);
}

#[test]
fn what_a_ridge_refuses() {
    let features = Features::from_rows(4, 1, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let partition = Partition::from_labels(&["a", "a", "b", "b"]).unwrap();
    let quota = Quota::new(&partition, [2, 1]).unwrap();
    for delta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let made = RidgeDpp::new(&features, delta, &partition, &quota).map(|_| ());
        assert_error!(made, Error::NotPositive { .. }, ["ridge"]);
        assert_error!(features.with_ridge(delta).map(|_| ()), Error::NotPositive { .. }, ["ridge"]);
    }
    let dpp = RidgeDpp::new(&features, 0.5, &partition, &quota).unwrap();
    assert_error!(
        dpp.clone().including(&[2, 3]).map(|_| ()),
        Error::QuotaBelowIncluded { included: 2, .. },
        ["b"]
    );
    assert_error!(dpp.clone().excluding(&[0]).map(|_| ()), Error::QuotaAbovePartSize { size: 1, .. }, ["a"]);
    let both = dpp.clone().including(&[0]).unwrap().excluding(&[0]).map(|_| ());
    assert_error!(both, Error::IncludedAndExcluded { item: 0 }, ["item 0"]);
    let ranges = Quota::new(&partition, [0..=2, 0..=2]).unwrap().with_total(3).unwrap();
    let dpp_of_total = RidgeDpp::new(&features, 0.5, &partition, &ranges).unwrap();
    let made = dpp_of_total.sampler(SamplerOptions::default(), &Engine::cpu()).map(|_| ());
    assert_error!(made, Error::CountsNotExact { .. }, ["a ridge under a total"]);
    assert_error!(dpp_of_total.parts().map(|_| ()), Error::CountsNotExact { .. }, ["every part by itself"]);
    // Faults in conditions and totals.
    let of =
        |conditions: fn(RidgeDpp) -> Result<RidgeDpp, Error>| conditions(dpp_of_total.clone()).map(|_| ());
    assert_error!(
        of(|dpp| dpp.including(&[0, 1, 2, 3])),
        Error::SizeBelowIncluded { k: 3, included: 4 },
        ["k = 3"]
    );
    assert_error!(
        of(|dpp| dpp.excluding(&[0, 2])),
        Error::TotalOutsideRanges { total: 3, high: 2, .. },
        ["3"]
    );
    // Scores of a thousand need features for the ridge.
    let far = dpp.clone().with_scores(&[1000.0, -1000.0, 0.0, 0.0], 0.5).unwrap();
    let refused = far.sampler(SamplerOptions::default(), &Engine::cpu()).map(|_| ());
    assert!(matches!(refused, Err(Error::Weights(WeightProblem::Spread))), "{refused:?}");
}

/// All items of a part, dependent included items, and rows of zeros.
#[test]
fn corners_of_the_mixture() {
    let features = Features::from_rows(5, 1, vec![0.0, 0.0, 2.0, 2.0, 4.0]).unwrap();
    let partition = Partition::from_labels(&["a", "a", "b", "b", "b"]).unwrap();
    let dpp = |counts: [usize; 2]| {
        RidgeDpp::new(&features, 0.5, &partition, &Quota::new(&partition, counts).unwrap()).unwrap()
    };
    let sample = |dpp: &RidgeDpp| {
        dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap().sample_many(1, 3).subsets()[0].clone()
    };
    assert_eq!(sample(&dpp([2, 3])).as_slice(), [0, 1, 2, 3, 4]);
    assert_eq!(sample(&dpp([2, 2]).including(&[2, 3]).unwrap()).as_slice(), [0, 1, 2, 3]);
    let zeros = dpp([1, 0]);
    let found = zeros.inference(&Engine::cpu()).unwrap().inclusion_probabilities().unwrap().value;
    found.iter().zip([0.5, 0.5, 0.0, 0.0, 0.0]).for_each(|(p, exact)| {
        assert_abs_diff_eq!(*p, exact, epsilon = 1e-14);
    });
    // A part from which nothing is chosen, and nothing left to choose.
    let apart = dpp([2, 0]).independent_sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
    assert_eq!(apart.sample_many(1, 0).subsets()[0].as_slice(), [0, 1]);
    let none = RidgeDpp::of_any_size(&features, 0.5).unwrap().excluding(&[0, 1, 2, 3, 4]).unwrap();
    assert!(sample(&none).is_empty());
    // A whole part is included, with scores.
    let scored = dpp([2, 1]).with_log_quality(&[0.1, 0.2, 0.3, 0.4, 0.5]).unwrap();
    let whole = sample(&scored.including(&[0, 1]).unwrap());
    assert_eq!((whole.len(), &whole.as_slice()[..2]), (3, &[0, 1][..]));
    // det diag(δ) twice.
    assert_abs_diff_eq!(
        zeros.inference(&Engine::cpu()).unwrap().log_partition_function().value,
        0.0,
        epsilon = 1e-14
    );
}

/// Once, the stated error was a thousand times too large and divided by the acceptance, so larger problems were
/// refused.
#[test]
fn wide_rows_are_drawn_accurately() {
    let (items, dims) = (150, 1000);
    let features =
        Features::from_rows(items, dims, normals(items * dims, 1)).unwrap().with_unit_rows().unwrap();
    for delta in [0.1, 1.0] {
        for k in [50, 112] {
            let dpp = RidgeDpp::of_size(&features, delta, k).unwrap();
            let error = dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap().law_error();
            assert!(error < 1e-9, "ridge {delta}, k = {k}: {error:e}");
        }
    }
}
