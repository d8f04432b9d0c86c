//! Greedy sets against pivoted Cholesky of the dense kernel and against enumeration.
#![allow(clippy::cast_possible_wrap, reason = "small numbers")]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use oracles::{
    assert_error, conditioned,
    conditions::Condition,
    enumerable_cases,
    oracle::{self, Determinants, dot},
    random::normals,
    solvers::{greedy, parts},
};
use partition_dpp::{
    Dpp, Error, Features, KDpp, Partition, PartitionDpp, Quota,
    map::{Solution, Termination},
};

/// The choices of a naive greedy algorithm.
#[derive(Clone)]
struct Choice<'a> {
    labels: &'a [usize],
    /// The number of items left to pick per part; included items count.
    left: Vec<usize>,
    /// Stop at gains of at most 1.
    stop_at_one: bool,
    condition: Condition,
}

/// A fault of a naive greedy algorithm.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    NoQuota,
    NoUpdate,
    LastOfEquals,
    NoStop,
}

/// Runs pivoted Cholesky on the dense kernel. Returns items in the order of their picks, and ln of their gains.
fn naive_greedy(rows: &[Vec<f64>], choice: &Choice<'_>, fault: Fault) -> (Vec<usize>, Vec<f64>) {
    let mut k: Vec<Vec<f64>> = rows.iter().map(|x| rows.iter().map(|y| dot(x, y)).collect()).collect();
    let (mut left, mut picked, mut gains) = (choice.left.clone(), Vec::new(), Vec::new());
    let Condition { included, excluded } = &choice.condition;
    loop {
        let free = |i: &usize| {
            let open = left[choice.labels[*i]] > 0 || fault == Fault::NoQuota && left.iter().any(|&l| l > 0);
            !picked.contains(i) && !excluded.contains(i) && open
        };
        let item = if picked.len() < included.len() {
            included[picked.len()]
        } else {
            let candidates: Vec<usize> = (0..rows.len()).filter(free).collect();
            let largest = candidates.iter().map(|&i| k[i][i]).fold(f64::NEG_INFINITY, f64::max);
            let mut equals = candidates.into_iter().filter(|&i| k[i][i] >= largest);
            let best = if fault == Fault::LastOfEquals { equals.next_back() } else { equals.next() };
            let least = if choice.stop_at_one && fault != Fault::NoStop { 1.0 } else { 1e-20 };
            let Some(best) = best.filter(|&i| k[i][i] > least) else { break };
            gains.push(k[best][best].ln());
            best
        };
        picked.push(item);
        let part = choice.labels[item];
        left[part] = left[part].saturating_sub(1);
        let column: Vec<f64> = k.iter().map(|row| row[item]).collect();
        if fault != Fault::NoUpdate {
            for (row, x) in k.iter_mut().zip(&column) {
                row.iter_mut().zip(&column).for_each(|(entry, y)| *entry -= x * y / column[item]);
            }
        }
    }
    picked.sort_unstable();
    (picked, gains)
}

/// Whether a solution equals the result of the naive algorithm.
fn agrees(solution: &Solution, rows: &[Vec<f64>], choice: &Choice<'_>, fault: Fault) -> bool {
    let (set, gains) = naive_greedy(rows, choice, fault);
    let near = |(x, y): (&f64, &f64)| abs_diff_eq!(x, y, epsilon = 1e-8);
    solution.subset.as_slice() == set
        && solution.stats.gains.len() == gains.len()
        && solution.stats.gains.iter().zip(&gains).all(near)
}

/// A random problem: rows, labels of three parts, a quota, and a condition.
struct Problem {
    rows: Vec<Vec<f64>>,
    labels: Vec<usize>,
    quota: Vec<usize>,
    condition: Condition,
}

impl Problem {
    fn new(seed: usize) -> Self {
        let (items, dims) = (15 + seed % 23, 4 + seed % 9);
        let size = [0.4, 1.0, 3.0][seed % 3];
        let values: Vec<f64> = normals(items * dims, seed as u64).iter().map(|x| x * size).collect();
        let labels: Vec<usize> = (0..items).map(|i| (i + i / 9 + seed) % 3).collect();
        let condition = match seed % 4 {
            0 => Condition::new(&[], &[]),
            1 => Condition::new(&[3], &[]),
            2 => Condition::new(&[], &[1, 4]),
            _ => Condition::new(&[2, 5], &[0, 6]),
        };
        let mut quota = vec![1; 3];
        let included = oracle::counts(&condition.included, &labels, 3);
        quota.iter_mut().zip(included).for_each(|(quota, included)| *quota = included.max(*quota));
        quota[seed % 3] += (dims - quota.iter().sum::<usize>().min(dims)).min(2);
        Self { rows: values.chunks(dims).map(<[f64]>::to_vec).collect(), labels, quota, condition }
    }

