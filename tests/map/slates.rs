//! Slates against the greedy algorithm on only the candidates.

use partition_dpp::{
    CountRange, Engine, Error, Features, Partition, PartitionDpp, Quota,
    error::WeightProblem,
    map::{Greedy, Solver},
    slates::{SlateRequest, Slates},
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::index};

const DIMS: usize = 24;
const ITEMS: usize = 2_000;
const CATEGORIES: usize = 8;
const SIZE: usize = 12;

struct Catalogue {
    rows: Vec<f32>,
    labels: Vec<usize>,
}

impl Catalogue {
    /// Returns items around a few centres, with copies and scaled copies among them.
    fn random(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut value = || rng.random_range(-1.0..1.0_f32);
        let centres: Vec<f32> = (0..10 * DIMS).map(|_| value()).collect();
        let mut rows: Vec<f32> =
            (0..ITEMS * DIMS).map(|at| centres[at / DIMS % 10 * DIMS + at % DIMS] + 0.4 * value()).collect();
        for item in (0..ITEMS).step_by(50) {
            let copy: Vec<f32> = rows[(item + 1) * DIMS..(item + 2) * DIMS].to_vec();
            rows[item * DIMS..(item + 1) * DIMS].copy_from_slice(&copy);
        }
        let labels = (0..ITEMS).map(|item| item * item % 31 % CATEGORIES).collect();
        Self { rows, labels }
    }

    fn features(&self) -> Features {
        Features::from_rows(ITEMS, DIMS, &self.rows[..]).unwrap()
    }

    fn partition(&self) -> Partition {
        Partition::from_labels(&self.labels).unwrap()
    }
}

/// At least one item from each of three categories, and at most four from any.
fn quota(partition: &Partition) -> Quota {
    let ranges = (0..CATEGORIES).map(|part| CountRange::from(usize::from(part < 3)..=4));
    Quota::new(partition, ranges).unwrap().with_total(SIZE).unwrap()
}

fn candidates(rng: &mut StdRng, count: usize) -> Vec<u32> {
    let drawn = index::sample(rng, ITEMS, count).into_iter();
    drawn.map(|item| u32::try_from(item).unwrap()).collect()
}

/// Returns the greedy set of a law over only the candidates, or `None` if it is infeasible.
fn greedy(
    catalogue: &Catalogue,
    candidates: &[u32],
    scores: &[f32],
    included: &[u32],
    diversity: f64,
) -> Option<(Vec<u32>, f64)> {
    let mut own: Vec<u32> = candidates.to_vec();
    own.extend(included);
    own.sort_unstable();
    own.dedup();
    let row = |&item: &u32| catalogue.rows[item as usize * DIMS..][..DIMS].to_vec();
    let rows: Vec<f32> = own.iter().flat_map(row).collect();
    let score = |item: &u32| {
        let at = candidates.iter().position(|other| other == item && !included.contains(item));
        at.map_or(0.0, |at| f64::from(scores[at]))
    };
    let features = Features::from_rows(own.len(), DIMS, rows).unwrap();
    let features = features.with_scores(&own.iter().map(score).collect::<Vec<_>>(), diversity).unwrap();
    let labels: Vec<usize> = own.iter().map(|&item| catalogue.labels[item as usize]).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    if partition.parts() < CATEGORIES {
        return None;
    }
    let dpp = PartitionDpp::new(&features, &partition, &quota(&partition)).ok()?;
    let at = |item: &u32| own.binary_search(item).unwrap();
    let dpp = dpp.including(&included.iter().map(at).collect::<Vec<_>>()).ok()?;
    let solution = Greedy::default().solve(&dpp, &Engine::cpu()).unwrap();
    Some((solution.subset.iter().map(|at| own[at]).collect(), solution.log_det))
}

fn sorted(items: &[u32]) -> Vec<u32> {
    let mut items = items.to_vec();
    items.sort_unstable();
    items
}

