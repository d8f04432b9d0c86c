//! Greedy sets for kernel functions against pivoted Cholesky on the dense kernel.

use std::sync::{Arc, atomic::AtomicBool};

use oracles::{assert_error, known_answers, oracle::dot};
use partition_dpp::{
    CountRange, Engine, Error, Features, Kernel, Partition, PartitionDpp, Quota, Watch,
    error::KernelProblem,
    map::{Greedy, KernelModel, LocalSearch, Solution, Solver, Termination},
    similarity::{Bandwidth, DotKernel, KernelFn, KernelFunction, RbfKernel},
};

use super::{features, gaussian};
/// A fault of a naive greedy algorithm.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// The second half of the picks changes no gain.
    NoUpdate,
    NoRidge,
}

/// Runs pivoted Cholesky on a dense kernel under exact counts.
fn naive(kernel: &[Vec<f64>], labels: &[usize], counts: &[usize], fault: Fault) -> Vec<usize> {
    let mut k = kernel.to_vec();
    let (mut left, mut picked) = (counts.to_vec(), Vec::new());
    let total: usize = counts.iter().sum();
    for pick in 0..total {
        let free = (0..k.len()).filter(|i| left[labels[*i]] > 0 && !picked.contains(i));
        let best = free.reduce(|best, i| if k[i][i] > k[best][best] { i } else { best }).unwrap();
        picked.push(best);
        left[labels[best]] -= 1;
        if fault == Fault::NoUpdate && 2 * pick >= total {
            continue;
        }
        let row = k[best].clone();
        for i in 0..k.len() {
            for j in 0..k.len() {
                k[i][j] -= row[i] * row[j] / row[best];
            }
        }
    }
    picked.sort_unstable();
    picked
}

fn greedy(model: &KernelModel<'_>) -> Solution {
    Greedy::default().solve(model, &Engine::cpu()).unwrap()
}

/// Returns the labels of 240 items in four parts.
fn labels() -> (Vec<usize>, Partition) {
    let labels: Vec<usize> = (0..240).map(|i| (i * i + i / 7) % 4).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    (labels, partition)
}

const COUNTS: [[usize; 4]; 4] = [[1, 1, 1, 1], [0, 9, 2, 30], [12, 12, 12, 12], [25, 0, 1, 0]];

/// Compares sets with a naive algorithm, which finds other sets if it has a fault.
fn compare(kernel: &dyn KernelFunction, dense: &[Vec<f64>], faulty: &[Vec<f64>], fault: Fault) {
    let (labels, partition) = labels();
    let mut noticed = 0;
    for counts in COUNTS {
        let quota = Quota::new(&partition, counts).unwrap();
        let solution = greedy(&KernelModel::new(kernel, &partition, &quota).unwrap());
        let expected = naive(dense, &labels, &counts, Fault::None);
        assert_eq!(solution.subset.as_slice(), expected, "{kernel:?}, {counts:?}");
        assert_eq!((solution.termination, solution.missing), (Termination::QuotaMet, 0));
        let total: f64 = solution.stats.gains.iter().sum();
        assert!((solution.log_det - total).abs() < 1e-9);
        noticed += usize::from(naive(faulty, &labels, &counts, fault) != expected);
    }
    assert!(noticed > 0, "{kernel:?}: a planted fault must be seen");
}

#[test]
fn greedy_sets_are_those_of_pivoted_cholesky() {
    let given = features(240, 5, 11);
    for bandwidth in [2.0, 4.0] {
        let kernel = RbfKernel::new(&given, Bandwidth::Exactly(bandwidth)).unwrap();
        let dense = gaussian(&given, bandwidth);
        compare(&kernel, &dense, &dense, Fault::NoUpdate);
    }
    let rows: Vec<Vec<f64>> = (0..240).map(|item| given.row(item)).collect();
    let inner: Vec<Vec<f64>> = rows.iter().map(|x| rows.iter().map(|y| dot(x, y)).collect()).collect();
    let mut ridged = inner.clone();
    (0..240).for_each(|i| ridged[i][i] += 8.0);
    let kernel = DotKernel::new(&given).with_ridge(8.0).unwrap();
    let other = inner.iter().enumerate().map(|(i, row)| {
        let mut row = row.clone();
        row[i] += 1e-7;
        row
    });
    compare(&kernel, &ridged, &other.collect::<Vec<_>>(), Fault::NoRidge);
    let laplacian = |i: usize, j: usize| {
        (-0.1 * rows[i].iter().zip(&rows[j]).map(|(x, y)| (x - y).abs()).sum::<f64>()).exp()
    };
    let dense: Vec<Vec<f64>> = (0..240).map(|i| (0..240).map(|j| laplacian(i, j)).collect()).collect();
    compare(&KernelFn::new(240, laplacian).unwrap(), &dense, &dense, Fault::NoUpdate);
}

