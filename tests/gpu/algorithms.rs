//! Every algorithm on a GPU: exact answers, sets, and proof that the GPU did the work.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use oracles::{Case, engines::gpu, enumerable_cases, known_answers, random::normals};
use partition_dpp::{
    Dpp, Engine, Features, IndependentKDpps, KDpp, Method, Partition, PartitionDpp, Projection, Quota,
    SamplerOptions, Subset,
    engine::{Precision, gpu::Gpu},
    map::{BranchAndBound, Greedy, LocalSearch, Softmax, Solution, Solver, SymmetricGreedy, UpperBound},
};

const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];

fn model(case: &Case) -> (Features, Partition, Quota) {
    let partition = Partition::from_labels(&case.labels).unwrap();
    let quota = Quota::new(&partition, &case.quota).unwrap();
    (case.features(), partition, quota)
}

/// Returns a solution as if the CPU had found it.
fn elsewhere(mut solution: Solution) -> Solution {
    solution.engine = Engine::cpu().info();
    solution
}

/// Runs some work and asserts which shaders it dispatched.
#[track_caller]
fn dispatching<T>(gpu: &Gpu, verbs: &[&str], work: impl FnOnce() -> T) -> T {
    let before = gpu.dispatches();
    let found = work();
    for ((verb, before), (_, after)) in before.into_iter().zip(gpu.dispatches()) {
        if verbs.contains(&verb) {
            assert!(after > before, "{verb} did not run on {:?}", gpu.engine().info());
        }
    }
    found
}

#[test]
fn known_answers_of_inference() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        let tolerance = if precision == Precision::F32 { 1e-6 } else { 1e-11 };
        let mut worst: f64 = 0.0;
        for case in known_answers() {
            let (features, partition, quota) = model(&case);
            let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let inference = dpp.inference(&gpu.engine()).unwrap();
            let log_z = inference.log_partition_function();
            let error = (log_z.value - case.log_z).abs() / case.log_z.abs().max(1.0);
            assert!(error <= tolerance, "{} in {precision}: log Z {log_z:?}, {}", case.name, case.log_z);
            assert!(error <= log_z.error, "{} in {precision}: off by {error:e}, said {log_z:?}", case.name);
            worst = worst.max(error);
            for (set, log_prob) in &case.log_probs {
                let found =
                    inference.log_probability(&Subset::new(set.clone(), case.items()).unwrap()).unwrap();
                let gap = (found.value - log_prob).abs();
                let same = found.value.total_cmp(log_prob).is_eq()
                    || gap <= tolerance * log_prob.abs().max(1.0) && gap <= found.error;
                assert!(same, "{} in {precision}: {set:?} {found:?} {log_prob}", case.name);
            }
            let marginals = inference.inclusion_probabilities().unwrap();
            for (found, expected) in marginals.value.iter().zip(&case.marginals) {
                let error = (found - expected).abs();
                assert!(
                    error <= marginals.error.max(1e-13),
                    "{} in {precision}: {found} {expected}",
                    case.name
                );
                // Nearly parallel rows cancel; single precision states how much that costs.
                let bound = if case.name.contains("parallel") { 1e-2 } else { 100.0 * tolerance };
                assert!(
                    abs_diff_eq!(found, expected, epsilon = bound),
                    "{} in {precision}: {found} {expected}",
                    case.name
                );
            }
        }
        println!("{precision}: log Z off by {worst:.1e} at worst");
        let ran: Vec<_> = gpu.dispatches();
        println!("{ran:?}");
        let needed = ["grid_determinants", "grid_forms", "row_forms"];
        assert!(ran.iter().all(|(verb, count)| *count > 0 || !needed.contains(verb)));
    }
}

/// Sums over thousands of nodes on the device are as accurate as stated.
#[test]
fn marginals_from_many_nodes() {
    let (items, dims, parts) = (150, 24, 5);
    let features = Features::from_rows(items, dims, normals(items * dims, 7)).unwrap();
    let partition = Partition::from_labels(&(0..items).map(|i| i % parts).collect::<Vec<_>>()).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &Quota::each(&partition, 2).unwrap()).unwrap();
    let expected = dpp.inference(&Engine::cpu()).unwrap().inclusion_probabilities().unwrap();
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        let found = dpp.inference(&gpu.engine()).unwrap().inclusion_probabilities().unwrap();
        let gaps = found.value.iter().zip(&expected.value).map(|(found, expected)| (found - expected).abs());
        let worst = gaps.fold(0.0, f64::max);
        println!("{precision}: marginals off by {worst:.1e}, said {:.1e}", found.error);
        assert!(worst <= found.error + expected.error, "{worst:e}, said {:e}", found.error);
        assert!(worst <= if precision == Precision::F32 { 1e-5 } else { 1e-12 }, "{worst:e}");
    }
}

