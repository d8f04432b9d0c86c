//! Ranges of part counts: the sampler against enumeration, on every enumerable case.

use approx::relative_eq;
use oracles::{
    conditioned,
    conditions::Condition,
    enumerable_cases, known_answers,
    oracle::{self, Law},
    random::normals,
    ranges::{Shape, shapes},
    stats, with_threads,
};
use partition_dpp::{
    Dpp, Engine, Features, Method, Partition, PartitionDpp, Projection, Quota, Sampler, SamplerOptions,
    Subset, sample::Algorithm,
};

const DRAWS: u64 = 10_000;
/// An upper limit on the number of χ² tests in any one function here.
const CHECKS: f64 = 1000.0;

fn p_value(sampler: &Sampler, law: &Law) -> (f64, f64) {
    let samples = with_threads(2, || sampler.sample_many(DRAWS, 7));
    let observed = samples.acceptance_observed();
    assert!(sampler.acceptance_bound() > 0.0);
    // The margin is far above the noise of the draws.
    assert!(observed >= 0.9 * sampler.acceptance_bound(), "{observed} {}", sampler.acceptance_bound());
    (stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), law), observed)
}

#[test]
fn draws_are_from_the_law() {
    let (mut checks, mut least, mut loosest) = (0, 1.0_f64, 1.0_f64);
    for case in &enumerable_cases() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let (features, oracle) = (case.features(), case.oracle());
        for Shape { name, quota, .. } in shapes(case, &partition) {
            let allowed = |set: &[usize]| quota.allows(&oracle::counts(set, &case.labels, partition.parts()));
            let (law, _) = oracle.law(|_| 1.0, allowed);
            for way in [Projection::Leverage, Projection::Elementary] {
                let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
                let sampler =
                    dpp.sampler(SamplerOptions::default().with_projection(way), &Engine::cpu()).unwrap();
                let settled = sampler.algorithm() == Algorithm::Settled;
                assert!(settled == (law.len() == 1), "{}, {name}: {:?}", case.name, sampler.algorithm());
                assert!(sampler.law_error() < 1e-9, "{}, {name}: {:e}", case.name, sampler.law_error());
                let (p, observed) = p_value(&sampler, &law);
                assert!(p > stats::ALPHA / CHECKS, "{}, {name}, {way:?}: p = {p:e}", case.name);
                least = least.min(observed);
                loosest = loosest.max(observed / sampler.acceptance_bound());
                checks += 1;
            }
        }
    }
    println!("{checks} laws; acceptance at least {least:.4}, up to {loosest:.1} times its bound");
    assert!(checks >= 200 && least > 0.01, "{checks} {least}");
}

#[test]
fn draws_given_items_are_from_the_law() {
    let mut checks = 0;
    for case in &enumerable_cases() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let (features, oracle) = (case.features(), case.oracle());
        for Shape { name, quota, .. } in shapes(case, &partition).into_iter().step_by(2) {
            let allowed = |set: &[usize]| quota.allows(&oracle::counts(set, &case.labels, partition.parts()));
            let (whole, _) = oracle.law(|_| 1.0, allowed);
            let zoo = Condition::zoo(&whole, &case.labels);
            for (at, condition) in zoo.iter().enumerate() {
                // The remaining probability must be more than rounding of the oracle's sums.
                let (law, log_share) = condition.apply(&whole);
                if log_share < -20.0 || (at + checks) % 5 > 0 {
                    checks += 1;
                    continue;
                }
                let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
                let dpp = conditioned!(model, condition).unwrap();
                let sampler = dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
                let (p, _) = p_value(&sampler, &law);
                assert!(p > stats::ALPHA / CHECKS, "{}, {name}, {condition:?}: p = {p:e}", case.name);
                checks += 1;
            }
        }
    }
    println!("{checks} conditions, every fifth drawn");
    assert!(checks > 300);
}

/// If every count is fixed, the law and the draws are the same as for the Partition-DPP.
#[test]
fn exact_ranges_are_a_quota() {
    for case in known_answers() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let features = case.features();
        let ranges: Vec<_> = case.quota.iter().map(|&count| count..=count).collect();
        let quota = Quota::new(&partition, &ranges).unwrap();
        let (counts, ranges) = (Quota::new(&partition, &case.quota).unwrap(), quota);
        let of_counts = PartitionDpp::new(&features, &partition, &counts).unwrap();
        let of_ranges = PartitionDpp::new(&features, &partition, &ranges).unwrap();
        let expected = of_counts.sampler(Method::Rejection, &Engine::cpu()).unwrap();
        let found = of_ranges.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
        let (expected, found) = (expected.sample_many(50, 3), found.sample_many(50, 3));
        assert_eq!(expected.subsets(), found.subsets(), "{}", case.name);
        assert_eq!(expected.proposals(), found.proposals(), "{}", case.name);
        let (expected, found) = (expected.acceptance_bound(), found.acceptance_bound());
        assert!(
            relative_eq!(found, expected, epsilon = 0.0, max_relative = 1e-9),
            "{}: {found} {expected}",
            case.name
        );
    }
}

/// Returns two parts, one of them far too likely: its rows are 6 times longer.
fn lopsided() -> (Vec<f64>, Vec<usize>) {
    let mut rows = normals(12 * 4, 1);
    rows[..24].iter_mut().for_each(|x| *x *= 6.0);
    (rows, (0..12).map(|item| item / 6).collect())
}

