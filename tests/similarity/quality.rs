//! Qualities of items with kernel functions, against weighted features and against enumeration.

use std::sync::{Arc, atomic::AtomicBool};

use oracles::{assert_error, oracle::Determinants, random::normals};
use partition_dpp::{
    CountRange, Dpp, Engine, Error, KDpp, Partition, PartitionDpp, Quota, Watch,
    error::WeightProblem,
    map::{Greedy, KernelModel, LocalSearch, Solution, Solver, Termination},
    similarity::{Bandwidth, Rbf, RbfKernel},
};

use super::{features, gaussian};
const BANDWIDTH: Bandwidth = Bandwidth::Exactly(1.0);

fn greedy(model: &KernelModel<'_>) -> Solution {
    let found = Greedy::default().solve(model, &Engine::cpu()).unwrap();
    let gains: f64 = found.stats.gains.iter().sum();
    let all_picked = found.stats.gains.len() == found.subset.len();
    assert!(!all_picked || (gains - found.log_det).abs() < 1e-9 * (1.0 + gains.abs()));
    found
}

fn labels() -> (Vec<usize>, Partition) {
    let labels: Vec<usize> = (0..200).map(|i| (i * i + i / 7) % 4).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    (labels, partition)
}

#[test]
fn sets_are_those_of_weighted_features() {
    let given = features(200, 4, 40);
    let scores = normals(200, 41);
    let kernel = RbfKernel::new(&given, BANDWIDTH).unwrap();
    let rbf = Rbf::new(BANDWIDTH).with_landmarks(200).features_in::<f64>(&given, &Engine::cpu()).unwrap();
    let weighted = rbf.features().with_scores(&scores, 0.4).unwrap();
    let (_, partition) = labels();
    let quotas = [
        Quota::new(&partition, [7, 1, 12, 3]).unwrap(),
        Quota::new(&partition, [CountRange::from(1..=9), 3.into(), (..=20).into(), (2..=2).into()]).unwrap(),
        Quota::new(&partition, [1..=9, 0..=30, 5..=20, 0..=12]).unwrap().with_total(40).unwrap(),
    ];
    let mut noticed = 0;
    let mut compare = |model: KernelModel<'_>, expected: Solution| {
        let found = greedy(&model.clone().with_scores(&scores, 0.4).unwrap());
        assert_eq!((&found.subset, found.missing), (&expected.subset, 0));
        assert!((found.log_det - expected.log_det).abs() < 1e-6, "{}, {}", found.log_det, expected.log_det);
        // Different weights are noticed.
        noticed += usize::from(greedy(&model).subset != expected.subset);
    };
    for quota in &quotas {
        for (included, excluded) in [(vec![], vec![]), (vec![5, 77], vec![0, 9, 100])] {
            let model = KernelModel::new(&kernel, &partition, quota).unwrap();
            let dpp = PartitionDpp::new(&weighted, &partition, quota).unwrap();
            let dpp = dpp.including(&included).unwrap().excluding(&excluded).unwrap();
            let model = model.including(&included).unwrap().excluding(&excluded).unwrap();
            compare(model, Greedy::default().solve(&dpp, &Engine::cpu()).unwrap());
        }
    }
    let sized = Greedy::default().solve(&KDpp::new(&weighted, 25).unwrap(), &Engine::cpu()).unwrap();
    compare(KernelModel::of_size(&kernel, 25).unwrap(), sized);
    let free = Greedy::default().solve(&Dpp::new(&weighted).unwrap(), &Engine::cpu()).unwrap();
    assert!(free.subset.len() > 20);
    compare(KernelModel::of_any_size(&kernel).unwrap(), free);
    assert_eq!(noticed, 8);
}