#[test]
fn the_sets_of_the_greedy_algorithm() {
    let catalogue = Catalogue::random(1);
    let (features, partition) = (catalogue.features(), catalogue.partition());
    let mut rng = StdRng::seed_from_u64(2);
    let (mut workspace, mut compared) = (None, 0);
    for number in 0..400 {
        let diversity = [0.5, 0.9, 1.0, 0.05][number % 4];
        let slates = Slates::new(&features, &partition, &quota(&partition)).unwrap();
        let slates = slates.with_diversity(diversity).unwrap();
        let own = candidates(&mut rng, 60 + number % 140);
        let scores: Vec<f32> = own.iter().map(|_| rng.random_range(0.0..3.0)).collect();
        let included = if number % 3 == 0 { &own[..2] } else { &[][..] };
        let Some((expected, log_det)) = greedy(&catalogue, &own, &scores, included, diversity) else {
            continue;
        };
        let workspace = workspace.get_or_insert_with(|| slates.workspace());
        let request = SlateRequest::of(&own).with_scores(&scores).including(included);
        let slate = slates.solve(request, workspace).unwrap();
        assert_eq!((sorted(slate.items), slate.missing), (expected, 0), "{number}");
        let off = (slate.log_det - log_det).abs();
        assert!(off < 1e-9 * log_det.abs().max(1.0), "{number}: {} of {log_det}", slate.log_det);
        compared += 1;
    }
    assert!(compared > 350, "{compared}");
}

/// Gains that f32 cannot distinguish are compared in f64.
#[test]
fn near_ties_are_decided_in_f64() {
    let mut rng = StdRng::seed_from_u64(5);
    for _ in 0..50 {
        let base: Vec<f64> = (0..6 * 3).map(|_| rng.random_range(-1.0..1.0)).collect();
        // Every row appears four times, longer by parts in 10⁹.
        let row = |item: usize| {
            let factor = 1.0 + 1e-9 * ((item * 7 % 24) as f64);
            base[item % 6 * 3..][..3].iter().map(move |value| value * factor)
        };
        let rows: Vec<f64> = (0..24).flat_map(row).collect();
        let features = Features::from_rows(24, 3, rows).unwrap();
        let partition = Partition::from_labels(&[0; 24]).unwrap();
        let quota = Quota::new(&partition, [3]).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let expected = Greedy::default().solve(&dpp, &Engine::cpu()).unwrap().subset;
        let slates = Slates::new(&features, &partition, &quota).unwrap();
        let all: Vec<u32> = (0..24).collect();
        let mut workspace = slates.workspace();
        let slate = slates.solve(SlateRequest::of(&all), &mut workspace).unwrap();
        let found: Vec<usize> = sorted(slate.items).into_iter().map(|item| item as usize).collect();
        assert_eq!(found, expected.as_slice());
    }
}

/// Scores of a thousand, and rows that f32 cannot hold together.
#[test]
fn scores_and_rows_of_any_size() {
    let mut rng = StdRng::seed_from_u64(7);
    for number in 0..60 {
        let lengths: Vec<f64> = (0..30).map(|_| 10_f64.powi(rng.random_range(-20..20))).collect();
        let rows: Vec<f64> =
            (0..30 * 6).map(|at| lengths[at / 6] * rng.random_range(-1.0..1.0_f64)).collect();
        let features = Features::from_rows(30, 6, rows).unwrap().with_unit_rows().unwrap();
        let partition = Partition::from_labels(&(0..30).map(|i| i % 3).collect::<Vec<_>>()).unwrap();
        let quota = Quota::new(&partition, [1..=2, 0..=2, 1..=3]).unwrap().with_total(5).unwrap();
        let size = if number % 2 == 0 { 1000.0 } else { 1.0 };
        let scores: Vec<f32> = (0..30).map(|_| size * rng.random_range(-1.0..1.0_f32)).collect();
        let wide: Vec<f64> = scores.iter().map(|&score| f64::from(score)).collect();
        let dpp = PartitionDpp::new(&features.with_scores(&wide, 0.5).unwrap(), &partition, &quota);
        let Ok(dpp) = dpp else { continue };
        let expected = Greedy::default().solve(&dpp, &Engine::cpu()).unwrap().subset;
        let slates = Slates::new(&features, &partition, &quota).unwrap();
        let all: Vec<u32> = (0..30).collect();
        let mut workspace = slates.workspace();
        let slate = slates.solve(SlateRequest::of(&all).with_scores(&scores), &mut workspace).unwrap();
        let found: Vec<usize> = sorted(slate.items).into_iter().map(|item| item as usize).collect();
        assert_eq!(found, expected.as_slice(), "{number}");
    }
}

