//! Intervals of ln Z against enumeration.

use oracles::{Case, enumerable_cases, oracle, ranges::shapes};
use partition_dpp::{
    Engine, Error, Features, Partition, PartitionDpp, Quota,
    error::{ErrorKind, EstimateProblem},
    sample::{IntervalOptions, LogInterval},
};

const CASES: usize = 1000;
const WITHIN: f64 = 0.2;

/// Returns models with ln Z: exact counts, and ranges.
fn models() -> Vec<(PartitionDpp, f64)> {
    let mut all = Vec::new();
    for case in &enumerable_cases() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let exact = Quota::new(&partition, case.quota.iter().copied()).unwrap();
        let ranges = shapes(case, &partition).into_iter().map(|shape| shape.quota);
        for quota in [exact].into_iter().chain(ranges.take(2)) {
            all.push((
                PartitionDpp::new(&case.features(), &partition, &quota).unwrap(),
                log_z(case, &partition, &quota),
            ));
        }
    }
    all
}

fn log_z(case: &Case, partition: &Partition, quota: &Quota) -> f64 {
    let allowed = |set: &[usize]| quota.allows(&oracle::counts(set, &case.labels, partition.parts()));
    case.oracle().law(|_| 1.0, allowed).1
}

fn interval(dpp: &PartitionDpp, options: IntervalOptions) -> LogInterval {
    dpp.log_partition_interval(options, &Engine::cpu()).unwrap()
}

#[test]
fn intervals_cover_as_often_as_they_say() {
    let models = models();
    for confidence in [0.95, 0.5] {
        let (mut covered, mut random) = (0, 0);
        for (number, (dpp, log_z)) in models.iter().cycle().take(CASES).enumerate() {
            let options = IntervalOptions::new(WITHIN).with_confidence(confidence).with_seed(number as u64);
            let found = interval(dpp, options);
            assert!(found.high - found.low <= 2.0 * WITHIN + 1e-6, "{found:?}");
            covered += usize::from(found.low <= *log_z && *log_z <= found.high);
            random += usize::from(found.proposals > found.acceptances);
        }
        let share = covered as f64 / CASES as f64;
        println!("{confidence}: {covered} of {CASES} covered; {random} with rejections");
        assert!((share - confidence).abs() <= 0.02 + 2.0 * (confidence - 0.95).abs() * 0.05, "{share}");
        assert!(random > CASES / 2);
    }
}

#[test]
fn intervals_are_the_same_for_any_number_of_threads() {
    let (dpp, _) = models().swap_remove(0);
    let of = |threads| oracles::with_threads(threads, || interval(&dpp, IntervalOptions::new(0.05)));
    assert_eq!(of(1), of(3));
}

#[test]
fn what_cannot_be_had_is_refused() {
    let (dpp, _) = models().swap_remove(0);
    let refused = |options| dpp.log_partition_interval(options, &Engine::cpu()).unwrap_err();
    let narrow = IntervalOptions::new(0.1);
    assert!(matches!(refused(IntervalOptions::new(-1.0)), Error::NotPositive { .. }));
    let confidence = refused(narrow.with_confidence(1.0));
    assert!(matches!(confidence, Error::Estimate(EstimateProblem::Confidence { confidence: 1.0 })));
    assert_eq!(confidence.kind(), ErrorKind::Input);
    let budget = refused(narrow.with_most_operations(10.0));
    assert!(matches!(budget, Error::Estimate(EstimateProblem::IntervalBudget { .. })), "{budget}");
    assert!(budget.to_string().contains("proposals"), "{budget}");

    // Nothing is left to choose, so ln Z is known.
    let features = Features::from_rows(2, 2, vec![3.0, 0.0, 0.0, 2.0]).unwrap();
    let partition = Partition::from_labels(&[0, 1]).unwrap();
    let quota = Quota::each(&partition, 1).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let known = dpp.including(&[0, 1]).unwrap().log_partition_interval(narrow, &Engine::cpu()).unwrap();
    assert!(
        known.low <= 36_f64.ln() && 36_f64.ln() <= known.high && known.high - known.low < 1e-12,
        "{known:?}"
    );
    assert_eq!(known.proposals, 0);
}