    fn features(&self) -> Features {
        Features::from_rows(self.rows.len(), self.rows[0].len(), self.rows.concat()).unwrap()
    }

    /// Parts whose remaining items are all needed are taken first.
    fn quota_choice(&self) -> Choice<'_> {
        let mut condition = self.condition.clone();
        for part in 0..3 {
            let free = |i: &usize| self.labels[*i] == part && !condition.excluded.contains(i);
            let members: Vec<usize> = (0..self.rows.len()).filter(free).collect();
            if members.len() == self.quota[part] {
                let more = members.into_iter().filter(|i| !self.condition.included.contains(i));
                condition.included.extend(more);
            }
        }
        Choice { labels: &self.labels, left: self.quota.clone(), stop_at_one: false, condition }
    }

    /// Returns the solution of every model, with the choices of the naive algorithm.
    fn solutions(&self) -> Vec<(Solution, Choice<'_>)> {
        let (features, condition) = (self.features(), &self.condition);
        let choice =
            |labels, left, stop_at_one| Choice { labels, left, stop_at_one, condition: condition.clone() };
        let zeros: &[usize] = &[0; 64];
        let dpp = conditioned!(Dpp::new(&features).unwrap(), condition).unwrap();
        let k = self.quota.iter().sum();
        let k_dpp = conditioned!(KDpp::new(&features, k).unwrap(), condition).unwrap();
        let (partition, quota) = parts(&self.labels, &self.quota);
        let partition_dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let partition_dpp = conditioned!(partition_dpp, condition).unwrap();
        vec![
            (greedy(&dpp), choice(zeros, vec![self.rows.len()], true)),
            (greedy(&k_dpp), choice(zeros, vec![k], false)),
            (greedy(&partition_dpp), self.quota_choice()),
        ]
    }
}

#[test]
fn greedy_is_pivoted_cholesky() {
    for seed in 0..240 {
        let problem = Problem::new(seed);
        for (solution, choice) in problem.solutions() {
            assert!(agrees(&solution, &problem.rows, &choice, Fault::None), "seed {seed}: {solution:?}");
            let expected =
                if choice.stop_at_one { Termination::GainNotPositive } else { Termination::QuotaMet };
            assert_eq!((solution.termination, solution.stats.repairs), (expected, 0), "seed {seed}");
            let det = Determinants::of_features(problem.rows.clone()).det(solution.subset.as_slice());
            assert!(
                abs_diff_eq!(solution.log_det, det.ln(), epsilon = 1e-9),
                "seed {seed}: {}",
                solution.log_det
            );
            let gains = &solution.stats.gains;
            let quotas = choice.left.len() > 1;
            assert!(
                quotas || gains.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12),
                "seed {seed}: gains rise"
            );
        }
    }
}

#[test]
fn a_greedy_algorithm_with_a_planted_fault_is_found() {
    let seen = |fault: Fault| {
        (0..60).map(Problem::new).any(|problem| {
            let wrong = |(solution, choice): (Solution, Choice<'_>)| {
                !agrees(&solution, &problem.rows, &choice, fault)
            };
            problem.solutions().into_iter().any(wrong)
        })
    };
    assert!(seen(Fault::NoQuota) && seen(Fault::NoUpdate) && seen(Fault::NoStop) && !seen(Fault::None));
    // Every row twice.
    let mut problem = Problem::new(8);
    problem.rows = problem.rows.iter().flat_map(|row| [row.clone(), row.clone()]).collect();
    let labels = vec![0; problem.rows.len()];
    let choice =
        Choice { labels: &labels, left: vec![5], stop_at_one: false, condition: Condition::default() };
    let solution = greedy(&KDpp::new(&problem.features(), 5).unwrap());
    assert!(agrees(&solution, &problem.rows, &choice, Fault::None));
    assert!(!agrees(&solution, &problem.rows, &choice, Fault::LastOfEquals));
}

#[test]
fn known_answers_are_never_beaten_and_values_are_right() {
    let mut optimal = 0;
    for case in enumerable_cases() {
        let (features, oracle) = (case.features(), case.oracle());
        let (partition, quota) = parts(&case.labels, &case.quota);
        let (law, log_z) = oracle.partition_dpp(&case.labels, &case.quota);
        let optimum = law.values().copied().fold(0.0, f64::max).ln() + log_z;
        let solution = greedy(&PartitionDpp::new(&features, &partition, &quota).unwrap());
        assert_eq!(solution.termination, Termination::QuotaMet, "{}", case.name);
        assert_eq!(solution.subset.part_counts(&partition), case.quota, "{}", case.name);
        let value = oracle.det(solution.subset.as_slice()).ln();
        let tolerance = 1e-7 * (1.0 + value.abs());
        assert!(
            abs_diff_eq!(solution.log_det, value, epsilon = tolerance),
            "{}: {} {value}",
            case.name,
            solution.log_det
        );
        assert!(solution.log_det <= optimum + tolerance, "{}", case.name);
        optimal += usize::from(solution.log_det > optimum - tolerance);
    }
    assert!(optimal >= 8, "greedy is mostly optimal on small cases: {optimal}");
}