/// Weighted proposals that are kept whenever their counts are in the ranges, as a sampler without the correction
/// would do.
///
/// The χ² test rejects them, and accepts them once they are thinned by the correction.
#[test]
fn without_the_correction_the_law_is_another() {
    let (rows, labels) = lopsided();
    let features = Features::from_rows(12, 4, rows.clone()).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, &[0..=2, 1..=3]).unwrap();
    let oracle = oracle::Determinants::of_features(rows.chunks(4).map(<[f64]>::to_vec).collect());
    let counts = |set: &[usize]| oracle::counts(set, &labels, 2);
    let (law, _) = oracle.law(|_| 1.0, |set| quota.allows(&counts(set)));

    let t = [-3.0, 1.0];
    let weighted: Vec<f64> =
        rows.iter().enumerate().map(|(at, x)| x * f64::exp(0.5 * t[labels[at / 4]])).collect();
    let weighted = Features::from_rows(12, 4, weighted).unwrap();
    let dpp = Dpp::new(&weighted).unwrap();
    let proposals = dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap().sample_many(200_000, 11);
    let kept: Vec<&[usize]> =
        proposals.subsets().iter().map(Subset::as_slice).filter(|set| quota.allows(&counts(set))).collect();
    let p = stats::chi_square_p(kept.iter().copied(), &law);
    assert!(p < 1e-12, "without the correction: p = {p:e}");

    // exp(min(lo t, hi t) − c t) per part, from a random sequence that is independent of the draws.
    let mut state = 1_u64;
    let mut coin = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let factor = |set: &[usize]| {
        let counts = counts(set);
        (2.0 * t[0] - counts[0] as f64 * t[0] + t[1] - counts[1] as f64 * t[1]).exp()
    };
    let thinned: Vec<&[usize]> = kept.into_iter().filter(|set| coin() < factor(set)).collect();
    assert!(thinned.len() > 10_000, "{}", thinned.len());
    let p = stats::chi_square_p(thinned, &law);
    assert!(p > stats::ALPHA, "with the correction: p = {p:e}");

    // A sampler whose correction is wrong by a factor of 1.3 per item of one part.
    let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = model.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
    let favoured = |set: &[usize]| 1.3_f64.powi(i32::try_from(counts(set)[1]).unwrap());
    let (off, _) = oracle.law(favoured, |set| quota.allows(&counts(set)));
    assert!(p_value(&sampler, &law).0 > stats::ALPHA);
    assert!(p_value(&sampler, &off).0 < 1e-6);
}

#[test]
fn threads_do_not_matter() {
    let features = Features::from_rows(60, 5, normals(300, 4)).unwrap();
    let partition = Partition::from_labels(&(0..60).map(|i| i % 3).collect::<Vec<_>>()).unwrap();
    let quota = Quota::new(&partition, &[0..=2, 1..=2, 0..=5]).unwrap();
    for quota in [quota.clone(), quota.with_total(4).unwrap()] {
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let sampler = dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
        let one = with_threads(1, || sampler.sample_many(500, 9));
        let four = with_threads(4, || sampler.sample_many(500, 9));
        assert_eq!((one.subsets(), one.proposals()), (four.subsets(), four.proposals()));
        assert_eq!(one.subsets()[..37], *sampler.sample_many(37, 9).subsets());
        assert!(one.subsets().iter().all(|subset| quota.allows(&subset.part_counts(&partition))));
    }
}

/// Parts up to 600 decades apart, in every shape of ranges: sets of the sizes that the law requires are drawn
/// quickly.
#[test]
fn scales_do_not_matter_where_counts_are_settled() {
    let partition = Partition::from_labels(&(0..30).map(|i| i / 10).collect::<Vec<_>>()).unwrap();
    let quota = |ranges: [std::ops::RangeInclusive<usize>; 3]| Quota::new(&partition, &ranges).unwrap();
    // Large rows fill up to their maximum, and small rows drop to their minimum; n = 8.
    let cases = [
        (quota([1..=2, 1..=2, 1..=2]), [2, 1]),
        (quota([0..=3, 0..=10, 2..=10]), [3, 2]),
        (quota([1..=3, 1..=3, 1..=3]).with_total(6).unwrap(), [3, 1]),
        (quota([0..=10, 1..=10, 1..=2]).with_total(7).unwrap(), [5, 1]),
    ];
    for decades in [3.0, 12.0, 100.0, 290.0] {
        let mut rows = normals(30 * 8, 5);
        rows[..80].iter_mut().for_each(|x| *x *= 10.0_f64.powf(0.5 * decades));
        rows[160..].iter_mut().for_each(|x| *x *= 10.0_f64.powf(-0.5 * decades));
        let features = Features::from_rows(30, 8, rows).unwrap();
        for (quota, [of_large, of_small]) in &cases {
            let dpp = PartitionDpp::new(&features, &partition, quota).unwrap();
            let sampler = dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
            let samples = sampler.sample_many(300, 1);
            let (bound, observed) = (sampler.acceptance_bound(), samples.acceptance_observed());
            assert!(observed > 0.02 && bound > 0.005, "{quota:?}, {decades} decades: {bound} {observed}");
            assert!(samples.subsets().iter().all(|set| quota.allows(&set.part_counts(&partition))));
            if decades > 11.0 {
                let ends = |set: &Subset| {
                    let counts = set.part_counts(&partition);
                    [counts[0], counts[2]]
                };
                let all = samples.subsets().iter().all(|set| ends(set) == [*of_large, *of_small]);
                assert!(
                    all,
                    "{quota:?}, {decades} decades: {:?}",
                    samples.subsets()[0].part_counts(&partition)
                );
            }
        }
    }
}