#[test]
fn searches_end_where_those_of_weighted_features_do() {
    let given = features(120, 3, 42);
    let kernel = RbfKernel::new(&given, BANDWIDTH).unwrap();
    let rbf = Rbf::new(BANDWIDTH).with_landmarks(120).features_in::<f64>(&given, &Engine::cpu()).unwrap();
    let mut same = 0;
    for seed in 43..53 {
        let logs = normals(120, seed);
        let weighted = rbf.features().with_log_quality(&logs).unwrap();
        let model = KernelModel::of_size(&kernel, 12).unwrap().with_log_quality(&logs).unwrap();
        let free = KernelModel::of_any_size(&kernel).unwrap().with_log_quality(&logs).unwrap();
        let sized = LocalSearch::default().solve(&KDpp::new(&weighted, 12).unwrap(), &Engine::cpu()).unwrap();
        let any = LocalSearch::default().solve(&Dpp::new(&weighted).unwrap(), &Engine::cpu()).unwrap();
        for (model, expected) in [(model, sized), (free, any)] {
            let found = LocalSearch::default().solve(&model, &Engine::cpu()).unwrap();
            let greedy = greedy(&model);
            assert!(found.log_det >= greedy.log_det - 1e-9, "{} {}", found.log_det, greedy.log_det);
            assert!((found.log_det - expected.log_det).abs() < 1e-6 || found.subset != expected.subset);
            same += usize::from(found.subset == expected.subset);
        }
    }
    println!("{same} of 20 searches ended alike");
    assert!(same >= 18);
}

