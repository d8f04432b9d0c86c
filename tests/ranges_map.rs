//! The most probable set under ranges of part counts: every solver and every bound against enumeration.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests panic and report")]

mod common;
mod models;
mod solvers;

use std::ops::RangeInclusive;

use common::{
    Case, enumerable_cases,
    oracle::{Determinants, counts},
    random::normals,
};
use partition_dpp::{
    Bound, BranchAndBound, Certificate, Dpp, Features, Greedy, KDpp, LocalSearch, Objective, Partition,
    PartitionDpp, Quota, RangeDpp, RangeQuota, Restarts, Solution, Termination, UpperBound, engine::Cpu,
};
use proptest::prelude::*;

/// Ranges around the quota of a case, in several shapes.
fn shapes(case: &Case, partition: &Partition) -> Vec<(&'static str, RangeQuota)> {
    let quota = &case.quota;
    let around = |down: usize, up: usize| -> Vec<RangeInclusive<usize>> {
        quota.iter().map(|&count| count.saturating_sub(down)..=count + up).collect()
    };
    let ranges = |ranges: &[RangeInclusive<usize>]| RangeQuota::new(partition, ranges).unwrap();
    let k = quota.iter().sum();
    let mut first_fixed = around(99, 99);
    first_fixed[0] = quota[0]..=quota[0];
    let mut last_open = around(0, 0);
    *last_open.last_mut().unwrap() = 0..=99;
    vec![
        ("fixed", ranges(&around(0, 0))),
        ("any", ranges(&around(99, 99))),
        ("any of a size", ranges(&around(99, 99)).with_total(k).unwrap()),
        ("at most", ranges(&around(99, 0))),
        ("at least", ranges(&around(0, 99))),
        ("one more or less", ranges(&around(1, 1))),
        ("one more or less, with a total", ranges(&around(1, 1)).with_total(k).unwrap()),
        ("at least, with a total", ranges(&around(1, 99)).with_total(k).unwrap()),
        ("one part fixed", ranges(&first_fixed)),
        ("one part open", ranges(&last_open)),
    ]
}

/// All sets of at most 20 items.
fn subsets(items: usize) -> impl Iterator<Item = Vec<usize>> {
    (0_u32..1 << items).map(move |mask| (0..items).filter(|i| mask >> i & 1 == 1).collect())
}

/// Enumeration of what the solvers look for.
struct Truth {
    oracle: Determinants,
    labels: Vec<usize>,
    quota: RangeQuota,
    best: f64,
}

impl Truth {
    fn new(oracle: Determinants, labels: &[usize], quota: &RangeQuota) -> Self {
        let mut truth = Self { oracle, labels: labels.to_vec(), quota: quota.clone(), best: 0.0 };
        let allowed = subsets(labels.len()).filter(|set| truth.allows(set));
        truth.best = allowed.map(|set| truth.log_det(&set)).fold(f64::NEG_INFINITY, f64::max);
        truth
    }

    fn allows(&self, set: &[usize]) -> bool {
        self.quota.allows(&counts(set, &self.labels, self.quota.low().len()))
    }

    fn log_det(&self, set: &[usize]) -> f64 {
        self.oracle.det(set).ln()
    }

    fn slack(&self) -> f64 {
        1e-9 * (1.0 + self.best.abs())
    }

    /// What is wrong with a solution; nothing if it is allowed, worth what it says and not above the optimum.
    fn fault(&self, solution: &Solution) -> String {
        let (set, slack) = (solution.subset.as_slice(), self.slack());
        let worth = self.log_det(set);
        if solution.missing > 0 || !self.allows(set) {
            return format!("{set:?} is not allowed, {} missing", solution.missing);
        }
        if (worth - solution.log_det).abs() > slack || worth > self.best + slack {
            return format!("{set:?} is worth {worth}, not {}; at most {}", solution.log_det, self.best);
        }
        String::new()
    }

    /// The same for a proven optimum.
    fn fault_of_proof(&self, solution: &Solution) -> String {
        let bound = solution.upper_bound.unwrap();
        if solution.termination != Termination::Optimal || solution.log_det < self.best - self.slack() {
            return format!("{} at {}, the optimum is {}", solution.termination, solution.log_det, self.best);
        }
        if bound < self.best - self.slack() || bound > solution.log_det + 1e-6 {
            return format!("the bound is {bound}, the optimum {}", self.best);
        }
        self.fault(solution)
    }

