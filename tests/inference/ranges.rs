//! Exact probabilities under ranges of part counts, against enumeration and against the laws that they contain.

use approx::{abs_diff_eq, assert_abs_diff_eq, relative_eq};
use oracles::{
    assert_error, conditioned,
    conditions::Condition,
    enumerable_cases, known_answers,
    oracle::{self, Law},
    random::normals,
    ranges::{Shape, shapes},
};
use partition_dpp::{
    Dpp, Engine, Error, Estimate, Features, Inference, KDpp, Partition, PartitionDpp, Quota, Subset,
    data::LabelCopies,
};

/// Checks the normaliser, inclusion probabilities and log-probabilities. Returns the largest gaps of the first two.
fn check(inference: &Inference, law: &Law, log_z: f64, items: usize, what: &str) -> (f64, f64) {
    let found = inference.log_partition_function();
    let z_gap = (found.value - log_z).abs();
    assert!(z_gap <= 1e-10 * (1.0 + log_z.abs()), "{what}: {found:?}, expected {log_z}");
    // Enumeration has rounding errors, too.
    assert!(z_gap <= found.error + 1e-12 * (1.0 + log_z.abs()), "{what}: {found:?} is off by {z_gap:e}");
    let marginals = inference.inclusion_probabilities().unwrap();
    let expected = oracle::marginals(law, items);
    let gaps = marginals.value.iter().zip(&expected).map(|(found, expected)| (found - expected).abs());
    let gap = gaps.fold(0.0, f64::max);
    assert!(gap <= 1e-10 && gap <= marginals.error + 1e-12, "{what}: {gap:e}, error {:e}", marginals.error);
    let size: f64 = law.iter().map(|(set, p)| set.len() as f64 * p).sum();
    let sum: f64 = marginals.value.iter().sum();
    assert!(
        relative_eq!(sum, size, epsilon = 0.0, max_relative = 1e-10),
        "{what}: {sum} items are expected, {size} by enumeration"
    );
    for (set, p) in law.iter().filter(|(_, p)| **p > 1e-200) {
        let found = inference.log_probability(&Subset::new(set.clone(), items).unwrap()).unwrap();
        assert!(
            abs_diff_eq!(found.value, p.ln(), epsilon = 1e-9 * (1.0 + p.ln().abs())),
            "{what}: {set:?} {found:?} {p}"
        );
    }
    (z_gap, gap)
}

#[test]
fn agrees_with_enumeration() {
    let (mut checks, mut worst) = (0, (0.0_f64, 0.0_f64));
    for case in &enumerable_cases() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let (features, oracle) = (case.features(), case.oracle());
        for Shape { name, quota } in shapes(case, &partition) {
            let allowed = |set: &[usize]| quota.allows(&oracle::counts(set, &case.labels, partition.parts()));
            let (law, log_z) = oracle.law(|_| 1.0, allowed);
            let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let what = format!("{}, {name}", case.name);
            let inference = model.inference(&Engine::cpu()).unwrap();
            let gaps = check(&inference, &law, log_z, case.items(), &what);
            worst = (worst.0.max(gaps.0), worst.1.max(gaps.1));
            checks += 1;
            let forbidden = (0..case.items()).map(|item| vec![item]).find(|set| !allowed(set));
            if let Some(set) = forbidden {
                let set = Subset::new(set, case.items()).unwrap();
                let found = inference.log_probability(&set).unwrap();
                assert_eq!(found, Estimate { value: f64::NEG_INFINITY, error: 0.0 });
            }
            for condition in Condition::zoo(&law, &case.labels) {
                let (law, log_share) = condition.apply(&law);
                // The remaining probability must be more than rounding of the enumerated sums.
                if log_share > -20.0 {
                    let dpp = conditioned!(model.clone(), condition).unwrap();
                    let what = format!("{what}, {condition:?}");
                    check(
                        &dpp.inference(&Engine::cpu()).unwrap(),
                        &law,
                        log_z + log_share,
                        case.items(),
                        &what,
                    );
                    checks += 1;
                }
            }
        }
    }
    println!("{checks} laws; ln Z off by {:e} at most, marginals by {:e}", worst.0, worst.1);
    assert!(checks > 1000, "{checks}");
}

