//! Samples of slates, against enumeration.

use oracles::{
    oracle::{Determinants, Law, counts},
    random::normals,
    stats,
};
use partition_dpp::{
    CountRange, Error, Features, Partition, Quota, Subset,
    slates::{SlateRequest, Slates},
};
use rand::{SeedableRng, rngs::StdRng};

const ITEMS: usize = 14;
const DIMS: usize = 6;
const LABELS: [usize; ITEMS] = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1];
const DRAWS: usize = 20_000;
/// An upper limit on the number of χ² tests in this file.
const CHECKS: f64 = 100.0;

/// A request with its candidates, scores and conditions.
#[derive(Clone)]
struct Case {
    rows: Vec<Vec<f64>>,
    ranges: Vec<CountRange>,
    size: usize,
    candidates: Vec<u32>,
    scores: Vec<f32>,
    diversity: f64,
    included: Vec<u32>,
    excluded: Vec<u32>,
}

impl Case {
    /// Makes a case of all items, with normal rows around `centre` in every coordinate.
    fn of(ranges: Vec<CountRange>, size: usize, centre: f64, seed: u64) -> Self {
        let values: Vec<f64> = normals(ITEMS * DIMS, seed).into_iter().map(|x| x + centre).collect();
        Self {
            rows: values.chunks_exact(DIMS).map(<[f64]>::to_vec).collect(),
            ranges,
            size,
            candidates: (0..ITEMS as u32).collect(),
            scores: vec![0.0; ITEMS],
            diversity: 0.5,
            included: Vec::new(),
            excluded: Vec::new(),
        }
    }

    fn slates(&self) -> Slates {
        let features = Features::from_rows(ITEMS, DIMS, self.rows.concat()).unwrap();
        let partition = Partition::from_labels(&LABELS).unwrap();
        let quota = Quota::new(&partition, self.ranges.clone()).unwrap().with_total(self.size).unwrap();
        Slates::new(&features, &partition, &quota).unwrap().with_diversity(self.diversity).unwrap()
    }

    fn request(&self) -> SlateRequest<'_> {
        let request = SlateRequest::of(&self.candidates).with_scores(&self.scores);
        request.including(&self.included).excluding(&self.excluded)
    }

    fn law(&self) -> Law {
        let partition = Partition::from_labels(&LABELS).unwrap();
        let quota = Quota::new(&partition, self.ranges.clone()).unwrap().with_total(self.size).unwrap();
        let is_of = |list: &[u32], item: usize| list.contains(&(item as u32));
        let score = |item: usize| {
            let of_item =
                self.candidates.iter().zip(&self.scores).filter(|(other, _)| **other as usize == item);
            of_item.map(|(_, &score)| f64::from(score)).fold(f64::NEG_INFINITY, f64::max)
        };
        let worth = (1.0 - self.diversity) / self.diversity;
        let free = |set: &[usize]| -> Vec<usize> {
            set.iter().copied().filter(|&item| !is_of(&self.included, item)).collect()
        };
        let weight = |set: &[usize]| (worth * free(set).into_iter().map(score).sum::<f64>()).exp();
        let allowed = |set: &[usize]| {
            free(set).iter().all(|&item| is_of(&self.candidates, item) && !is_of(&self.excluded, item))
                && free(set).len() + self.included.len() == set.len()
                && quota.allows(&counts(set, &LABELS, 3))
        };
        Determinants::of_features(self.rows.clone()).law(weight, allowed).0
    }

    fn check(&self, what: &str) {
        let (slates, law) = (self.slates(), self.law());
        let sorted = |items: &[u32]| {
            let mut items: Vec<usize> = items.iter().map(|&item| item as usize).collect();
            items.sort_unstable();
            items
        };
        let (mut workspace, mut rng) = (slates.workspace(), StdRng::seed_from_u64(5));
        let drawn: Vec<Vec<usize>> = (0..DRAWS)
            .map(|_| sorted(slates.sample(self.request(), &mut workspace, &mut rng).unwrap()))
            .collect();
        let p = stats::chi_square_p(drawn.iter().map(Vec::as_slice), &law);
        println!("{what}: {} sets, p = {p:.3}", law.len());
        assert!(p > stats::ALPHA / CHECKS, "{what}: p = {p:e}");
    }
}

fn ranges(pairs: [[usize; 2]; 3]) -> Vec<CountRange> {
    pairs.into_iter().map(|[low, high]| CountRange::from(low..=high)).collect()
}

