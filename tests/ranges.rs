//! Ranges of part counts: the sampler against enumeration, on every enumerable case.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests panic and report")]

#[macro_use]
mod common;

use std::ops::RangeInclusive;

use common::{Case, enumerable_cases, oracle, random::normals, stats, with_threads};
use partition_dpp::{Error, Features, Partition, Projection, RangeDpp, RangeQuota, Subset, engine::Cpu};

const DRAWS: u64 = 40_000;

/// Ranges around the quota of a case, in several shapes.
fn shapes(case: &Case, partition: &Partition) -> Vec<(String, RangeQuota)> {
    let counts = &case.quota;
    let around = |down: usize, up: usize| -> Vec<RangeInclusive<usize>> {
        counts.iter().map(|&count| count.saturating_sub(down)..=count + up).collect()
    };
    let quota = |ranges: &[RangeInclusive<usize>]| RangeQuota::new(partition, ranges).unwrap();
    let k = counts.iter().sum();
    let mut mixed = around(0, 0);
    mixed[0] = 0..=counts[0] + 1;
    vec![
        ("exact".into(), quota(&around(0, 0))),
        ("one more or less".into(), quota(&around(1, 1))),
        ("at most".into(), quota(&around(9, 0))),
        ("one part free".into(), quota(&mixed)),
        ("with a total".into(), quota(&around(1, 1)).with_total(k).unwrap()),
    ]
}

#[test]
fn draws_are_from_the_law() {
    let cases = enumerable_cases();
    let (mut checks, mut least) = (0, 1.0_f64);
    for case in &cases {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let features = case.features();
        let oracle = case.oracle();
        for (shape, quota) in shapes(case, &partition) {
            let allowed = |set: &[usize]| quota.allows(&oracle::counts(set, &case.labels, partition.parts()));
            let (law, _) = oracle.law(|_| 1.0, allowed);
            for way in [Projection::Leverage, Projection::Elementary] {
                let dpp = RangeDpp::new(&features, &partition, &quota).unwrap().with_projection(way);
                let sampler = dpp.sampler(&Cpu).unwrap();
                let samples = with_threads(2, || sampler.sample_many(DRAWS, 7));
                let p = stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), &law);
                assert!(p > stats::ALPHA / 150.0, "{}, {shape}, {way:?}: p = {p:e}", case.name);
                least = least.min(samples.acceptance_observed());
                checks += 1;
            }
        }
    }
    assert_eq!(checks, 150);
    println!("{checks} laws; acceptance at least {least:.4}");
    assert!(least > 0.005, "{least}");
}

/// Rows that make one part far too likely: only the correction makes the counts right.
#[test]
fn what_the_tilt_favours_is_taken_back() {
    let mut rows = normals(12 * 4, 1);
    rows[..24].iter_mut().for_each(|x| *x *= 6.0);
    let labels: Vec<usize> = (0..12).map(|item| item / 6).collect();
    let features = Features::from_rows(12, 4, rows.clone()).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = RangeQuota::new(&partition, &[0..=1, 1..=3]).unwrap();
    let sampler_of = RangeDpp::new(&features, &partition, &quota).unwrap();
    let samples = sampler_of.sampler(&Cpu).unwrap().sample_many(60_000, 3);
    let oracle = oracle::Determinants::of_features(rows.chunks(4).map(<[f64]>::to_vec).collect());
    let allowed = |set: &[usize]| quota.allows(&oracle::counts(set, &labels, 2));
    let p_of = |weight: &dyn Fn(&[usize]) -> f64| {
        let (law, _) = oracle.law(weight, allowed);
        stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), &law)
    };
    assert!(p_of(&|_| 1.0) > 1e-3);
    // The control: a law whose counts are off by a factor of 1.3 per item of part 0.
    let favoured = |set: &[usize]| 1.3_f64.powi(i32::try_from(oracle::counts(set, &labels, 2)[0]).unwrap());
    assert!(p_of(&favoured) < 1e-6);
    println!("acceptance {:.3}", samples.acceptance_observed());
    assert!(samples.acceptance_observed() > 0.1);
}

#[test]
fn threads_do_not_matter() {
    let features = Features::from_rows(60, 5, normals(300, 4)).unwrap();
    let partition = Partition::from_labels(&(0..60).map(|i| i % 3).collect::<Vec<_>>()).unwrap();
    let quota = RangeQuota::new(&partition, &[0..=2, 1..=2, 0..=5]).unwrap();
    let dpp = RangeDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.sampler(&Cpu).unwrap();
    let one = with_threads(1, || sampler.sample_many(500, 9));
    assert_eq!(one.subsets(), with_threads(2, || sampler.sample_many(500, 9)).subsets());
    assert!(one.subsets().iter().all(|subset| quota.allows(&subset.part_counts(&partition))));
}

#[test]
fn what_is_refused() {
    let partition = Partition::from_labels(&["a", "a", "b"]).unwrap();
    let quota = |ranges: &[RangeInclusive<usize>]| RangeQuota::new(&partition, ranges);
    assert_error!(quota(&[0..=1]), Error::QuotaLength { entries: 1, .. }, ["a, b"]);
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    let reversed = quota(&[2..=1, 0..=1]);
    assert_error!(reversed, Error::EmptyRange { low: 2, high: 1, .. }, ["part a", "2", "1"]);
    assert_error!(quota(&[0..=1, 2..=3]), Error::QuotaAbovePartSize { quota: 2, size: 1, .. }, ["part b"]);
    assert_error!(quota(&[0..=0, 0..=0]), Error::Nothing { .. }, ["quota"]);
    let wide = quota(&[0..=9, 0..=9]).unwrap();
    assert_eq!((wide.high(), wide.total()), (&[2, 1][..], None));
    assert_error!(
        wide.clone().with_total(4),
        Error::TotalOutsideRanges { total: 4, low: 0, high: 3 },
        ["0 to 3"]
    );

    // All rows in one plane; part a in one line.
    let features = Features::from_rows(3, 3, vec![1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0]).unwrap();
    let model = |quota: &RangeQuota| RangeDpp::new(&features, &partition, quota).map(|_| ());
    assert_error!(
        model(&quota(&[2..=2, 0..=1]).unwrap()),
        Error::Infeasible { rank: 1, quota: 2, .. },
        ["part a has rank 1"]
    );
    assert_error!(model(&wide.with_total(3).unwrap()), Error::SizeAboveRank { k: 3, rank: 2 }, ["3", "2"]);
    let other = Partition::from_labels(&["x", "x", "y"]).unwrap();
    let of_others = RangeQuota::new(&other, &[0..=1, 0..=1]).unwrap();
    assert_error!(model(&of_others), Error::QuotaOfOtherParts { .. }, ["x, y", "a, b"]);
    let few = Features::from_rows(2, 1, vec![1.0, 1.0]).unwrap();
    let counted = quota(&[0..=1, 0..=1]).unwrap();
    assert_error!(
        RangeDpp::new(&few, &partition, &counted),
        Error::LabelCount { items: 2, labels: 3 },
        ["3"]
    );
}