#[test]
fn of_equal_gains_the_lowest_item_is_picked() {
    // Rows e0 e0 e1 e1 e2 e2, of length 2.
    let values: Vec<f64> =
        (0..6).flat_map(|i| (0..3).map(move |j| if i / 2 == j { 2.0 } else { 0.0 })).collect();
    let features = Features::from_rows(6, 3, &values).unwrap();
    assert_eq!(greedy(&KDpp::new(&features, 2).unwrap()).subset.as_slice(), [0, 2]);
    assert_eq!(greedy(&Dpp::new(&features).unwrap()).subset.as_slice(), [0, 2, 4]);
    // The tie between items 0 (part 1) and 1 (part 0) decides which part may take the other row.
    let values = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.5];
    let features = Features::from_rows(4, 2, &values[..]).unwrap();
    let (partition, quota) = parts(&[1, 0, 0, 1], &[1, 1]);
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    assert_eq!(greedy(&dpp).subset.as_slice(), [0, 2]);
    // A million-fold tie, over many tasks with many blocks.
    let values: Vec<f64> =
        (0..50_000).flat_map(|i| if i % 5 == 4 { [0.0, 1.0] } else { [1.0, 0.0] }).collect();
    let features = Features::from_rows(50_000, 2, &values).unwrap();
    assert_eq!(greedy(&KDpp::new(&features, 2).unwrap()).subset.as_slice(), [0, 4]);
    let dpp = KDpp::new(&features, 2).unwrap().excluding(&[0, 4, 20_000]).unwrap();
    assert_eq!(greedy(&dpp).subset.as_slice(), [1, 9]);
}