    /// By how much the best set with at most one item out and one in is better than a set.
    fn gain_of_a_move(&self, set: &[usize]) -> f64 {
        let now = self.log_det(set);
        let mut best = f64::NEG_INFINITY;
        for leaving in set.iter().map(Some).chain([None]) {
            for entering in (0..self.labels.len()).filter(|item| !set.contains(item)).map(Some).chain([None])
            {
                let kept = set.iter().filter(|&item| Some(item) != leaving);
                let mut other: Vec<usize> = kept.copied().chain(entering).collect();
                other.sort_unstable();
                if other != set && self.allows(&other) {
                    best = best.max(self.log_det(&other) - now);
                }
            }
        }
        best
    }

    /// The bounds below the optimum.
    fn violations(&self, certificate: &Certificate) -> Vec<(Bound, f64)> {
        let below = |bound: f64| bound < self.best - 1e-10 * (1.0 + self.best.abs());
        certificate.bounds.iter().copied().filter(|&(_, bound)| below(bound)).collect()
    }

    /// The greedy set by the definition: of all items that leave an allowed set within reach the one that gains most,
    /// if it gains anything or something is missing; those that are missing, or gain, before others.
    fn greedy(&self, dims: usize) -> Vec<usize> {
        let parts = self.quota.low().len();
        let reachable: Vec<Vec<usize>> = subsets(self.labels.len())
            .map(|set| counts(&set, &self.labels, parts))
            .filter(|counts| counts.iter().sum::<usize>() <= dims && self.quota.allows(counts))
            .collect();
        let missing = |set: &[usize]| {
            let own = counts(set, &self.labels, parts);
            let above = reachable.iter().filter(|counts| counts.iter().zip(&own).all(|(c, own)| c >= own));
            above.map(|counts| counts.iter().sum::<usize>() - set.len()).min()
        };
        // Parts that have to be in as a whole are in before anything is picked.
        let whole = |part: usize| {
            let size = self.labels.iter().filter(|&&label| label == part).count();
            reachable.iter().all(|counts| counts[part] == size)
        };
        let mut set: Vec<usize> = (0..self.labels.len()).filter(|&item| whole(self.labels[item])).collect();
        loop {
            let mut best: Option<((bool, f64), usize)> = None;
            for item in (0..self.labels.len()).filter(|item| !set.contains(item)) {
                let with = [&set[..], &[item]].concat();
                let gain = self.log_det(&with) - self.log_det(&set);
                let Some(left) = missing(&with) else { continue };
                let worth = (gain > 0.0 || left < missing(&set).unwrap(), gain);
                if best.is_none_or(|(known, _)| worth > known) {
                    best = Some((worth, item));
                }
            }
            match best {
                Some(((true, _), item)) => set.push(item),
                _ => break,
            }
        }
        set.sort_unstable();
        set
    }
}

fn exact(model: &impl Objective) -> Solution {
    BranchAndBound::default().solve(model, &Cpu).unwrap()
}

fn restarted(model: &impl Objective) -> Solution {
    LocalSearch::default().with_restarts(Restarts::Count(20)).solve(model, &Cpu).unwrap()
}

/// All solvers and bounds of a model; whether local search found the optimum at once, and with restarts.
fn check(what: &str, model: &RangeDpp<'_>, truth: &Truth) -> (bool, bool) {
    let greedy = solvers::solve(model, what);
    let local = LocalSearch::default().solve(model, &Cpu).unwrap();
    let restarted = restarted(model);
    for (solver, solution) in [("greedy", &greedy), ("local search", &local), ("restarts", &restarted)] {
        assert_eq!(truth.fault(solution), "", "{what}: {solver}");
    }
    let slack = truth.slack();
    assert!(local.log_det >= greedy.log_det - slack && restarted.log_det >= local.log_det - slack, "{what}");
    let gain = truth.gain_of_a_move(local.subset.as_slice());
    assert!(gain < 1e-8, "{what}: a move of {} gains {gain}", local.subset);
    assert_eq!(truth.fault_of_proof(&exact(model)), "", "{what}");
    let certificate = UpperBound::default().certify(model, &Cpu).unwrap();
    assert_eq!(truth.violations(&certificate), [], "{what}");
    let found = |solution: &Solution| solution.log_det > truth.best - slack;
    (found(&local), found(&restarted))
}

