//! Ranges of part counts: refusals and their reasons, and budgets of proposals.

use std::ops::RangeInclusive;

use oracles::{assert_error, random::normals, with_threads};
use partition_dpp::{
    Engine, Error, Features, Partition, PartitionDpp, Quota, SamplerOptions,
    sample::{Algorithm, Bound},
};

#[test]
fn ranges_that_are_none() {
    let partition = Partition::from_labels(&["a", "a", "b"]).unwrap();
    let quota = |ranges: &[RangeInclusive<usize>]| Quota::new(&partition, ranges);
    assert_error!(quota(&[0..=1]), Error::QuotaLength { entries: 1, .. }, ["a, b"]);
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    let reversed = quota(&[2..=1, 0..=1]);
    assert_error!(reversed, Error::EmptyRange { low: 2, high: 1, .. }, ["part a", "2", "1"]);
    assert_error!(quota(&[0..=1, 2..=3]), Error::QuotaAbovePartSize { quota: 2, size: 1, .. }, ["part b"]);
    assert_error!(quota(&[0..=0, 0..=0]), Error::Nothing { .. }, ["quota"]);
    let wide = quota(&[0..=9, 0..=9]).unwrap();
    assert_eq!((wide.high(), wide.total()), (&[2, 1][..], None));
    assert_error!(
        wide.with_total(4),
        Error::TotalOutsideRanges { total: 4, low: 0, high: 3 },
        ["4 items in all", "0 to 3"]
    );
}

#[test]
fn ranges_that_no_set_meets() {
    // All rows lie in one plane, and part a lies in one line.
    let features = Features::from_rows(3, 3, vec![1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0]).unwrap();
    let partition = Partition::from_labels(&["a", "a", "b"]).unwrap();
    let quota = |ranges: &[RangeInclusive<usize>]| Quota::new(&partition, ranges).unwrap();
    let model = |quota: &Quota| PartitionDpp::new(&features, &partition, quota);
    assert_error!(
        model(&quota(&[2..=2, 0..=1])).map(|_| ()),
        Error::Infeasible { rank: 1, quota: 2, .. },
        ["part a has rank 1"]
    );
    let wide = quota(&[0..=9, 0..=9]);
    let total = wide.clone().with_total(3).unwrap();
    assert_error!(model(&total).map(|_| ()), Error::SizeAboveRank { k: 3, rank: 2 }, ["3", "2"]);
    let other = Partition::from_labels(&["x", "x", "y"]).unwrap();
    let of_others = Quota::new(&other, &[0..=1, 0..=1]).unwrap();
    assert_error!(model(&of_others).map(|_| ()), Error::QuotaOfOtherParts { .. }, ["x, y", "a, b"]);
    let few = Features::from_rows(2, 1, vec![1.0, 1.0]).unwrap();
    let counted = PartitionDpp::new(&few, &partition, &wide).map(|_| ());
    assert_error!(counted, Error::LabelCount { items: 2, labels: 3 }, ["3"]);
}

#[test]
fn conditions_that_leave_nothing() {
    let features = Features::from_rows(6, 4, normals(24, 2)).unwrap();
    let partition = Partition::from_labels(&["a", "a", "a", "b", "b", "b"]).unwrap();
    let quota = Quota::new(&partition, &[1..=2, 0..=2]).unwrap();
    let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let of_three = quota.with_total(3).unwrap();
    let of_three = PartitionDpp::new(&features, &partition, &of_three).unwrap();
    let including = |items: &[usize]| model.clone().including(items).map(|_| ());
    let excluding = |items: &[usize]| model.clone().excluding(items).map(|_| ());
    assert_error!(including(&[6]), Error::ItemOutOfRange { item: 6, items: 6 }, ["6"]);
    assert_error!(including(&[1, 1]), Error::RepeatedItem { item: 1 }, ["1"]);
    assert_error!(
        including(&[0, 1, 2]),
        Error::QuotaBelowIncluded { quota: 2, included: 3, .. },
        ["part a", "3", "2"]
    );
    assert_error!(excluding(&[0, 1, 2]), Error::QuotaAbovePartSize { quota: 1, size: 0, .. }, ["part a"]);
    assert_error!(
        of_three.clone().including(&[0, 1, 3, 4]).map(|_| ()),
        Error::SizeBelowIncluded { k: 3, included: 4 },
        ["4", "3"]
    );
    assert_error!(
        of_three.clone().excluding(&[0, 1, 3, 4]).map(|_| ()),
        Error::TotalOutsideRanges { total: 3, low: 1, high: 2 },
        ["3 items in all", "1 to 2"]
    );
    // One of two items of a part is twice the other, so including one leaves nothing.
    let mut rows = normals(16, 3);
    rows.copy_within(0..4, 4);
    let doubled = Features::from_rows(4, 4, rows).unwrap();
    let partition = Partition::from_labels(&["a", "b", "b", "c"]).unwrap();
    let quota = Quota::new(&partition, &[0..=1, 1..=2, 0..=1]).unwrap();
    let model = PartitionDpp::new(&doubled, &partition, &quota).unwrap();
    let given = model.including(&[0]).unwrap().excluding(&[2]).map(|_| ());
    assert_error!(given, Error::InfeasibleBeyondIncluded { rank: 0, quota: 1, .. }, ["part b has rank 0"]);
}