#[test]
fn samples_follow_the_law_of_their_request() {
    let exact = ranges([[2, 2], [1, 1], [1, 1]]);
    let wide = ranges([[0, 2], [1, 3], [0, 2]]);
    Case::of(exact.clone(), 4, 0.0, 1).check("exact counts");
    Case::of(wide.clone(), 4, 0.0, 2).check("ranges");
    let mut scored = Case::of(wide.clone(), 3, 0.0, 3);
    scored.scores = (0..ITEMS).map(|item| (item as f32 * 1.7).sin() * 2.0).collect();
    scored.check("scores");
    scored.diversity = 0.8;
    scored.check("scores and diversity");
    // Fewer candidates, one of them twice, some excluded.
    scored.candidates = vec![11, 2, 9, 5, 3, 2, 7, 0, 1, 13, 4];
    scored.scores.truncate(11);
    scored.excluded = vec![5, 12, 4];
    scored.check("some candidates");
    scored.included = vec![2, 8];
    scored.size = 5;
    scored.check("included items");
    // Rows whose squared lengths do not fit together in f64.
    let mut lengths = Case::of(exact, 4, 0.0, 4);
    for (item, row) in lengths.rows.iter_mut().enumerate() {
        let factor = if item % 2 == 0 { 1e-130 } else { 1e120 };
        row.iter_mut().for_each(|x| *x *= factor);
    }
    lengths.scores = (0..ITEMS).map(|item| if item % 2 == 0 { 1151.3 } else { 0.0 }).collect();
    // For the oracle, the rows stay unscaled, and the factors of their lengths are part of the scores.
    let law = Case { rows: Case::of(lengths.ranges.clone(), 4, 0.0, 4).rows, ..lengths.clone() };
    let gap = 250.0 * 2.0 * std::f64::consts::LN_10 - f64::from(1151.3_f32);
    let even =
        Case { scores: (0..ITEMS).map(|i| if i % 2 == 0 { -gap as f32 } else { 0.0 }).collect(), ..law };
    let mut workspace = lengths.slates().workspace();
    let mut rng = StdRng::seed_from_u64(6);
    let drawn: Vec<Vec<usize>> = (0..DRAWS)
        .map(|_| {
            let slates = lengths.slates();
            let slate = slates.sample(lengths.request(), &mut workspace, &mut rng).unwrap();
            let mut items: Vec<usize> = slate.iter().map(|&item| item as usize).collect();
            items.sort_unstable();
            items
        })
        .collect();
    let p = stats::chi_square_p(drawn.iter().map(Vec::as_slice), &even.law());
    assert!(p > stats::ALPHA / CHECKS, "lengths: p = {p:e}");
}

/// Rows that are nearly parallel: some draws end with their own sampler, others before.
#[test]
fn samples_that_few_proposals_give() {
    for (centre, what) in [(3.0, "few accepted"), (12.0, "hardly any")] {
        let mut case = Case::of(ranges([[1, 2], [1, 1], [1, 2]]), 4, centre, 7);
        case.scores = (0..ITEMS).map(|item| (item as f32).cos()).collect();
        case.check(what);
        let (slates, law) = (case.slates(), case.law());
        let many = slates.sample_many(&[case.request(); 3], 7_000, 9);
        let many: Vec<Vec<Subset>> = many.into_iter().map(|samples| samples.unwrap().subsets).collect();
        let p = stats::chi_square_p(many.iter().flatten().map(Subset::as_slice), &law);
        assert!(p > stats::ALPHA / CHECKS, "{what}, many: p = {p:e}");
        // Fewer samples are the first of more, and each request has its own samples.
        let fewer = slates.sample_many(&[case.request(); 2], 2_000, 9);
        assert_eq!(fewer[1].as_ref().unwrap().subsets, many[1][..2_000]);
        assert!(fewer[1].as_ref().unwrap().law_error < 1e-9);
        assert_ne!(many[0], many[1]);
    }
}

#[test]
fn what_samples_refuse() {
    let mut case = Case::of(ranges([[1, 2], [1, 2], [0, 2]]), 4, 0.0, 8);
    let error = |case: &Case| {
        let slates = case.slates();
        let mut rng = StdRng::seed_from_u64(1);
        slates.sample(case.request(), &mut slates.workspace(), &mut rng).map(|_| ()).unwrap_err()
    };
    case.included = vec![0, 3, 6];
    assert!(matches!(error(&case), Error::QuotaBelowIncluded { included: 3, .. }));
    // The items are from different parts, but exceed the total.
    case.included = vec![0, 3, 1, 4, 2];
    assert!(matches!(error(&case), Error::SizeBelowIncluded { k: 4, included: 5 }));
    // There is no room for the minimum of part 1.
    case.included = vec![0, 3, 2, 5];
    assert!(matches!(error(&case), Error::TotalOutsideRanges { total: 4, low: 5, .. }));
    case.included = vec![3, 3];
    assert!(matches!(error(&case), Error::RepeatedItem { item: 3 }));
    case.included = vec![3];
    case.excluded = vec![5, 3];
    assert!(matches!(error(&case), Error::IncludedAndExcluded { item: 3 }));
    case.rows[4] = case.rows[3].iter().map(|x| 2.0 * x).collect();
    (case.included, case.excluded) = (vec![3, 4], Vec::new());
    assert!(matches!(error(&case), Error::DependentItems { item: 4 }));
    // An item that is listed twice counts once.
    (case.included, case.candidates, case.scores) = (Vec::new(), vec![0, 3, 1, 1], vec![0.0; 4]);
    assert!(matches!(error(&case), Error::SizeAboveItems { k: 4, items: 3 }));
    // All rows have one direction.
    let mut flat = Case::of(ranges([[1, 1], [1, 1], [0, 0]]), 2, 0.0, 8);
    flat.rows = (0..ITEMS).map(|item| vec![item as f64 + 1.0; DIMS]).collect();
    assert!(matches!(error(&flat), Error::Infeasible { rank: 1, quota: 2, .. }));
}