/// Picks the largest residual beyond the last picks, by brute force.
fn windowed(rows: &[Vec<f64>], size: usize, window: usize) -> Vec<u32> {
    let mut picked: Vec<usize> = Vec::new();
    while picked.len() < size {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for &item in &picked[picked.len().saturating_sub(window)..] {
            let mut row = rows[item].clone();
            for q in &basis {
                let along: f64 = q.iter().zip(&row).map(|(x, y)| x * y).sum();
                row.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
            }
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            basis.push(row.iter().map(|x| x / norm).collect());
        }
        let left = |row: &[f64]| -> f64 {
            let along = |q: &Vec<f64>| q.iter().zip(row).map(|(x, y)| x * y).sum::<f64>().powi(2);
            row.iter().map(|x| x * x).sum::<f64>() - basis.iter().map(along).sum::<f64>()
        };
        let free = (0..rows.len()).filter(|item| !picked.contains(item));
        picked.push(free.max_by(|&a, &b| left(&rows[a]).total_cmp(&left(&rows[b]))).unwrap());
    }
    picked.into_iter().map(|item| u32::try_from(item).unwrap()).collect()
}

#[test]
fn only_the_last_picks_repel() {
    let mut rng = StdRng::seed_from_u64(11);
    let rows: Vec<Vec<f64>> =
        (0..40).map(|_| (0..5).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
    let features = Features::from_rows(40, 5, rows.concat()).unwrap();
    let partition = Partition::from_labels(&[0; 40]).unwrap();
    let all: Vec<u32> = (0..40).collect();
    for window in [1, 2, 4] {
        // More picks than dimensions.
        let quota = Quota::new(&partition, [15]).unwrap();
        let slates = Slates::new(&features, &partition, &quota).unwrap().with_window(window).unwrap();
        let mut workspace = slates.workspace();
        let slate = slates.solve(SlateRequest::of(&all), &mut workspace).unwrap();
        assert_eq!(slate.items, windowed(&rows, 15, window), "{window}");
    }
}

#[test]
fn batches_and_what_is_refused() {
    let catalogue = Catalogue::random(3);
    let (features, partition) = (catalogue.features(), catalogue.partition());
    let slates = Slates::new(&features, &partition, &quota(&partition)).unwrap();
    let mut rng = StdRng::seed_from_u64(4);
    let lists: Vec<Vec<u32>> = (0..200).map(|_| candidates(&mut rng, 150)).collect();
    let mut requests: Vec<SlateRequest<'_>> = lists.iter().map(|list| SlateRequest::of(list)).collect();
    let of_none: Vec<u32> =
        (0..u32::try_from(ITEMS).unwrap()).filter(|&i| catalogue.labels[i as usize] > 2).collect();
    requests[7] = SlateRequest::of(&of_none);
    let found = slates.solve_many(&requests);
    let mut workspace = slates.workspace();
    for (at, (found, request)) in found.iter().zip(&requests).enumerate() {
        match found {
            Ok(slate) => assert_eq!(slate.items, slates.solve(*request, &mut workspace).unwrap().items),
            Err(error) => {
                assert!(at == 7 && matches!(error, Error::QuotaAbovePartSize { size: 0, .. }), "{error}");
            }
        }
    }
    let mut refused =
        |request: SlateRequest<'_>| slates.solve(request, &mut workspace).map(|_| ()).unwrap_err();
    assert!(matches!(refused(SlateRequest::of(&[2_000])), Error::ItemOutOfRange { item: 2_000, .. }));
    assert!(matches!(refused(SlateRequest::of(&[1]).with_scores(&[1.0, 2.0])), Error::Shape { .. }));
    let error = refused(SlateRequest::of(&[7, 1]).with_scores(&[0.0, f32::NAN]));
    assert!(matches!(error, Error::Weights(WeightProblem::NotFinite { item: 1, .. })), "{error}");
    let error = refused(SlateRequest::of(&[7, 1]).with_scores(&[0.0, -1e30]));
    assert!(matches!(error, Error::Weights(WeightProblem::TooLarge { item: 1, .. })), "{error}");
    assert!(matches!(refused(SlateRequest::of(&[])), Error::QuotaAbovePartSize { .. }));
    assert!(slates.clone().with_window(0).is_err() && slates.clone().with_diversity(0.0).is_err());
    let open = Quota::new(&partition, vec![CountRange::from(0..=2); CATEGORIES]).unwrap();
    let error = Slates::new(&features, &partition, &open).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::OpenTotal { low: 0, high } if high == 2 * CATEGORIES), "{error}");
    assert!(error.to_string().contains("the total must be fixed"), "{error}");
}