#[test]
fn all_shapes_of_the_known_cases() {
    let (mut all, mut at_once, mut with_restarts) = (0, 0, 0);
    for case in enumerable_cases() {
        let (features, partition) = (case.features(), Partition::from_labels(&case.labels).unwrap());
        for (shape, quota) in shapes(&case, &partition) {
            let what = format!("{}, {shape}", case.name);
            let model = RangeDpp::new(&features, &partition, &quota).unwrap();
            let found = check(&what, &model, &Truth::new(case.oracle(), &case.labels, &quota));
            all += 1;
            at_once += usize::from(found.0);
            with_restarts += usize::from(found.1);
        }
    }
    println!("{all} models; local search finds {at_once} optima, with restarts {with_restarts}");
    assert!(all == 150 && with_restarts >= 149, "{with_restarts} of {all}");
}

/// What one model says of the best set, and how much one may be above another.
fn answers(model: &impl Objective) -> [f64; 4] {
    let bound = UpperBound::default().certify(model, &Cpu).unwrap().upper_bound;
    [
        exact(model).log_det,
        Greedy::default().solve(model, &Cpu).unwrap().log_det,
        restarted(model).log_det,
        bound,
    ]
}

#[test]
fn other_models_are_special_cases() {
    for case in enumerable_cases() {
        let (features, partition) = (case.features(), Partition::from_labels(&case.labels).unwrap());
        let quota = Quota::new(&partition, &case.quota).unwrap();
        let shapes = shapes(&case, &partition);
        let of = |at: usize| answers(&RangeDpp::new(&features, &partition, &shapes[at].1).unwrap());
        let k = case.quota.iter().sum();
        let pairs = [
            (of(0), answers(&PartitionDpp::new(&features, &partition, &quota).unwrap())),
            (of(1), answers(&Dpp::new(&features).unwrap())),
            (of(2), answers(&KDpp::new(&features, k).unwrap())),
        ];
        for ((ranges, other), (shape, _)) in pairs.iter().zip(&shapes) {
            for (at, (x, y)) in ranges.iter().zip(other).enumerate() {
                // Of parts of other magnitudes or with parameters to tune bounds agree less well.
                let close = if at == 3 { 5e-3 } else { 1e-9 } * (1.0 + y.abs());
                assert!((x - y).abs() <= close, "{}, {shape}, {at}: {x} {y}", case.name);
            }
        }
    }
}

/// Random parts, ranges, scales of rows and of parts.
#[derive(Clone, Debug)]
struct Instance {
    rows: Vec<Vec<f64>>,
    labels: Vec<usize>,
    ranges: Vec<RangeInclusive<usize>>,
    total: Option<usize>,
}

fn instances() -> impl Strategy<Value = Instance> {
    let part = (0_usize..=3, 0_usize..=3, prop_oneof![-3.0_f64..3.0, -12.0_f64..12.0]);
    let parts = prop::collection::vec(part, 1..=4);
    let items = prop_oneof![Just(9_usize), Just(11)];
    (parts, items, 3_usize..=11, 0_u64..1 << 40, 0_usize..=8).prop_map(|(parts, items, dims, seed, total)| {
        let labels: Vec<usize> = (0..items).map(|item| item % parts.len()).collect();
        let values = normals(items * dims, seed);
        let row = |item: usize| -> Vec<f64> {
            let factor = (parts[labels[item]].2 - 0.5).exp();
            values[item * dims..(item + 1) * dims].iter().map(|x| factor * x).collect()
        };
        let rows = (0..items).map(row).collect();
        let size = |l: usize| labels.iter().filter(|&&label| label == l).count();
        let range = |(l, &(low, width, _)): (usize, &(usize, usize, f64))| {
            let low = low.min(size(l));
            low..=(low + width).max(1)
        };
        let ranges: Vec<RangeInclusive<usize>> = parts.iter().enumerate().map(range).collect();
        // Half of them without a total.
        Instance { rows, labels, ranges, total: (total % 2 == 0).then_some(total / 2 + 1) }
    })
}

