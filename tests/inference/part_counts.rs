//! The law of part counts, and quotas met by chance, against enumeration.

use std::collections::BTreeMap;

use approx::{abs_diff_eq, assert_abs_diff_eq};
use oracles::{
    Case, assert_error, conditioned,
    conditions::Condition,
    enumerable_cases,
    oracle::{self, Law},
};
use partition_dpp::{
    Dpp, Engine, Error, Estimate, Features, KDpp, PartCounts, Partition, Quota, Result,
    similarity::{Bandwidth, Rbf},
};

/// Probability of every vector of part counts.
type Table = BTreeMap<Vec<usize>, f64>;

fn table(law: &Law, labels: &[usize], parts: usize) -> Table {
    let mut table = Table::new();
    for (set, p) in law {
        *table.entry(oracle::counts(set, labels, parts)).or_default() += p;
    }
    table
}

/// Returns the largest gap between a law of counts and a table of probabilities, over the vectors of either.
fn gap(found: &PartCounts, expected: &Table) -> f64 {
    let entries = found.entries().iter();
    let listed = entries.map(|(counts, p)| (p - expected.get(counts).copied().unwrap_or(0.0)).abs());
    let others = expected.iter().map(|(counts, p)| (found.probability(counts) - p).abs());
    listed.chain(others).fold(0.0, f64::max)
}

/// Checks that every vector between the included and the free counts appears once, in ascending order; given a size,
/// only
/// vectors with that total.
fn check_entries(what: &str, found: &PartCounts, case: &Case, condition: &Condition, size: Option<usize>) {
    let parts = case.quota.len();
    let least = oracle::counts(&condition.included, &case.labels, parts);
    let possible: Vec<usize> = (0..case.items()).filter(|i| !condition.excluded.contains(i)).collect();
    let most = oracle::counts(&possible, &case.labels, parts);
    let entries = found.entries();
    assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0), "{what}: not in lexicographic order");
    for (counts, p) in entries {
        let within = counts.iter().zip(&least).zip(&most).all(|((c, a), b)| a <= c && c <= b);
        assert!(within && *p >= 0.0, "{what}: {counts:?} {p}");
        assert!(size.is_none_or(|k| counts.iter().sum::<usize>() == k), "{what}: {counts:?}");
        assert!(found.probability(counts).total_cmp(p).is_eq());
    }
    let total: f64 = entries.iter().map(|(_, p)| p).sum();
    assert!(abs_diff_eq!(total, 1.0, epsilon = 1e-12), "{what}: sums to {total}");
    assert!(found.probability(&vec![99; parts]).total_cmp(&0.0).is_eq());
}

/// The largest errors seen.
#[derive(Default)]
struct Worst {
    counts: f64,
    means: f64,
    chances: f64,
    conditions: usize,
}

impl Worst {
    /// Checks the law of counts, its means, and the probability of every quota.
    fn check(
        &mut self,
        what: &str,
        case: &Case,
        (condition, law): (&Condition, &Law),
        size: Option<usize>,
        found: &PartCounts,
        chance: impl Fn(&Quota) -> Result<Estimate<f64>>,
    ) {
        let parts = case.quota.len();
        let what = format!("{what} of {}, {condition:?}", case.name);
        let expected = table(law, &case.labels, parts);
        check_entries(&what, found, case, condition, size);
        let off = gap(found, &expected);
        assert!(off <= 1e-12, "{what}: counts off by {off:e}, said {:e}", found.error());
        let marginals = oracle::marginals(law, case.items());
        let mut sums = vec![0.0; parts];
        marginals.iter().zip(&case.labels).for_each(|(p, &label)| sums[label] += p);
        let means = found.means().iter().zip(&sums).map(|(m, s)| (m - s).abs()).fold(0.0, f64::max);
        assert!(means <= 1e-12 * case.items() as f64, "{what}: means off by {means:e}");
        self.counts = self.counts.max(off);
        self.means = self.means.max(means);
        self.conditions += 1;

        let partition = Partition::from_labels(&case.labels).unwrap();
        for (counts, entry) in found.entries() {
            let Ok(quota) = Quota::new(&partition, counts) else {
                assert_eq!(counts.iter().sum::<usize>(), 0, "{what}: {counts:?}");
                continue;
            };
            // Quotas that cannot be met have their own test.
            let Some(&p) = expected.get(counts) else { continue };
            let found = chance(&quota).unwrap();
            let off = (found.value / p - 1.0).abs();
            assert!(off <= 1e-10, "{what}: {counts:?} by chance {found:?}, expected {p:e}");
            assert!(
                abs_diff_eq!(found.value, entry, epsilon = 1e-10 * entry + 1e-12),
                "{what}: {found:?} {entry:e}"
            );
            self.chances = self.chances.max(off);
        }
    }