/// The error names what leaves too few items: their number, or the maxima of the parts.
#[test]
fn totals_that_cannot_be_met() {
    let rows: Vec<f64> = (0..24).map(|i| (f64::from(i) * 0.7).sin()).collect();
    let features = Features::from_rows(6, 4, rows).unwrap();
    let partition = Partition::from_labels(&["a", "a", "a", "a", "b", "b"]).unwrap();
    let quota = Quota::new(&partition, [0..=2, 0..=2]).unwrap().with_total(3).unwrap();
    let slates = Slates::new(&features, &partition, &quota).unwrap();
    let mut workspace = slates.workspace();
    let mut refused = |candidates: &[u32]| {
        slates.solve(SlateRequest::of(candidates), &mut workspace).map(|_| ()).unwrap_err()
    };
    let capped = refused(&[0, 1, 2, 3]);
    assert!(matches!(capped, Error::TotalOutsideRanges { total: 3, low: 0, high: 2 }), "{capped}");
    let short = refused(&[0, 4]);
    assert!(matches!(short, Error::SizeAboveItems { k: 3, items: 2 }), "{short}");
}

/// Whether picks can be completed to an allowed set, by trying every completion.
fn completes(picks: &[usize], labels: &[usize], quota: &Quota) -> bool {
    let counts = |set: &[usize]| {
        let mut counts = [0; 3];
        set.iter().for_each(|&item| counts[labels[item]] += 1);
        counts
    };
    (0_u32..1 << labels.len()).any(|mask| {
        let set: Vec<usize> = (0..labels.len()).filter(|item| mask >> item & 1 == 1).collect();
        picks.iter().all(|item| set.contains(item)) && quota.allows(&counts(&set))
    })
}

/// An item is picked only if the remaining picks can still meet all minima.
#[test]
fn minima_stay_within_reach() {
    let mut rng = StdRng::seed_from_u64(13);
    let mut bound = 0;
    for _ in 0..150 {
        let labels: Vec<usize> =
            (0..9).map(|item| if item < 3 { item } else { rng.random_range(0..3) }).collect();
        let lengths = [rng.random_range(0.1..3.0), rng.random_range(0.1..3.0), rng.random_range(0.1..3.0)];
        let rows: Vec<Vec<f64>> = labels
            .iter()
            .map(|&label| (0..6).map(|_| lengths[label] * rng.random_range(-1.0..1.0_f64)).collect())
            .collect();
        let partition = Partition::from_labels(&labels).unwrap();
        let ranges = (0..3).map(|part| {
            let low = rng.random_range(0..=partition.size(part).min(2));
            CountRange::from(low..=low + rng.random_range(0..=2))
        });
        let ranges: Vec<CountRange> = ranges.collect();
        let Ok(quota) = Quota::new(&partition, ranges) else { continue };
        let total = rng.random_range(quota.low().iter().sum()..=quota.high().iter().sum::<usize>().min(6));
        let Ok(quota) = quota.with_total(total) else { continue };
        let features = Features::from_rows(9, 6, rows.concat()).unwrap();
        // Of these items, the one that adds the most volume is picked.
        let mut picks: Vec<usize> = Vec::new();
        while picks.len() < total {
            let gain = |item: usize| {
                let volume =
                    |set: &[usize]| oracles::oracle::Determinants::of_features(rows.clone()).det(set);
                volume(&[&picks[..], &[item]].concat()) / volume(&picks)
            };
            let free = |item: &usize| !picks.contains(item);
            let open = |item: &usize| completes(&[&picks[..], &[*item]].concat(), &labels, &quota);
            bound += usize::from((0..9).filter(free).any(|item| !open(&item)));
            let best = (0..9).filter(free).filter(open).max_by(|&a, &b| gain(a).total_cmp(&gain(b)));
            picks.push(best.unwrap());
        }
        let slates = Slates::new(&features, &partition, &quota).unwrap();
        let all: Vec<u32> = (0..9).collect();
        let mut workspace = slates.workspace();
        let found = slates.solve(SlateRequest::of(&all), &mut workspace).unwrap().items;
        let found: Vec<usize> = found.iter().map(|&item| item as usize).collect();
        assert_eq!(found, picks, "{labels:?} {quota:?}");
    }
    assert!(bound > 100, "{bound}");
}