#[test]
fn a_ridge_gives_the_sets_of_the_dense_kernel() {
    let given = features(240, 30, 12);
    let rows: Vec<Vec<f64>> = (0..240).map(|item| given.row(item)).collect();
    let dense: Vec<f64> = (0..240 * 240)
        .map(|at| dot(&rows[at / 240], &rows[at % 240]) + if at / 240 == at % 240 { 0.1 } else { 0.0 })
        .collect();
    let dense = Kernel::from_dense(240, &dense).unwrap();
    let kernel = DotKernel::new(&given).with_ridge(0.1).unwrap();
    let (_, partition) = labels();
    let ranges = [
        Quota::new(&partition, [12, 12, 12, 12]).unwrap(),
        Quota::new(&partition, [CountRange::from(1..=9), 3.into(), (..=20).into(), (2..=2).into()]).unwrap(),
        Quota::new(&partition, [1..=9, 0..=30, 5..=20, 0..=12]).unwrap().with_total(40).unwrap(),
    ];
    for quota in ranges {
        for (included, excluded) in [(vec![], vec![]), (vec![5, 77], vec![0, 9, 200])] {
            let model = KernelModel::new(&kernel, &partition, &quota).unwrap();
            let model = model.including(&included).unwrap().excluding(&excluded).unwrap();
            let dpp = PartitionDpp::new(dense.features(), &partition, &quota).unwrap();
            let dpp = dpp.including(&included).unwrap().excluding(&excluded).unwrap();
            let (found, expected) = (greedy(&model), Greedy::default().solve(&dpp, &Engine::cpu()).unwrap());
            assert_eq!(found.subset, expected.subset, "{quota:?}");
            assert!((found.log_det - expected.log_det).abs() < 1e-9);
            assert_eq!((found.termination, found.missing), (expected.termination, 0));
        }
    }
}

#[test]
fn known_cases_are_met() {
    for case in known_answers().iter().filter(|case| case.items() <= 64) {
        let entry = |i: usize, j: usize| {
            if case.dense { case.rows[i][j] } else { dot(&case.rows[i], &case.rows[j]) }
        };
        let kernel = KernelFn::new(case.items(), entry).unwrap();
        let partition = Partition::from_labels(&case.labels).unwrap();
        let quota = Quota::new(&partition, &case.quota).unwrap();
        let solution = greedy(&KernelModel::new(&kernel, &partition, &quota).unwrap());
        // Squared residuals below 1e-12 cannot be computed from entries of K.
        if solution.missing > 0 {
            println!("{}: {} missing", case.name, solution.missing);
            assert_eq!(solution.termination, Termination::RankExhausted);
            continue;
        }
        assert_eq!(solution.subset.part_counts(&partition), case.quota);
        let exact = case.oracle().det(solution.subset.as_slice()).ln();
        assert!((solution.log_det - exact).abs() < 1e-3, "{}: {} is {exact}", case.name, solution.log_det);
        if let Some((_, best)) = &case.map {
            assert!(exact <= best + 1e-9 * (1.0 + best.abs()), "{}", case.name);
        }
    }
}

#[test]
fn dot_products_exhaust_their_rank() {
    let given = features(240, 6, 13);
    let kernel = DotKernel::new(&given);
    let solution = greedy(&KernelModel::of_size(&kernel, 9).unwrap());
    assert_eq!((solution.subset.len(), solution.missing), (6, 3));
    assert_eq!(solution.termination, Termination::RankExhausted);
    let rows: Vec<Vec<f64>> = (0..240).map(|item| given.row(item)).collect();
    // A closure does not state its rank.
    let kernel = KernelFn::new(240, |i, j| dot(&rows[i], &rows[j])).unwrap();
    let solution = greedy(&KernelModel::of_size(&kernel, 9).unwrap());
    assert_eq!((solution.subset.len(), solution.termination), (6, Termination::RankExhausted));
    let zero = KernelFn::new(4, |_, _| 0.0).unwrap();
    let solution = greedy(&KernelModel::of_size(&zero, 2).unwrap());
    assert_eq!((solution.subset.len(), solution.missing), (0, 2));
}

