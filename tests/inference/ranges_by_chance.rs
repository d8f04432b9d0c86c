//! The probability that a DPP or a k-DPP meets ranges of part counts by chance.

use oracles::{enumerable_cases, oracle, random::normals, ranges::shapes};
use partition_dpp::{Dpp, Engine, Features, KDpp, Partition, Quota};

#[test]
fn agrees_with_enumeration_and_with_the_law_of_counts() {
    let (mut checks, mut worst) = (0, 0.0_f64);
    for case in &enumerable_cases() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let (features, oracle) = (case.features(), case.oracle());
        let k: usize = case.quota.iter().sum();
        let (dpp, k_dpp) = (Dpp::new(&features).unwrap(), KDpp::new(&features, k).unwrap());
        let of_any = dpp.part_counts(&partition, &Engine::cpu()).unwrap();
        let of_k = k_dpp.part_counts(&partition, &Engine::cpu()).unwrap();
        let (any, given_k) = (oracle.dpp(), oracle.k_dpp(k));
        for shape in shapes(case, &partition) {
            let quota = &shape.quota;
            let within = |law: &oracle::Law| -> f64 {
                let counts = |set: &[usize]| oracle::counts(set, &case.labels, partition.parts());
                law.iter().filter(|(set, _)| quota.allows(&counts(set))).map(|(_, p)| p).sum()
            };
            let laws = [
                (dpp.probability_of(&partition, quota, &Engine::cpu()).unwrap(), &of_any, within(&any)),
                (k_dpp.probability_of(&partition, quota, &Engine::cpu()).unwrap(), &of_k, within(&given_k)),
            ];
            for (found, counts, expected) in laws {
                let gap = (found.value - expected).abs();
                assert!(
                    gap <= 1e-10 * expected + 1e-300,
                    "{}, {}: {found:?} {expected}",
                    case.name,
                    shape.name
                );
                assert!(gap <= found.error + 1e-12 * expected, "{}, {}: {found:?}", case.name, shape.name);
                // The list of counts gives small probabilities only to its absolute error.
                let listed = (counts.probability_within(quota) - expected).abs();
                assert!(listed < 1e-10, "{}, {}: {listed:e}", case.name, shape.name);
                worst = worst.max(gap);
                checks += 1;
            }
        }
    }
    println!("{checks} probabilities, off by {worst:e} at most");
    assert!(checks > 300);
}

#[test]
fn what_cannot_be_has_probability_zero() {
    let features = Features::from_rows(8, 4, normals(32, 3)).unwrap();
    let partition = Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1]).unwrap();
    let quota = Quota::new(&partition, &[1..=2, 2..=3]).unwrap();
    let k_dpp = |k: usize| KDpp::new(&features, k).unwrap();
    let zero = |dpp: KDpp, quota: &Quota| {
        let found = dpp.probability_of(&partition, quota, &Engine::cpu()).unwrap();
        assert_eq!((found.value.to_bits(), found.error.to_bits()), (0, 0));
    };
    // Fewer items than the minimum counts; a different total; more of a part than remains; too many items.
    zero(k_dpp(2), &quota);
    zero(k_dpp(3), &quota.clone().with_total(4).unwrap());
    zero(k_dpp(3).excluding(&[4, 5, 6]).unwrap(), &quota);
    zero(k_dpp(4).including(&[0, 1, 2]).unwrap(), &quota);
    let five = Quota::new(&partition, &[2..=4, 3..=4]).unwrap();
    let chance = Dpp::new(&features).unwrap().probability_of(&partition, &five, &Engine::cpu()).unwrap();
    assert_eq!(chance.value.to_bits(), 0);
    assert!(k_dpp(3).probability_of(&partition, &quota, &Engine::cpu()).unwrap().value > 0.1);
}