    fn print(&self, what: &str) {
        let Self { counts, means, chances, conditions } = self;
        println!(
            "{what}: {conditions} laws, probabilities off by {counts:.1e}, means by {means:.1e}, \
             quotas by chance by {chances:.1e} (relative)"
        );
        assert!(*conditions > 100);
    }
}

#[test]
fn k_dpp() {
    let mut worst = Worst::default();
    for case in enumerable_cases() {
        let (features, k) = (case.features(), case.quota.iter().sum());
        let partition = Partition::from_labels(&case.labels).unwrap();
        let whole = case.oracle().k_dpp(k);
        let free = Condition::default();
        for condition in Condition::zoo(&whole, &case.labels).into_iter().chain([free]) {
            let (law, _) = condition.apply(&whole);
            let dpp = conditioned!(KDpp::new(&features, k).unwrap(), condition).unwrap();
            let found = dpp.part_counts(&partition, &Engine::cpu()).unwrap();
            let chance = |quota: &Quota| dpp.probability_of(&partition, quota, &Engine::cpu());
            worst.check("k-DPP", &case, (&condition, &law), Some(k), &found, chance);
        }
    }
    worst.print("k-DPP");
}

#[test]
fn dpp() {
    let mut worst = Worst::default();
    for case in enumerable_cases() {
        let features = case.features();
        let partition = Partition::from_labels(&case.labels).unwrap();
        let whole = case.oracle().dpp();
        let free = Condition::default();
        for condition in Condition::zoo(&whole, &case.labels).into_iter().chain([free]) {
            let (law, _) = condition.apply(&whole);
            let dpp = conditioned!(Dpp::new(&features).unwrap(), condition).unwrap();
            let found = dpp.part_counts(&partition, &Engine::cpu()).unwrap();
            let chance = |quota: &Quota| dpp.probability_of(&partition, quota, &Engine::cpu());
            worst.check("DPP", &case, (&condition, &law), None, &found, chance);
        }
    }
    worst.print("DPP");
}

fn case(name: &str) -> Case {
    enumerable_cases().into_iter().find(|case| case.name == name).unwrap()
}

#[test]
fn quotas_that_cannot_be_met_have_no_chance() {
    let case = case("rank-equals-k");
    let features = case.features();
    let partition = Partition::from_labels(&case.labels).unwrap();
    let (dpp, k_dpp) = (Dpp::new(&features).unwrap(), KDpp::new(&features, 4).unwrap());
    let quota = |counts: &[usize]| Quota::new(&partition, counts).unwrap();
    let zero = |chance: Estimate<f64>| chance.value.total_cmp(&0.0).is_eq();
    for counts in [[3, 2], [5, 0], [5, 5]] {
        // The total is above the rank, 4.
        assert!(zero(dpp.probability_of(&partition, &quota(&counts), &Engine::cpu()).unwrap()), "{counts:?}");
    }
    for counts in [[2, 1], [0, 1], [3, 2]] {
        // The total differs.
        assert!(
            zero(k_dpp.probability_of(&partition, &quota(&counts), &Engine::cpu()).unwrap()),
            "{counts:?}"
        );
    }
    // The quota contradicts a condition.
    let given = k_dpp.clone().including(&[0, 1]).unwrap();
    assert!(zero(given.probability_of(&partition, &quota(&[1, 3]), &Engine::cpu()).unwrap()));
    let given = k_dpp.clone().excluding(&[0, 1, 2]).unwrap();
    assert!(zero(given.probability_of(&partition, &quota(&[3, 1]), &Engine::cpu()).unwrap()));
    assert!(!zero(k_dpp.probability_of(&partition, &quota(&[3, 1]), &Engine::cpu()).unwrap()));
}