#[test]
fn exact_ranges_are_a_quota() {
    for case in known_answers() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let features = case.features();
        let ranges: Vec<_> = case.quota.iter().map(|&count| count..=count).collect();
        let ranges = Quota::new(&partition, &ranges).unwrap();
        let counts = Quota::new(&partition, &case.quota).unwrap();
        let expected =
            PartitionDpp::new(&features, &partition, &counts).unwrap().inference(&Engine::cpu()).unwrap();
        let found =
            PartitionDpp::new(&features, &partition, &ranges).unwrap().inference(&Engine::cpu()).unwrap();
        let log_z = found.log_partition_function();
        let gap = (log_z.value - case.log_z).abs();
        assert!(gap <= log_z.error + 1e-12 && log_z.error < 1e-9, "{}: {log_z:?}, {}", case.name, case.log_z);
        let (found, expected) =
            (found.inclusion_probabilities().unwrap(), expected.inclusion_probabilities().unwrap());
        for (found, expected) in found.value.iter().zip(&expected.value) {
            assert!(abs_diff_eq!(found, expected, epsilon = 1e-11), "{}: {found} {expected}", case.name);
        }
    }
}

#[test]
fn ranges_that_allow_everything_are_no_ranges() {
    for case in enumerable_cases() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let features = case.features();
        let open = vec![0..=case.items(); partition.parts()];
        let open = Quota::new(&partition, &open).unwrap();
        let k: usize = case.quota.iter().sum();
        let of_size = open.clone().with_total(k).unwrap();
        let compare = |found: Inference, expected: Inference| {
            let (z, expected_z) = (found.log_partition_function(), expected.log_partition_function());
            let tolerance = 1e-11 * (1.0 + expected_z.value.abs());
            assert!(
                abs_diff_eq!(z.value, expected_z.value, epsilon = tolerance),
                "{}: {z:?} {expected_z:?}",
                case.name
            );
            let found = found.inclusion_probabilities().unwrap().value;
            for (found, expected) in found.iter().zip(expected.inclusion_probabilities().unwrap().value) {
                assert!(abs_diff_eq!(*found, expected, epsilon = 1e-10), "{}: {found} {expected}", case.name);
            }
        };
        let ranges = |quota| {
            PartitionDpp::new(&features, &partition, quota).unwrap().inference(&Engine::cpu()).unwrap()
        };
        compare(ranges(&open), Dpp::new(&features).unwrap().inference(&Engine::cpu()).unwrap());
        compare(ranges(&of_size), KDpp::new(&features, k).unwrap().inference(&Engine::cpu()).unwrap());
    }
}

/// Beyond enumeration: the sum over all allowed counts, one by one.
#[test]
fn ranges_are_sums_over_counts() {
    let (items, dims) = (300, 24);
    let features = Features::from_rows(items, dims, normals(items * dims, 8)).unwrap();
    let partition = Partition::from_labels(&(0..items).map(|i| i % 3).collect::<Vec<_>>()).unwrap();
    let ranges = Quota::new(&partition, &[3..=5, 0..=4, 2..=2]).unwrap();
    let mut of_counts = Vec::new();
    for (a, b) in (3..=5).flat_map(|a| (0..=4).map(move |b| (a, b))) {
        let quota = Quota::new(&partition, [a, b, 2]).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let inference = dpp.inference(&Engine::cpu()).unwrap();
        let marginals = inference.inclusion_probabilities().unwrap().value;
        of_counts.push((a + b + 2, inference.log_partition_function().value, marginals));
    }
    for total in [None, Some(8), Some(11)] {
        let ranges = total.map_or(ranges.clone(), |k| ranges.clone().with_total(k).unwrap());
        let inference =
            PartitionDpp::new(&features, &partition, &ranges).unwrap().inference(&Engine::cpu()).unwrap();
        let some: Vec<_> =
            of_counts.iter().filter(|(k, _, _)| total.is_none_or(|total| total == *k)).collect();
        let largest = some.iter().map(|(_, log_z, _)| *log_z).fold(f64::NEG_INFINITY, f64::max);
        let share = |log_z: f64| (log_z - largest).exp();
        let sum: f64 = some.iter().map(|(_, log_z, _)| share(*log_z)).sum();
        let found = inference.log_partition_function();
        assert!(abs_diff_eq!(found.value - largest, sum.ln(), epsilon = 1e-10), "{total:?}: {found:?}");
        let marginals = inference.inclusion_probabilities().unwrap();
        for item in 0..items {
            let expected: f64 = some.iter().map(|(_, log_z, m)| share(*log_z) * m[item] / sum).sum();
            assert!(abs_diff_eq!(marginals.value[item], expected, epsilon = 1e-10), "{total:?}: item {item}");
        }
    }
}

