//! Exact probabilities against exact arithmetic and enumeration.

use approx::{abs_diff_eq, relative_eq};
use oracles::{Case, enumerable_cases, known_answers, oracle};
use partition_dpp::{Dpp, Engine, Features, KDpp, Partition, PartitionDpp, Quota, Subset};

fn model(case: &Case) -> (Features, Partition, Quota) {
    let partition = Partition::from_labels(&case.labels).unwrap();
    let quota = Quota::new(&partition, &case.quota).unwrap();
    (case.features(), partition, quota)
}

/// Returns the largest gap between two lists, entry by entry.
fn gap(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(f, e)| (f - e).abs()).fold(0.0, f64::max)
}

#[test]
fn partition_dpp_of_every_known_answer() {
    for case in known_answers() {
        let (features, partition, quota) = model(&case);
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let inference = dpp.inference(&Engine::cpu()).unwrap();
        let log_z = inference.log_partition_function();
        let error = (log_z.value - case.log_z).abs();
        assert!(
            relative_eq!(log_z.value, case.log_z, epsilon = 0.0, max_relative = 1e-10),
            "{}: log Z {} {}",
            case.name,
            log_z.value,
            case.log_z
        );
        assert!(
            error <= log_z.error.max(1e-14),
            "{}: log Z off by {error:e}, said {:e}",
            case.name,
            log_z.error
        );
        let phases = dpp.log_partition_function_by_phases(&Engine::cpu()).unwrap();
        assert!(
            relative_eq!(phases.value, case.log_z, epsilon = 0.0, max_relative = 1e-10),
            "{}: by phases {}",
            case.name,
            phases.value
        );

        for (set, log_prob) in &case.log_probs {
            let found = inference.log_probability(&Subset::new(set.clone(), case.items()).unwrap()).unwrap();
            let gap = (found.value - log_prob).abs();
            let same = found.value.total_cmp(log_prob).is_eq()
                || gap <= 1e-10 * log_prob.abs() && gap <= found.error.max(1e-14);
            assert!(same, "{}: {set:?} {found:?} {log_prob}", case.name);
            assert!((found.error > 0.0) == found.value.is_finite(), "{}: {set:?} {found:?}", case.name);
        }
        let marginals = inference.inclusion_probabilities().unwrap();
        let mut worst = 0.0;
        if !case.marginals.is_empty() {
            worst = gap(&marginals.value, &case.marginals);
            assert!(worst <= 1e-10, "{}: marginals off by {worst:e}", case.name);
        }
        for part in 0..partition.parts() {
            let sum: f64 = partition.members(part).iter().map(|&i| marginals.value[i as usize]).sum();
            let expected = quota.low()[part] as f64;
            assert!(abs_diff_eq!(sum, expected, epsilon = 1e-10), "{}: part {part} sums to {sum}", case.name);
        }
        println!(
            "{:30} log Z off by {error:.1e} (said {:.1e}), by phases {:.1e}; marginals {worst:.1e} (said {:.1e})",
            case.name,
            log_z.error,
            (phases.value - case.log_z).abs(),
            marginals.error
        );
    }
}

#[test]
fn dpp_and_k_dpp_against_enumeration() {
    for case in enumerable_cases() {
        let features = case.features();
        let k = case.quota.iter().sum();
        let laws = [case.oracle().law(|_| 1.0, |_| true), case.oracle().law(|_| 1.0, |set| set.len() == k)];
        let (dpp, k_dpp) = (Dpp::new(&features).unwrap(), KDpp::new(&features, k).unwrap());
        let inferences = [dpp.inference(&Engine::cpu()).unwrap(), k_dpp.inference(&Engine::cpu()).unwrap()];
        for ((law, log_z), inference) in laws.iter().zip(&inferences) {
            let found = inference.log_partition_function();
            assert!(
                abs_diff_eq!(found.value, log_z, epsilon = 1e-10 * (1.0 + log_z.abs())),
                "{}: {found:?} {log_z}",
                case.name
            );
            let marginals = inference.inclusion_probabilities().unwrap();
            let worst = gap(&marginals.value, &oracle::marginals(law, case.items()));
            assert!(worst <= 1e-10, "{}: {worst:e}", case.name);
            for (set, p) in law {
                let found =
                    inference.log_probability(&Subset::new(set.clone(), case.items()).unwrap()).unwrap();
                assert!(
                    abs_diff_eq!(found.value, p.ln(), epsilon = 1e-9 * (1.0 + p.ln().abs())),
                    "{}: {set:?} {found:?} {p}",
                    case.name
                );
            }
        }
    }
}