#[test]
fn algorithm_2_on_the_device() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        let (items, dims) = (24, 8);
        let features = Features::from_rows(items, dims, normals(items * dims, 3)).unwrap();
        let partition = Partition::from_labels(&(0..items).map(|i| i % 2).collect::<Vec<_>>()).unwrap();
        let quota = Quota::new(&partition, [2, 2]).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        for (method, verbs) in [
            (Method::PerCandidate, &["candidate_determinants", "whiten_rows"][..]),
            (Method::Interpolation, &["grid_determinants", "row_forms"][..]),
        ] {
            let tolerance = if precision == Precision::F32 { 1e-5 } else { 1e-12 };
            dispatching(&gpu, verbs, || {
                let (mut here, mut there) = (
                    dpp.conditionals(method, &gpu.engine()).unwrap(),
                    dpp.conditionals(method, &Engine::cpu()).unwrap(),
                );
                for _ in 0..4 {
                    let (found, expected) = (here.probabilities().unwrap(), there.probabilities().unwrap());
                    for (found, expected) in found.iter().zip(&expected) {
                        assert!(
                            abs_diff_eq!(found, expected, epsilon = tolerance),
                            "{method:?} in {precision}: {found} {expected}"
                        );
                    }
                    let likely = (0..items).max_by(|&i, &j| expected[i].total_cmp(&expected[j])).unwrap();
                    here.pick(likely).unwrap();
                    there.pick(likely).unwrap();
                }
            });
            let sampler = dpp.sampler(method, &gpu.engine()).unwrap();
            assert!(
                sampler.law_error() < 1e-3 && (precision == Precision::F64 || sampler.law_error() > 1e-8)
            );
            assert_eq!(sampler.sample_many(3, 1).subsets().len(), 3);
        }
    }
}

#[test]
fn sets_are_those_of_the_cpu_or_as_good() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        for (items, dims, each) in [(60, 8, 2), (3000, 20, 4), (700, 33, 8)] {
            let features = Features::from_rows(items, dims, normals(items * dims, 7)).unwrap();
            let partition = Partition::from_labels(&(0..items).map(|i| i % 3).collect::<Vec<_>>()).unwrap();
            let quota = Quota::each(&partition, each).unwrap();
            let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let what = format!("{items}×{dims} in {precision}");
            let greedy = dispatching(&gpu, &["row_norms", "gain_update"], || {
                Greedy::default().solve(&dpp, &gpu.engine()).unwrap()
            });
            assert_eq!(greedy.engine, gpu.engine().info());
            assert_eq!(
                elsewhere(greedy),
                elsewhere(Greedy::default().solve(&dpp, &Engine::cpu()).unwrap()),
                "greedy of {what}"
            );
            let local = dispatching(&gpu, &["swap_table", "swap_gains", "row_forms"], || {
                LocalSearch::default().solve(&dpp, &gpu.engine()).unwrap()
            });
            let on_cpu = LocalSearch::default().solve(&dpp, &Engine::cpu()).unwrap();
            assert_eq!(local.subset, on_cpu.subset, "local search of {what}");
            assert_abs_diff_eq!(local.log_det, on_cpu.log_det, epsilon = 1e-10);
            let certificate = UpperBound::default().certify(&dpp, &gpu.engine()).unwrap();
            assert!(certificate.upper_bound >= local.log_det, "{what}");
            // The CPU computes small work, and work for which single precision is not enough.
            let on_device = precision == Precision::F64 && items > 400;
            assert_eq!(
                certificate.engine,
                if on_device { gpu.engine().info() } else { Engine::cpu().info() },
                "{what}"
            );
            let free = Dpp::new(&features).unwrap();
            assert_eq!(
                Greedy::default().solve(&free, &gpu.engine()).unwrap().subset,
                Greedy::default().solve(&free, &Engine::cpu()).unwrap().subset,
                "sets of any size of {what}"
            );
        }
    }
}

#[test]
fn equal_rows_and_exhausted_rank() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        // Four directions with ten copies each; the first copy must be taken.
        let values: Vec<f64> =
            (0..40).flat_map(|i| (0..5).map(move |j| if i / 10 == j { 1.5 } else { 0.0 })).collect();
        let features = Features::from_rows(40, 5, values).unwrap();
        let four = KDpp::new(&features, 4).unwrap();
        for solution in [
            Greedy::default().solve(&four, &gpu.engine()).unwrap(),
            LocalSearch::default().solve(&four, &gpu.engine()).unwrap(),
        ] {
            assert_eq!(solution.subset.as_slice(), [0, 10, 20, 30], "{precision}");
        }
        let labels: Vec<usize> = (0..40).map(|i| usize::from(i >= 20)).collect();
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = Quota::new(&partition, [2, 2]).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        assert_eq!(
            elsewhere(Greedy::default().solve(&dpp, &gpu.engine()).unwrap()),
            elsewhere(Greedy::default().solve(&dpp, &Engine::cpu()).unwrap())
        );
    }
}

