//! Local search on kernel functions against local search on the dense kernel, and against enumeration.

use oracles::{assert_error, oracle::Determinants};
use partition_dpp::{
    CountRange, Engine, Error, Kernel, Partition, PartitionDpp, Quota,
    error::KernelProblem,
    map::{Greedy, KernelModel, LocalSearch, Solver, Termination},
    similarity::{Bandwidth, DotKernel, KernelFn, KernelFunction, RbfKernel},
};

use super::{features, gaussian};
fn dense(kernel: &dyn KernelFunction) -> Kernel {
    let all: Vec<u32> = (0..kernel.items() as u32).collect();
    let mut values = vec![0.0; all.len() * all.len()];
    values.chunks_exact_mut(all.len()).enumerate().for_each(|(i, row)| kernel.column(i, &all, row));
    Kernel::from_dense(all.len(), &values).unwrap()
}

#[test]
fn searches_end_where_those_of_the_dense_kernel_do() {
    let labels: Vec<usize> = (0..150).map(|i| (i * i + i / 7) % 3).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let quotas = [
        Quota::new(&partition, [2, 3, 4]).unwrap(),
        Quota::new(&partition, [8, 0, 15]).unwrap(),
        Quota::new(&partition, [1..=5, 0..=9, 2..=4]).unwrap().with_total(12).unwrap(),
        Quota::new(&partition, [CountRange::from(..=5), (1..=9).into(), (2..=4).into()]).unwrap(),
    ];
    let (mut swaps, mut same) = (0, 0);
    for seed in 0..6 {
        let given = features(150, 12, 100 + seed);
        // Qualities keep the first pick from being a tie.
        let gaussian = gaussian(&given, 4.0);
        let quality = |i: usize| 1.0 + (i as f64).sin() / 9.0;
        let rbf = KernelFn::new(150, |i, j| quality(i) * gaussian[i][j] * quality(j)).unwrap();
        let rbf = rbf.with_ridge(0.05).unwrap();
        let dot = DotKernel::new(&given).with_ridge(0.3).unwrap();
        let kernels: [&dyn KernelFunction; 2] = [&rbf, &dot];
        for kernel in kernels {
            let dense = dense(kernel);
            for quota in &quotas {
                let model = KernelModel::new(kernel, &partition, quota).unwrap();
                let dpp = PartitionDpp::new(dense.features(), &partition, quota).unwrap();
                let found = LocalSearch::default().solve(&model, &Engine::cpu()).unwrap();
                let expected = LocalSearch::default().solve(&dpp, &Engine::cpu()).unwrap();
                let greedy = Greedy::default().solve(&model, &Engine::cpu()).unwrap();
                assert_eq!((found.termination, found.missing), (Termination::LocallyOptimal, 0));
                assert!(quota.allows(&found.subset.part_counts(&partition)));
                assert!(found.log_det >= greedy.log_det - 1e-12);
                swaps += found.stats.swaps;
                // The other search also swaps two items at once.
                assert!(found.log_det <= expected.log_det + 1e-9 || expected.stats.exchanges > 0);
                if expected.stats.exchanges == 0 {
                    assert_eq!(found.subset, expected.subset, "{kernel:?}, {quota:?}");
                    assert!((found.log_det - expected.log_det).abs() < 1e-9);
                    same += 1;
                }
            }
        }
    }
    println!("{swaps} swaps; {same} of 48 searches without swaps of two items");
    assert!(swaps > 40 && same > 20);
}

#[test]
fn no_swap_improves_what_is_found() {
    let given = features(24, 2, 30);
    let kernel = RbfKernel::new(&given, Bandwidth::Exactly(0.7)).unwrap();
    let oracle = Determinants::of_kernel(gaussian(&given, 0.7));
    let model = KernelModel::of_size(&kernel, 7).unwrap();
    let found = LocalSearch::default().solve(&model, &Engine::cpu()).unwrap();
    let set = found.subset.as_slice();
    let own = oracle.det(set);
    assert!((found.log_det - own.ln()).abs() < 1e-9);
    for leaving in 0..set.len() {
        for entering in (0..24).filter(|item| !set.contains(item)) {
            let mut other = set.to_vec();
            other[leaving] = entering;
            other.sort_unstable();
            assert!(oracle.det(&other) <= own * (1.0 + 1e-6));
        }
    }
}

#[test]
fn faults_are_refused() {
    let given = features(10, 2, 31);
    let kernel = RbfKernel::new(&given, Bandwidth::Median).unwrap();
    let model = KernelModel::of_size(&kernel, 3).unwrap();
    let refused = LocalSearch::default().with_epsilon(0.0).solve(&model, &Engine::cpu());
    assert_error!(refused, Error::NotPositive { what: "epsilon", .. }, ["epsilon"]);
    let bad = KernelFn::new(9, |i, j| match (i.min(j), i.max(j)) {
        (0, 8) => f64::NAN,
        (i, j) => f64::from(u8::from(i == j)),
    });
    let bad = bad.unwrap();
    let model = KernelModel::of_size(&bad, 3).unwrap();
    let found = LocalSearch::default().solve(&model, &Engine::cpu());
    assert_error!(found, Error::Kernel(KernelProblem::NotFinite { row, column, .. }) if row + column == 8, ["NaN"]);
}