#[test]
fn excluded_items_are_as_good_as_absent() {
    let catalogue = Catalogue::random(9);
    let (features, partition) = (catalogue.features(), catalogue.partition());
    let slates = Slates::new(&features, &partition, &quota(&partition)).unwrap();
    let mut rng = StdRng::seed_from_u64(10);
    let (mut workspace, mut other) = (slates.workspace(), slates.workspace());
    for _ in 0..50 {
        let own = candidates(&mut rng, 180);
        let (seen, left) = own.split_at(40);
        let without = slates.solve(SlateRequest::of(left), &mut workspace).unwrap();
        let excluded = slates.solve(SlateRequest::of(&own).excluding(seen), &mut other).unwrap();
        assert_eq!(without.items, excluded.items);
    }
}

/// If the remaining items of a part depend on the picks, other items are picked instead.
#[test]
fn dead_ends_are_mended() {
    let features = Features::from_rows(3, 2, vec![10.0, 0.0, 0.0, 1.0, 1.0, 0.0]).unwrap();
    let partition = Partition::from_labels(&["a", "a", "b"]).unwrap();
    let quota = Quota::new(&partition, [1, 1]).unwrap();
    let slates = Slates::new(&features, &partition, &quota).unwrap();
    let mut workspace = slates.workspace();
    let slate = slates.solve(SlateRequest::of(&[0, 1, 2]), &mut workspace).unwrap();
    assert_eq!((sorted(slate.items), slate.missing, slate.log_det), (vec![1, 2], 0, 0.0));
    let error = slates.solve(SlateRequest::of(&[0, 2]), &mut workspace).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Infeasible { rank: 1, quota: 2, .. }), "{error}");
    // Included items must leave room for the minima.
    let included = SlateRequest::of(&[0, 1, 2]).including(&[0, 1]);
    let error = slates.solve(included, &mut workspace).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::QuotaBelowIncluded { included: 2, .. }), "{error}");
    let ranges = Quota::new(&partition, [0..=2, 1..=1]).unwrap().with_total(2).unwrap();
    let slates = Slates::new(&features, &partition, &ranges).unwrap();
    let error = slates.solve(included, &mut workspace).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::TotalOutsideRanges { total: 2, low: 3, .. }), "{error}");
}

/// Weights that f32 holds with few digits, because an item that cannot be picked has a far larger one.
#[test]
fn tiny_weights_are_compared_in_f64() {
    let root = |x: f64| x.sqrt();
    let rows = vec![1.0, 0.0, 0.0, 0.0, root(8.0), 0.0, 0.0, 0.0, root(12.8)];
    let features = Features::from_rows(3, 3, rows).unwrap();
    let partition = Partition::from_labels(&["a", "b", "b"]).unwrap();
    let quota = Quota::new(&partition, [0..=0, 0..=2]).unwrap().with_total(1).unwrap();
    let slates = Slates::new(&features, &partition, &quota).unwrap();
    let mut workspace = slates.workspace();
    for heavy in [100.0, 103.0, 110.0] {
        let request = [heavy, 0.4, 0.0];
        let request = SlateRequest::of(&[0, 1, 2]).with_scores(&request);
        assert_eq!(slates.solve(request, &mut workspace).unwrap().items, [2], "{heavy}");
    }
}

/// Rows whose lengths cannot be multiplied in f64.
#[test]
fn rows_at_both_ends_of_f64() {
    let features = Features::from_rows(3, 2, vec![1e200, 0.0, 1e-200, 1e-201, 0.0, 2e-200]).unwrap();
    let partition = Partition::from_labels(&["a", "b", "b"]).unwrap();
    let quota = Quota::new(&partition, [1, 1]).unwrap();
    let slates = Slates::new(&features, &partition, &quota).unwrap();
    let mut workspace = slates.workspace();
    let slate = slates.solve(SlateRequest::of(&[0, 1, 2]), &mut workspace).unwrap();
    assert_eq!((slate.items, slate.missing), (&[0, 2][..], 0));
    assert!((slate.log_det - 4.0_f64.ln()).abs() < 1e-9, "{}", slate.log_det);
    let slate = slates.solve(SlateRequest::of(&[0]).including(&[1]), &mut workspace).unwrap();
    assert!((slate.log_det - 0.01_f64.ln()).abs() < 1e-9, "{}", slate.log_det);
}