#[test]
fn nodes_are_bounded() {
    let features = Features::from_rows(200, 40, normals(8000, 6)).unwrap();
    let partition = Partition::from_labels(&(0..200).map(|i| i % 10).collect::<Vec<_>>()).unwrap();
    let quota = |ranges: Vec<std::ops::RangeInclusive<usize>>| Quota::new(&partition, &ranges).unwrap();
    let narrow = quota(vec![1..=2; 10]);
    let dpp = PartitionDpp::new(&features, &partition, &narrow).unwrap();
    assert_error!(dpp.inference(&Engine::cpu()).map(|_| ()), Error::NodeBudget { .. }, ["nodes", "1.000e6"]);
    let tight = dpp.with_node_budget(5.0).inference(&Engine::cpu()).map(|_| ());
    assert_error!(tight, Error::NodeBudget { budget: 5.0, .. }, ["5.000e0"]);
    // Parts with a range that restricts nothing take one node each.
    let mut ranges = vec![0..=20; 10];
    ranges[3] = 1..=2;
    let free = quota(ranges.clone());
    let inference = PartitionDpp::new(&features, &partition, &free).unwrap().with_node_budget(30.0);
    let of_six = free.clone().with_total(6).unwrap();
    let of_six = PartitionDpp::new(&features, &partition, &of_six).unwrap().with_node_budget(100.0);
    let marginals = of_six.inference(&Engine::cpu()).unwrap().inclusion_probabilities().unwrap().value;
    assert_abs_diff_eq!(marginals.iter().sum::<f64>(), 6.0, epsilon = 1e-10);
    let sum: f64 =
        inference.inference(&Engine::cpu()).unwrap().inclusion_probabilities().unwrap().value.iter().sum();
    let counted = Dpp::new(&features).unwrap().part_counts(&partition.clone(), &Engine::cpu());
    assert_error!(counted, Error::NodeBudget { .. }, ["nodes"]);
    assert!((20.0..40.0).contains(&sum), "{sum}");
}

/// Items with several labels: the probability of a set of items is the sum over all its labellings that the ranges
/// allow.
#[test]
fn labels_may_be_forgotten() {
    let rows = normals(5 * 4, 12);
    let items = Features::from_rows(5, 4, rows.clone()).unwrap();
    let labels = [vec!["a", "b"], vec!["a"], vec!["a", "b"], vec!["b"], vec!["a", "b"]];
    let copies = LabelCopies::from_labels(&labels).unwrap();
    let features = copies.features(&items).unwrap();
    let quota = Quota::new(copies.partition(), &[0..=1, 1..=2]).unwrap();
    let inference =
        PartitionDpp::new(&features, copies.partition(), &quota).unwrap().inference(&Engine::cpu()).unwrap();
    let mut sum = 0.0;
    for mask in 0_u32..1 << 5 {
        let set: Vec<usize> = (0..5).filter(|i| mask >> i & 1 == 1).collect();
        let set = Subset::new(set, 5).unwrap();
        sum += inference.log_probability_of_items(&copies, &set).unwrap().value.exp();
    }
    assert_abs_diff_eq!(sum, 1.0, epsilon = 1e-11);
    // {1, 3} has one labelling, a and b; {1} has none.
    let det = oracle::Determinants::of_features(rows.chunks(4).map(<[f64]>::to_vec).collect()).det(&[1, 3]);
    let of = |set: Vec<usize>| {
        inference.log_probability_of_items(&copies, &Subset::new(set, 5).unwrap()).unwrap().value
    };
    let log_z = inference.log_partition_function().value;
    assert_abs_diff_eq!(of(vec![1, 3]), det.ln() - log_z, epsilon = 1e-11);
    assert_eq!(of(vec![1]).to_bits(), f64::NEG_INFINITY.to_bits());
}