#[test]
fn nothing_is_left_to_choose() {
    let features = Features::from_rows(6, 4, normals(24, 2)).unwrap();
    let partition = Partition::from_labels(&["a", "a", "a", "b", "b", "b"]).unwrap();
    let quota = Quota::new(&partition, &[1..=2, 0..=2]).unwrap().with_total(2).unwrap();
    let model = PartitionDpp::new(&features, &partition, &quota).unwrap().including(&[1, 3]).unwrap();
    let sampler = model.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
    assert_eq!(sampler.algorithm(), Algorithm::Settled);
    assert_eq!(sampler.sample_many(3, 0).subsets()[2].as_slice(), [1, 3]);
    // Every part is needed whole.
    let whole = Quota::new(&partition, &[2..=3, 2..=3]).unwrap();
    let model = PartitionDpp::new(&features, &partition, &whole).unwrap().excluding(&[0, 5]).unwrap();
    assert_eq!(
        model.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap().sample_many(1, 0).subsets()[0]
            .as_slice(),
        [1, 2, 3, 4]
    );
}

fn tilted() -> SamplerOptions {
    SamplerOptions::default().with_bound(Bound::Tilted)
}

/// Twenty parts of six items, by the tilted bound. One item from each is beyond reach. Up to three from each is easy,
/// although no single vector of counts is likely, as a trial shows.
#[test]
fn proposals_are_bounded() {
    let features = Features::from_rows(120, 40, normals(4800, 6)).unwrap();
    let partition = Partition::from_labels(&(0..120).map(|i| i % 20).collect::<Vec<_>>()).unwrap();
    let ranges = |range: RangeInclusive<usize>| Quota::new(&partition, vec![range; 20]).unwrap();
    let model = |quota: &Quota| PartitionDpp::new(&features, &partition, quota).unwrap();
    let narrow = model(&ranges(0..=1).with_total(20).unwrap());
    let refused = narrow.sampler(tilted().with_proposal_budget(1e5), &Engine::cpu()).map(|_| ());
    assert_error!(refused, Error::RangeProposalBudget { .. }, ["proposals", "1.00e5"]);
    // A budget that the guaranteed bound meets needs no pilot.
    let sampler = narrow
        .sampler(tilted().with_proposal_budget(1e9), &Engine::cpu())
        .map(|sampler| sampler.acceptance_bound());
    assert!((1e-9..1e-7).contains(&sampler.unwrap()));

    let wide = model(&ranges(0..=4));
    let (one, two) = (
        with_threads(1, || wide.sampler(tilted(), &Engine::cpu()).unwrap()),
        wide.sampler(tilted(), &Engine::cpu()).unwrap(),
    );
    assert_eq!(one.acceptance_bound().to_bits(), two.acceptance_bound().to_bits());
    let samples = two.sample_many(200, 1);
    let (bound, observed) = (two.acceptance_bound(), samples.acceptance_observed());
    println!("acceptance {observed:.3}, bound {bound:.3}");
    assert!(bound <= observed && observed <= 8.0 * bound, "{bound} {observed}");
    // The pilot shows that one proposal is too few for a sample, and that two are enough.
    let refused = wide.sampler(tilted().with_proposal_budget(1.0), &Engine::cpu()).map(|_| ());
    assert_error!(refused, Error::RangeProposalBudget { budget: 1.0, .. }, ["1.00e0"]);
    assert!(wide.sampler(tilted().with_proposal_budget(2.0), &Engine::cpu()).is_ok());
}