impl Instance {
    /// Calls `body` unless no set is allowed.
    fn with_model(&self, body: impl FnOnce(&RangeDpp<'_>, &Truth)) {
        let partition = Partition::from_labels(&self.labels).unwrap();
        let quota = RangeQuota::new(&partition, &self.ranges).unwrap();
        let quota = match self.total {
            Some(total) => quota.with_total(total),
            None => Ok(quota),
        };
        let Ok(quota) = quota else { return };
        let features = Features::from_rows(self.rows.len(), self.rows[0].len(), self.rows.concat()).unwrap();
        let truth = Truth::new(Determinants::of_features(self.rows.clone()), &self.labels, &quota);
        let model = RangeDpp::new(&features, &partition, &quota);
        assert_eq!(model.is_ok(), truth.best.is_finite());
        if let Ok(model) = model {
            body(&model, &truth);
        }
    }
}

proptest! {
    #![proptest_config(models::config(150))]

    #[test]
    fn all_solvers_of_random_models(instance in instances()) {
        instance.with_model(|model, truth| {
            check("random", model, truth);
        });
    }

    #[test]
    fn greedy_is_what_it_says(instance in instances()) {
        instance.with_model(|model, truth| {
            let greedy = Greedy::default().solve(model, &Cpu).unwrap();
            assert_eq!(greedy.subset.as_slice(), truth.greedy(instance.rows[0].len()));
        });
    }
}

#[test]
fn what_a_part_needs_is_made_room_for() {
    // Greedy takes both axes of part 0, and part 1 has only the first of them.
    let rows = [[2.0, 0.0, 0.0], [0.0, 1.5, 0.0], [1.2, 0.0, 0.0], [1.1, 0.0, 0.0], [0.0, 0.0, 1.05]];
    let labels = [0, 0, 1, 1, 2];
    let features = Features::from_rows(5, 3, rows.concat()).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let oracle = || Determinants::of_features(rows.iter().map(|row| row.to_vec()).collect());
    let quota = RangeQuota::new(&partition, &[0..=2, 1..=2, 0..=1]).unwrap();
    for quota in [quota.clone(), quota.clone().with_total(2).unwrap(), quota.with_total(3).unwrap()] {
        let model = RangeDpp::new(&features, &partition, &quota).unwrap();
        let truth = Truth::new(oracle(), &labels, &quota);
        let greedy = solvers::solve(&model, "repair");
        assert_eq!(truth.fault(&greedy), "");
        // With two items in all, room for part 1 is kept: the second pick is of part 1, and depends on the first.
        assert_eq!(greedy.stats.repairs, 1, "{quota:?}");
        check("repair", &model, &truth);
    }
}

#[test]
fn with_items_in_and_out() {
    for seed in 0..12 {
        let (items, dims) = (11, 6);
        let rows: Vec<Vec<f64>> = normals(items * dims, seed)
            .chunks(dims)
            .map(|row| row.iter().map(|x| 0.7 * x).collect())
            .collect();
        let labels: Vec<usize> = (0..items).map(|item| item % 3).collect();
        let features = Features::from_rows(items, dims, rows.concat()).unwrap();
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = RangeQuota::new(&partition, &[1..=2, 1..=3, 0..=2]).unwrap();
        for quota in [quota.clone(), quota.with_total(4).unwrap()] {
            let model = RangeDpp::new(&features, &partition, &quota).unwrap();
            let model = model.including(&[1, 6]).unwrap().excluding(&[0, 4]).unwrap();
            let allowed = |set: &[usize]| {
                [1, 6].iter().all(|item| set.contains(item)) && [0, 4].iter().all(|item| !set.contains(item))
            };
            let truth = Truth::new(Determinants::of_features(rows.clone()), &labels, &quota);
            let sets = subsets(items).filter(|set| truth.allows(set) && allowed(set));
            let best = sets.map(|set| truth.log_det(&set)).fold(f64::NEG_INFINITY, f64::max);
            let truth = Truth { best, ..truth };
            for solution in [Greedy::default().solve(&model, &Cpu).unwrap(), restarted(&model), exact(&model)]
            {
                assert_eq!(truth.fault(&solution), "");
                assert!(allowed(solution.subset.as_slice()));
            }
            assert_eq!(truth.fault_of_proof(&exact(&model)), "");
            let certificate = UpperBound::default().certify(&model, &Cpu).unwrap();
            assert_eq!(truth.violations(&certificate), []);
        }
    }
}

#[test]
fn many_items() {
    // Bounds by a few items at a time, and of few items at once: one item more is of no use to any set. Weights of
    // parts are found by other items.
    let (items, dims) = (400, 9);
    let values = normals(items * dims, 21);
    let gamma = |model: &RangeDpp<'_>| {
        let certificate = UpperBound::default().certify(model, &Cpu).unwrap();
        certificate.bounds.iter().find(|(bound, _)| *bound == Bound::Gamma).unwrap().1
    };
    for (ranges, total) in [([1..=2, 0..=3, 2..=9], None), ([0..=2, 1..=4, 0..=3], Some(5))] {
        let bounds = [0, 1].map(|more| {
            let values = [values.clone(), vec![1e-3; more * dims]].concat();
            let features = Features::from_rows(items + more, dims, values).unwrap();
            let labels: Vec<usize> = (0..items + more).map(|item| item % 3).collect();
            let partition = Partition::from_labels(&labels).unwrap();
            let quota = RangeQuota::new(&partition, &ranges).unwrap();
            let quota = total.map_or(quota.clone(), |total| quota.with_total(total).unwrap());
            let model = RangeDpp::new(&features, &partition, &quota).unwrap();
            let found = LocalSearch::default().solve(&model, &Cpu).unwrap();
            assert!(quota.allows(&found.subset.part_counts(&partition)) && found.missing == 0);
            (gamma(&model), found.log_det)
        });
        println!("{bounds:?}");
        assert!((bounds[0].0 - bounds[1].0).abs() < 0.1, "{bounds:?}");
        assert!(bounds.iter().all(|(bound, found)| bound > found), "{bounds:?}");
    }
}