#[test]
fn known_optima_on_the_device() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        for case in enumerable_cases() {
            let (features, partition, quota) = model(&case);
            let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let best = case.map.unwrap().1;
            let solution = BranchAndBound::default().solve(&dpp, &gpu.engine()).unwrap();
            assert!(
                abs_diff_eq!(solution.log_det, best, epsilon = 1e-6 * best.abs().max(1.0)),
                "{} in {precision}",
                case.name
            );
            let local = LocalSearch::default().solve(&dpp, &gpu.engine()).unwrap();
            let on_cpu = LocalSearch::default().solve(&dpp, &Engine::cpu()).unwrap();
            assert!(
                abs_diff_eq!(local.log_det, on_cpu.log_det, epsilon = 1e-9 * best.abs().max(1.0)),
                "{} in {precision}",
                case.name
            );
        }
        let features = Features::from_rows(50, 9, normals(450, 5)).unwrap();
        let dpp = Dpp::new(&features).unwrap();
        for (found, expected) in [
            (
                Softmax::default().solve(&dpp, &gpu.engine()).unwrap(),
                Softmax::default().solve(&dpp, &Engine::cpu()).unwrap(),
            ),
            (
                SymmetricGreedy::default().solve(&dpp, &gpu.engine()).unwrap(),
                SymmetricGreedy::default().solve(&dpp, &Engine::cpu()).unwrap(),
            ),
        ] {
            assert!(
                abs_diff_eq!(found.log_det, expected.log_det, epsilon = 1e-6),
                "{precision}: {found:?} {expected:?}"
            );
        }
    }
}

#[test]
fn every_algorithm_computes_there() {
    let Some(gpu) = gpu(Precision::F64) else { return };
    let (items, dims) = (900, 10);
    let features = Features::from_rows(items, dims, normals(items * dims, 13)).unwrap();
    let partition = Partition::from_labels(&(0..items).map(|i| i % 2).collect::<Vec<_>>()).unwrap();
    let quota = Quota::each(&partition, 2).unwrap();
    let quotas = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let (size, any) = (KDpp::new(&features, 4).unwrap(), Dpp::new(&features).unwrap());
    let parts = IndependentKDpps::new(&features, &partition, &quota).unwrap();
    let leverage = &["part_grams", "row_forms"][..];
    dispatching(&gpu, leverage, || drop(size.sampler(SamplerOptions::default(), &gpu.engine()).unwrap()));
    dispatching(&gpu, leverage, || drop(any.sampler(SamplerOptions::default(), &gpu.engine()).unwrap()));
    dispatching(&gpu, leverage, || drop(parts.sampler(SamplerOptions::default(), &gpu.engine()).unwrap()));
    dispatching(&gpu, leverage, || {
        drop(size.inference(&gpu.engine()).unwrap().inclusion_probabilities().unwrap());
    });
    dispatching(&gpu, leverage, || {
        drop(any.inference(&gpu.engine()).unwrap().inclusion_probabilities().unwrap());
    });
    dispatching(&gpu, &["grid_determinants"], || drop(any.part_counts(&partition, &gpu.engine()).unwrap()));
    dispatching(&gpu, &["whiten_rows"], || {
        let scan = SamplerOptions::from(Method::Rejection).with_projection(Projection::Elementary);
        drop(quotas.sampler(scan, &gpu.engine()).unwrap());
    });
    dispatching(&gpu, &["row_norms", "row_forms"], || {
        UpperBound::default().certify(&quotas, &gpu.engine()).unwrap()
    });
    dispatching(&gpu, &["gain_update"], || BranchAndBound::default().solve(&quotas, &gpu.engine()).unwrap());
    dispatching(&gpu, &["row_norms"], || Greedy::default().solve(&quotas, &gpu.engine()).unwrap());
    dispatching(&gpu, &["row_forms"], || Softmax::default().solve(&any, &gpu.engine()).unwrap());
    // Symmetric greedy decides item by item on the host, so no verb would help.
    let before = gpu.dispatches();
    SymmetricGreedy::default().solve(&any, &gpu.engine()).unwrap();
    assert_eq!(gpu.dispatches(), before);
}