#[test]
fn faults_of_a_function_name_the_pair() {
    let kernel =
        KernelFn::new(5, |i, j| if i + j == 5 { f64::NAN } else { f64::from(u8::from(i == j)) }).unwrap();
    let model = KernelModel::of_size(&kernel, 3).unwrap();
    let found = Greedy::default().solve(&model, &Engine::cpu());
    assert_error!(found, Error::Kernel(KernelProblem::NotFinite { row, column, .. }) if row + column == 5, ["NaN"]);
    let negative = KernelFn::new(3, |i, _| 1.0 - i as f64).unwrap();
    let problem = KernelProblem::NegativeDiagonal { item: 2, value: -1.0 };
    assert_error!(KernelModel::of_size(&negative, 1), Error::Kernel(ref found) if *found == problem, ["items 2 and 2", "-1"]);
    let infinite = KernelFn::new(3, |_, _| f64::INFINITY).unwrap();
    assert_error!(KernelModel::of_size(&infinite, 1), Error::Kernel(_), ["inf"]);
    let large = Features::from_rows(2, 1, vec![1e200, 1e200]).unwrap();
    assert_error!(KernelModel::of_size(&DotKernel::new(&large), 1), Error::Kernel(_), ["items 0 and 0"]);
}

#[test]
fn conditions_are_checked() {
    let given = features(6, 3, 14);
    let kernel = RbfKernel::new(&given, Bandwidth::Median).unwrap();
    let partition = Partition::from_labels(&[0, 0, 0, 1, 1, 1]).unwrap();
    let quota = Quota::new(&partition, [1, 2]).unwrap();
    let model = || KernelModel::new(&kernel, &partition, &quota).unwrap();
    assert_error!(model().including(&[6]), Error::ItemOutOfRange { item: 6, items: 6 }, ["6"]);
    assert_error!(model().including(&[1, 1]), Error::RepeatedItem { item: 1 }, ["1"]);
    // The same condition in two calls is allowed.
    assert!(model().including(&[1]).unwrap().including(&[1]).is_ok());
    assert!(model().excluding(&[1, 4]).unwrap().excluding(&[4]).is_ok());
    assert_error!(model().including(&[0, 1]), Error::QuotaBelowIncluded { .. }, ["2 items"]);
    assert_error!(
        model().excluding(&[3, 4]),
        Error::QuotaAbovePartSize { quota: 2, size: 1, .. },
        ["2 items"]
    );
    let twice = model().including(&[0]).unwrap().excluding(&[0]);
    assert_error!(twice, Error::IncludedAndExcluded { item: 0 }, ["0"]);
    assert_error!(KernelModel::of_size(&kernel, 0), Error::Nothing { what: "k" }, ["k"]);
    assert_error!(KernelModel::of_size(&kernel, 7), Error::SizeAboveItems { k: 7, items: 6 }, ["7"]);
    let two = KernelModel::of_size(&kernel, 2).unwrap();
    assert_error!(two.including(&[0, 1, 2]), Error::SizeBelowIncluded { k: 2, included: 3 }, ["3"]);
    let dot = DotKernel::new(&given);
    let four = KernelModel::of_size(&dot, 4).unwrap();
    let dependent = four.including(&[0, 1, 2, 3]).unwrap();
    for refused in [
        Greedy::default().solve(&dependent, &Engine::cpu()),
        LocalSearch::default().solve(&dependent, &Engine::cpu()),
    ] {
        assert_error!(refused, Error::DependentItems { item: 3 }, ["3"]);
    }
    let other = Partition::from_labels(&[0, 1]).unwrap();
    let one = Quota::new(&other, [1, 1]).unwrap();
    assert_error!(KernelModel::new(&kernel, &other, &one), Error::LabelCount { items: 6, labels: 2 }, ["6"]);
}

#[test]
fn a_stopped_run_meets_the_quota() {
    let given = features(240, 3, 15);
    let kernel = RbfKernel::new(&given, Bandwidth::Median).unwrap();
    let (_, partition) = labels();
    let quota = Quota::new(&partition, [3, 3, 0, 3]).unwrap();
    let model = KernelModel::new(&kernel, &partition, &quota).unwrap();
    let stop = Arc::new(AtomicBool::new(true));
    let watch = Watch::default().stopped_by(&stop);
    let found = Greedy::default().solve(&model, &Engine::cpu().watched(&watch)).unwrap();
    assert_eq!((found.termination, found.missing), (Termination::Interrupted, 0));
    assert_eq!(found.subset.part_counts(&partition), [3, 3, 0, 3]);
}

#[test]
fn sets_do_not_depend_on_threads() {
    let given = features(5000, 8, 16);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let kernel = RbfKernel::new(&given, Bandwidth::Median).unwrap();
            greedy(&KernelModel::of_size(&kernel, 60).unwrap())
        })
    };
    assert_eq!(on(1), on(3));
}