#[test]
fn many_items_are_left_out_by_bounds() {
    let (items, dims) = (900, 5);
    let features = Features::from_rows(items, dims, normals(items * dims, 5)).unwrap();
    let labels: Vec<usize> = (0..items).map(|item| item % 3).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = RangeQuota::new(&partition, &[0..=2, 1..=2, 0..=1]).unwrap().with_total(3).unwrap();
    let model = RangeDpp::new(&features, &partition, &quota).unwrap();
    let found = exact(&model);
    assert_eq!(found.termination, Termination::Optimal);
    // The best of all quotas that the ranges allow.
    let quotas = [[0, 2, 1], [1, 1, 1], [1, 2, 0], [2, 1, 0]];
    let best = quotas.map(|counts| {
        let quota = Quota::new(&partition, &counts).unwrap();
        exact(&PartitionDpp::new(&features, &partition, &quota).unwrap()).log_det
    });
    let best = best.into_iter().fold(f64::NEG_INFINITY, f64::max);
    assert!((found.log_det - best).abs() < 1e-6, "{} {best}", found.log_det);
}

#[test]
fn bounds_know_what_parts_need() {
    // Two of the short rows have to be in, and no third of the long ones may.
    let rows: Vec<Vec<f64>> = (0..12)
        .map(|item| {
            let (first, length) = if item < 6 { (0, 0.1) } else { (3, 2.0) };
            let noise = &normals(12 * 6, 9)[6 * item..6 * item + 6];
            (0..6).map(|j| if (first..first + 3).contains(&j) { length * noise[j] } else { 0.0 }).collect()
        })
        .collect();
    let labels: Vec<usize> = (0..12).map(|item| item / 6).collect();
    let features = Features::from_rows(12, 6, rows.concat()).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = RangeQuota::new(&partition, &[2..=3, 0..=2]).unwrap();
    let truth = Truth::new(Determinants::of_features(rows), &labels, &quota);
    let model = RangeDpp::new(&features, &partition, &quota).unwrap();
    let certificate = UpperBound::default().certify(&model, &Cpu).unwrap();
    assert_eq!(truth.violations(&certificate), []);
    for (bound, value) in certificate.bounds {
        println!("{bound}: {:.3} above", value - truth.best);
        assert!(bound == Bound::Spectral || value < truth.best + 1.0, "{bound}: {value} {}", truth.best);
    }
}

#[test]
fn planted_wrong_answers_are_caught() {
    let labels = [0, 0, 0, 1, 1, 1];
    let rows: Vec<Vec<f64>> = normals(6 * 4, 3).chunks(4).map(<[f64]>::to_vec).collect();
    let features = Features::from_rows(6, 4, rows.concat()).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = RangeQuota::new(&partition, &[1..=2, 0..=1]).unwrap();
    let truth = Truth::new(Determinants::of_features(rows), &labels, &quota);
    let right = exact(&RangeDpp::new(&features, &partition, &quota).unwrap());
    assert_eq!(truth.fault_of_proof(&right), "");
    let with = |change: &dyn Fn(&mut Solution)| {
        let mut wrong = right.clone();
        change(&mut wrong);
        truth.fault_of_proof(&wrong)
    };
    assert!(with(&|wrong| wrong.log_det += 1e-3).contains("is worth"));
    assert!(with(&|wrong| wrong.log_det -= 1e-3).contains("the optimum is"));
    assert!(with(&|wrong| wrong.upper_bound = Some(truth.best - 1e-3)).contains("the bound is"));
    assert!(with(&|wrong| wrong.missing = 1).contains("missing"));
    let disallowed = partition_dpp::Subset::new(vec![3, 4], 6).unwrap();
    assert!(with(&|wrong| wrong.subset = disallowed.clone()).contains("not allowed"));
}