#[test]
fn quotas_beyond_the_rank_that_is_left_have_no_chance() {
    // Items 8 and 11 leave five dimensions; the quota asks for six items more.
    let case = case("three-parts");
    let features = case.features();
    let partition = Partition::from_labels(&case.labels).unwrap();
    let quota = Quota::new(&partition, [2, 3, 3]).unwrap();
    let dpp = Dpp::new(&features).unwrap().including(&[8, 11]).unwrap();
    let chance = dpp.probability_of(&partition, &quota, &Engine::cpu());
    assert!(matches!(chance, Ok(ref chance) if chance.value.total_cmp(&0.0).is_eq()), "{chance:?}");
}

#[test]
fn a_partition_of_other_items_is_refused() {
    let case = case("two-parts");
    let features = case.features();
    let (dpp, k_dpp) = (Dpp::new(&features).unwrap(), KDpp::new(&features, 2).unwrap());
    let partition = Partition::from_labels(&[0, 0, 1]).unwrap();
    let quota = Quota::new(&partition, [1, 1]).unwrap();
    let texts = ["3 labels", "10 items"];
    let refused = |result: Result<PartCounts>| {
        assert_error!(result, Error::LabelCount { items: 10, labels: 3 }, [texts[0], texts[1]]);
    };
    refused(dpp.part_counts(&partition, &Engine::cpu()));
    refused(k_dpp.part_counts(&partition, &Engine::cpu()));
    let refused = |result: Result<Estimate<f64>>| {
        assert_error!(result, Error::LabelCount { items: 10, labels: 3 }, [texts[0], texts[1]]);
    };
    refused(dpp.probability_of(&partition, &quota, &Engine::cpu()));
    refused(k_dpp.probability_of(&partition, &quota, &Engine::cpu()));
}

#[test]
fn planted_faults_are_far_off() {
    let case = case("three-parts");
    let features = case.features();
    let k_dpp = KDpp::new(&features, 5).unwrap();
    let expected = table(&case.oracle().k_dpp(5), &case.labels, 3);
    let counts_of = |dpp: &KDpp, labels: &[usize]| {
        dpp.part_counts(&Partition::from_labels(labels).unwrap(), &Engine::cpu()).unwrap()
    };
    assert!(gap(&counts_of(&k_dpp, &case.labels), &expected) <= 1e-12);
    let mut shifted = case.labels.clone();
    shifted.rotate_right(1);
    assert!(gap(&counts_of(&k_dpp, &shifted), &expected) > 1e-3, "labels one item off");
    let renamed: Vec<usize> = case.labels.iter().map(|label| (label + 1) % 3).collect();
    assert!(gap(&counts_of(&k_dpp, &renamed), &expected) > 1e-3, "parts in another order");
    let conditioned = k_dpp.clone().excluding(&[0]).unwrap();
    assert!(gap(&counts_of(&conditioned, &case.labels), &expected) > 1e-3, "a condition too many");
    let larger = KDpp::new(&features, 6).unwrap();
    assert!(gap(&counts_of(&larger, &case.labels), &expected) > 1e-3, "one item more");
}

/// Points so far apart that similarities are between 1e-10 and 1e-105. For matrices with entries that far apart, an
/// eigenvalue solver returns zeros.
#[test]
fn sets_of_points_far_apart_are_alike() {
    let points = [
        [-1_336.813_625_257_314_5, 17.519_280_231_096_307, -1_612.474_893_206_149_5],
        [-1e12, 1e12, -1e12],
        [1e12, -1e12, -1e12],
        [-1_336.813_625_257_314_5, 29.659_779_072_931_048, -1_618.545_142_627_067],
        [993.841_011_351_263_4, -911.107_813_583_981, -1_389.739_880_043_124],
        [-1_336.813_625_257_314_5, 11.449_030_810_178_938, -1_609.439_768_495_691],
        [993.841_011_351_263_4, -898.967_314_742_146_3, -1_407.950_628_305_876],
    ];
    let points = Features::from_rows(7, 3, points.as_flattened()).unwrap();
    let rbf = Rbf::new(Bandwidth::Exactly(1.0)).features(&points, &Engine::cpu()).unwrap();
    let partition = Partition::from_labels(&[0, 0, 0, 1, 0, 1, 0]).unwrap();
    let law = KDpp::new(rbf.features(), 4).unwrap().part_counts(&partition, &Engine::cpu()).unwrap();
    assert_eq!(law.entries().len(), 3);
    for (counts, probability) in law.entries() {
        let sets = [5.0, 20.0, 10.0][counts[1]];
        assert_abs_diff_eq!(*probability, sets / 35.0, epsilon = 1e-9);
    }
}