/// Runs pivoted Cholesky that compares logarithms.
fn naive(kernel: &[Vec<f64>], logs: &[f64], labels: &[usize], counts: &[usize]) -> Vec<usize> {
    let mut k = kernel.to_vec();
    let (mut left, mut picked) = (counts.to_vec(), Vec::new());
    for _ in 0..counts.iter().sum() {
        let free = (0..k.len()).filter(|i| left[labels[*i]] > 0 && !picked.contains(i));
        let gain = |i: usize, k: &[Vec<f64>]| k[i][i].ln() + 2.0 * logs[i];
        let best = free.reduce(|best, i| if gain(i, &k) > gain(best, &k) { i } else { best }).unwrap();
        picked.push(best);
        left[labels[best]] -= 1;
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

#[test]
fn qualities_may_have_any_size() {
    let given = features(200, 5, 54);
    let kernel = RbfKernel::new(&given, BANDWIDTH).unwrap();
    let dense = gaussian(&given, 1.0);
    let (labels, partition) = labels();
    for (spread, seed) in [(1.0, 55), (40.0, 56), (300.0, 57), (2000.0, 58), (1e5, 59)] {
        let logs: Vec<f64> = normals(200, seed).iter().map(|x| x * spread).collect();
        for counts in [[1, 1, 1, 1], [0, 9, 2, 30], [20, 12, 12, 12]] {
            let quota = Quota::new(&partition, counts).unwrap();
            let model = || KernelModel::new(&kernel, &partition, &quota).unwrap();
            let found = greedy(&model().with_log_quality(&logs).unwrap());
            assert_eq!(
                found.subset.as_slice(),
                naive(&dense, &logs, &labels, &counts),
                "{spread} {counts:?}"
            );
            assert_eq!((found.termination, found.missing), (Termination::QuotaMet, 0));
            let det = Determinants::of_kernel(dense.clone()).det(found.subset.as_slice()).ln();
            let expected = det + found.subset.iter().map(|item| 2.0 * logs[item]).sum::<f64>();
            assert!((found.log_det - expected).abs() < 1e-9 * (1.0 + expected.abs()));
            let searched = LocalSearch::default()
                .solve(&model().with_log_quality(&logs).unwrap(), &Engine::cpu())
                .unwrap();
            assert!(searched.log_det >= found.log_det - 1e-12 * expected.abs());
            // Parts far apart.
            let apart: Vec<f64> =
                logs.iter().zip(&labels).map(|(log, part)| log + [700.0, -3e4, 1e3, 0.0][*part]).collect();
            let found = greedy(&model().with_log_quality(&apart).unwrap());
            assert_eq!(found.subset.as_slice(), naive(&dense, &apart, &labels, &counts));
        }
        // With any size, items are taken that multiply the determinant by more than 1.
        let free = greedy(&KernelModel::of_any_size(&kernel).unwrap().with_log_quality(&logs).unwrap());
        let least = free.stats.gains.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(least > 0.0);
        assert_eq!(free.termination, Termination::GainNotPositive);
        assert!((0..200).all(|item| logs[item] < 5.0 || free.subset.contains(item)));
    }
}

#[test]
fn no_swap_improves_what_is_found() {
    let given = features(24, 2, 60);
    let kernel = RbfKernel::new(&given, Bandwidth::Exactly(0.7)).unwrap();
    let oracle = Determinants::of_kernel(gaussian(&given, 0.7));
    for spread in [0.5, 3.0, 700.0] {
        let logs: Vec<f64> = normals(24, 61).iter().map(|x| x * spread).collect();
        let worth =
            |set: &[usize]| oracle.det(set).ln() + set.iter().map(|&item| 2.0 * logs[item]).sum::<f64>();
        let model = KernelModel::of_size(&kernel, 7).unwrap().with_log_quality(&logs).unwrap();
        let found = LocalSearch::default().solve(&model, &Engine::cpu()).unwrap();
        let set = found.subset.as_slice();
        assert!((found.log_det - worth(set)).abs() < 1e-9 * (1.0 + found.log_det.abs()));
        for leaving in 0..set.len() {
            for entering in (0..24).filter(|item| !set.contains(item)) {
                let mut other = set.to_vec();
                other[leaving] = entering;
                other.sort_unstable();
                assert!(worth(&other) <= worth(set) + 1e-6, "{spread}: {set:?}, {other:?}");
            }
        }
    }
}

#[test]
fn qualities_multiply_and_are_checked() {
    let given = features(30, 2, 62);
    let kernel = RbfKernel::new(&given, BANDWIDTH).unwrap();
    let model = || KernelModel::of_size(&kernel, 6).unwrap();
    let logs = normals(30, 63);
    let half: Vec<f64> = logs.iter().map(|log| log / 2.0).collect();
    let twice = model().with_log_quality(&half).unwrap().with_log_quality(&half).unwrap();
    let once = model().with_log_quality(&logs).unwrap();
    assert_eq!(greedy(&twice), greedy(&once));
    let even = greedy(&model().with_scores(&logs, 1.0).unwrap());
    assert_eq!(even, greedy(&model()));
    assert_error!(model().with_log_quality(&[0.0]), Error::Shape { expected: 30, found: 1, .. }, ["30"]);
    let bad = vec![f64::INFINITY; 30];
    let not_finite = WeightProblem::NotFinite { item: 0, value: f64::INFINITY };
    assert_error!(model().with_scores(&bad, 0.5), Error::Weights(problem) if problem == not_finite, ["item 0"]);
    assert_error!(model().with_log_quality(&bad), Error::Weights(problem) if problem == not_finite, ["item 0"]);
    let refused = model().with_scores(&logs, 0.0);
    assert_error!(refused, Error::Weights(WeightProblem::Diversity { .. }), ["diversity"]);
}

#[test]
fn a_stopped_run_prefers_quality() {
    let given = features(200, 3, 64);
    let kernel = RbfKernel::new(&given, BANDWIDTH).unwrap();
    let (_, partition) = labels();
    let quota = Quota::new(&partition, [2, 2, 2, 0]).unwrap();
    let logs: Vec<f64> = (0..200).map(|item| -1000.0 * f64::from(item)).collect();
    let model = KernelModel::new(&kernel, &partition, &quota).unwrap().with_log_quality(&logs).unwrap();
    let stop = Arc::new(AtomicBool::new(true));
    let watch = Watch::default().stopped_by(&stop);
    let found = Greedy::default().solve(&model, &Engine::cpu().watched(&watch)).unwrap();
    let finished = Greedy::default().solve(&model, &Engine::cpu()).unwrap();
    assert_eq!((found.termination, &found.subset), (Termination::Interrupted, &finished.subset));
    let searched = LocalSearch::default().solve(&model, &Engine::cpu().watched(&watch)).unwrap();
    assert_eq!((searched.termination, &searched.subset), (Termination::Interrupted, &finished.subset));
}