#[test]
fn a_dpp_stops_where_no_gain_exceeds_one() {
    let unit = Features::from_rows(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let solution = greedy(&Dpp::new(&unit).unwrap());
    assert!(solution.subset.is_empty() && solution.stats.gains.is_empty());
    assert_eq!((solution.log_det.to_bits(), solution.termination), (0, Termination::GainNotPositive));
    let just = Features::from_rows(2, 2, vec![1.0, 0.0, 0.0, 1.0 + 1e-12]).unwrap();
    assert_eq!(greedy(&Dpp::new(&just).unwrap()).subset.as_slice(), [1]);
    let solution = greedy(&Dpp::new(&unit).unwrap().including(&[1]).unwrap());
    assert_eq!(solution.subset.as_slice(), [1]);
    // The rank is exhausted while gains are still large: they fall from 1e20 to zero.
    let values: Vec<f64> = normals(40 * 3, 2).iter().map(|x| x * 1e10).collect();
    let solution = greedy(&Dpp::new(&Features::from_rows(40, 3, values).unwrap()).unwrap());
    assert_eq!((solution.subset.len(), solution.termination), (3, Termination::GainNotPositive));
    for (size, count) in [(1e-300, 0), (1e-150, 0), (1e150, 3), (1e300, 3)] {
        let values: Vec<f64> = normals(40 * 3, 2).iter().map(|x| x * size).collect();
        let features = Features::from_rows(40, 3, values).unwrap();
        assert_eq!(greedy(&Dpp::new(&features).unwrap()).subset.len(), count, "{size:e}");
    }
}

#[test]
fn quotas_are_met_where_greedy_picks_exhaust_the_rank_that_a_part_needs() {
    // Part 0 would take the only direction that part 1 has; 200 000 rows of part 1 depend on it.
    let mut values = vec![3.0, 0.0, 0.0, 1.0];
    values.extend((0..200_000).flat_map(|i| [1.0 + f64::from(i % 7) / 10.0, 0.0]));
    let features = Features::from_rows(200_002, 2, &values).unwrap();
    let labels: Vec<usize> = (0..200_002).map(|i| usize::from(i >= 2)).collect();
    let (partition, quota) = parts(&labels, &[1, 1]);
    let solution = greedy(&PartitionDpp::new(&features, &partition, &quota).unwrap());
    assert_eq!((solution.subset.as_slice(), solution.stats.repairs), (&[1, 8][..], 1));
    assert_eq!(solution.termination, Termination::QuotaMet);
    assert_abs_diff_eq!(solution.log_det, 1.6_f64.powi(2).ln(), epsilon = 1e-12);
    // A chain: every part has an axis that it prefers, and the next axis; the last part has only the first axis.
    let parts_of_chain = 12;
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for l in 0..parts_of_chain {
        let own = if l + 1 < parts_of_chain { [(l, 2.0), (l + 1, 1.0)] } else { [(0, 0.5), (0, 0.4)] };
        for (axis, size) in own {
            rows.push((0..parts_of_chain).map(|j| if j == axis { size } else { 0.0 }).collect::<Vec<_>>());
            labels.push(l);
        }
    }
    let features = Features::from_rows(rows.len(), parts_of_chain, rows.concat()).unwrap();
    let (partition, quota) = parts(&labels, &vec![1; parts_of_chain]);
    let solution = greedy(&PartitionDpp::new(&features, &partition, &quota).unwrap());
    assert_eq!(solution.subset.part_counts(&partition), vec![1; parts_of_chain]);
    assert_eq!((solution.stats.repairs, solution.termination), (parts_of_chain - 1, Termination::QuotaMet));
    assert_abs_diff_eq!(solution.log_det, 0.25_f64.ln(), epsilon = 1e-12);
}

#[test]
fn tight_quotas_are_met() {
    let (items, dims) = (60, 10);
    let features = Features::from_rows(items, dims, normals(items * dims, 6)).unwrap();
    let labels: Vec<usize> = (0..items).map(|i| i % 10).collect();
    // One item of each of ten parts, as many as the rank.
    let (partition, quota) = parts(&labels, &[1; 10]);
    let solution = greedy(&PartitionDpp::new(&features, &partition, &quota).unwrap());
    assert_eq!(solution.subset.part_counts(&partition), [1; 10]);
    assert!(solution.log_det > 0.0);
    // A part taken whole, a part whose rank equals its quota, and a part from which nothing is taken.
    let mut values = normals(items * dims, 7);
    for row in values.chunks_mut(dims).skip(4).step_by(3) {
        row[2..].fill(0.0);
    }
    let features = Features::from_rows(items, dims, values).unwrap();
    let labels: Vec<usize> = (0..items).map(|i| if i < 3 { 3 } else { i % 3 }).collect();
    let (partition, quota) = parts(&labels, &[5, 2, 0, 3]);
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let solution = greedy(&dpp);
    assert_eq!(solution.subset.part_counts(&partition), [5, 2, 0, 3]);
    assert!(solution.log_det.is_finite());
    let solution = greedy(&dpp.including(&[3, 4]).unwrap().excluding(&[6, 7]).unwrap());
    assert_eq!(solution.subset.part_counts(&partition), [5, 2, 0, 3]);
    assert!(solution.subset.contains(3) && solution.subset.contains(4));
    assert!(!solution.subset.contains(6) && !solution.subset.contains(7));
}

#[test]
fn what_cannot_be_met_is_refused_by_name() {
    let mut values = normals(12 * 4, 7);
    for row in values.chunks_mut(4).skip(1).step_by(2) {
        row[1..].fill(0.0);
    }
    let features = Features::from_rows(12, 4, values).unwrap();
    let labels: Vec<&str> = (0..12).map(|i| ["wide", "line"][i % 2]).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::named(&partition, [("wide", 2), ("line", 2)]).unwrap();
    let refused = PartitionDpp::new(&features, &partition, &quota);
    assert_error!(refused, Error::Infeasible { rank: 1, quota: 2, ref parts } if parts == &["line"], ["line"]);
    assert_error!(KDpp::new(&features, 5), Error::SizeAboveRank { k: 5, rank: 4 }, ["5", "4"]);
}

#[test]
fn values_are_pinned() {
    let features = Features::from_rows(500, 10, normals(500 * 10, 2016)).unwrap();
    let labels: Vec<usize> = (0..500).map(|i| i % 4).collect();
    let (partition, quota) = parts(&labels, &[1, 2, 2, 1]);
    let solution = greedy(&PartitionDpp::new(&features, &partition, &quota).unwrap());
    assert_eq!(format!("{} {:.9}", solution.subset, solution.log_det), "18 156 319 362 437 453 18.084478035");
    let solution = greedy(&KDpp::new(&features, 6).unwrap());
    assert_eq!(format!("{} {:.9}", solution.subset, solution.log_det), "7 18 156 319 335 437 18.425632762");
    let solution = greedy(&Dpp::new(&features).unwrap());
    assert_eq!(
        format!("{} {:.9}", solution.subset, solution.log_det),
        "7 18 156 311 319 335 436 437 453 495 28.022966699"
    );
}
