//! Sets that cover all items, against enumeration.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use oracles::{assert_error, random::normals};
use partition_dpp::{
    Engine, Error, Partition, Quota, Sets, Watch,
    error::KernelProblem,
    map::{Coverage, Greedy, KernelModel, Solution, Solver, Termination},
    similarity::{Bandwidth, DotKernel, KernelFn, KernelFunction, RbfKernel},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::features;

/// A problem small enough to enumerate all sets.
struct Small {
    entries: Vec<Vec<f64>>,
    labels: Vec<usize>,
    partition: Partition,
    sets: Sets,
    /// ln q.
    quality: Vec<f64>,
    include: Vec<usize>,
    exclude: Vec<usize>,
    by_part: bool,
}

impl Small {
    fn random(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let items = rng.random_range(7..=11);
        let dims = rng.random_range(1..=3);
        let rows = normals(items * dims, seed);
        let rows: Vec<&[f64]> = rows.chunks(dims).collect();
        let is_gaussian = rng.random_bool(0.6);
        let entry = |a: &[f64], b: &[f64]| {
            if is_gaussian {
                let square: f64 = a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum();
                (-square / 0.7).exp()
            } else {
                a.iter().zip(b).map(|(x, y)| x * y).sum()
            }
        };
        let entries = rows.iter().map(|a| rows.iter().map(|b| entry(a, b)).collect()).collect();
        let parts = rng.random_range(1..=3);
        let mut labels: Vec<usize> = (0..items).map(|_| rng.random_range(0..parts)).collect();
        labels[..parts].iter_mut().enumerate().for_each(|(part, label)| *label = part);
        let partition = Partition::from_labels(&labels).unwrap();
        let members = |part: usize| partition.size(part);
        let k = rng.random_range(1..=4);
        let sets = match rng.random_range(0..5) {
            0 => Sets::OfSize(k),
            4 => Sets::OfAnySize,
            1 => {
                let ranges: Vec<_> = (0..parts)
                    .map(|part| {
                        let low = rng.random_range(0..=1.min(members(part)));
                        low..=rng.random_range(low.max(1)..=3).min(members(part).max(1))
                    })
                    .collect();
                let (low, high): (usize, usize) = ranges
                    .iter()
                    .fold((0, 0), |(low, high), range| (low + range.start(), high + range.end()));
                let quota = Quota::new(&partition, &ranges).unwrap();
                let total = rng.random_range(low.max(1)..=high);
                let quota = if rng.random_bool(0.5) { quota.with_total(total).unwrap() } else { quota };
                Sets::Quota(partition.clone(), quota)
            }
            _ => {
                let mut counts: Vec<usize> =
                    (0..parts).map(|part| rng.random_range(0..=2.min(members(part)))).collect();
                counts[0] = counts[0].max(1);
                Sets::Quota(partition.clone(), Quota::new(&partition, counts).unwrap())
            }
        };
        let quality = match rng.random_range(0..3) {
            0 => vec![0.0; items],
            1 => (0..items).map(|_| rng.random_range(0.0..0.4)).collect(),
            _ => (0..items).map(|_| rng.random_range(-0.4..0.4)).collect(),
        };
        let by_part = rng.random_bool(0.5);
        let mut chosen = |count: usize| -> Vec<usize> {
            let count = if rng.random_bool(0.3) { count } else { 0 };
            rand::seq::index::sample(&mut rng, items, count).into_vec()
        };
        let include = chosen(2);
        let exclude = chosen(1).into_iter().filter(|item| !include.contains(item)).collect();
        Self { entries, labels, partition, sets, quality, include, exclude, by_part }
    }

    fn total(&self, set: &[usize]) -> f64 {
        let of_item = |item: usize| {
            let near = set.iter().filter(|&&other| !self.by_part || self.labels[item] == self.labels[other]);
            near.map(|&other| self.entries[item][other]).fold(0.0, f64::max)
        };
        (0..self.entries.len()).map(of_item).sum()
    }

    fn objective(&self, set: &[usize]) -> f64 {
        self.total(set) + set.iter().map(|&item| 2.0 * self.quality[item]).sum::<f64>()
    }

    fn allows(&self, set: &[usize]) -> bool {
        let counts = match &self.sets {
            Sets::Quota(partition, quota) => {
                let mut counts = vec![0; partition.parts()];
                set.iter().for_each(|&item| counts[partition.part_of(item)] += 1);
                quota.allows(&counts)
            }
            Sets::OfSize(k) => set.len() == *k,
            Sets::OfAnySize => true,
        };
        counts
            && self.include.iter().all(|item| set.contains(item))
            && !self.exclude.iter().any(|item| set.contains(item))
    }

    /// Returns the objective of the best set.
    fn best(&self) -> Option<f64> {
        let items = self.entries.len();
        let set = |bits: u32| (0..items).filter(|item| bits >> item & 1 == 1).collect::<Vec<_>>();
        let allowed = (0..1_u32 << items).map(set).filter(|set| self.allows(set));
        allowed.map(|set| self.objective(&set)).reduce(f64::max)
    }

    fn solve(&self, with_swaps: bool) -> Option<Solution> {
        let kernel = KernelFn::new(self.entries.len(), |i, j| self.entries[i][j]).unwrap();
        let model = KernelModel::over(&kernel, &self.sets).unwrap();
        let model = model.including(&self.include).ok()?.excluding(&self.exclude).ok()?;
        let model = model.with_log_quality(&self.quality).unwrap();
        let coverage = if self.by_part { Coverage::within(&self.partition) } else { Coverage::of_all() };
        let coverage = if with_swaps { coverage.with_swaps() } else { coverage };
        Some(coverage.solve(&model, &Engine::cpu()).unwrap())
    }
}

#[test]
fn small_questions_are_answered_as_well_as_is_proven() {
    let (mut cases, mut proven, mut best_by_picks, mut best_by_swaps) = (0, [0; 3], 0, 0);
    for small in (0..1300).map(Small::random) {
        let (Some(best), Some(picked), Some(swapped)) = (small.best(), small.solve(false), small.solve(true))
        else {
            continue;
        };
        cases += 1;
        for found in [&picked, &swapped] {
            let (set, covered) = (found.subset.as_slice(), found.covered.unwrap());
            assert!(small.allows(set) && found.missing == 0);
            assert!((covered.total - small.total(set)).abs() < 1e-12 * (1.0 + covered.total));
            let is_negative = |item: usize| small.quality[item] < 0.0 && !small.exclude.contains(&item);
            match covered.guarantee {
                Some(fraction) => assert!(small.objective(set) >= fraction * best - 1e-12),
                None => assert!((0..small.quality.len()).any(is_negative)),
            }
        }
        proven[picked.covered.unwrap().guarantee.map_or(0, |fraction| if fraction > 0.5 { 2 } else { 1 })] +=
            1;
        let (picked, swapped) =
            [picked, swapped].map(|found| small.objective(found.subset.as_slice())).into();
        assert!(swapped >= picked - 1e-12 && swapped <= best + 1e-12);
        best_by_picks += usize::from(picked > best - 1e-12);
        best_by_swaps += usize::from(swapped > best - 1e-12);
    }
    println!("{cases} cases, {proven:?}; the best by picks {best_by_picks}, by swaps {best_by_swaps}");
    assert!(cases >= 1000 && proven.iter().all(|&count| count > 100));
    assert!(best_by_swaps * 10 >= cases * 9);
}

/// Returns all entries, row by row.
fn entries(kernel: &dyn KernelFunction) -> Vec<Vec<f64>> {
    let all: Vec<u32> = (0..kernel.items() as u32).collect();
    let row = |item: usize| {
        let mut row = vec![0.0; all.len()];
        kernel.column(item, &all, &mut row);
        row
    };
    (0..all.len()).map(row).collect()
}

/// Returns how well a set covers each item; items of other parts cover nothing.
fn covers(entries: &[Vec<f64>], part_of: &[usize], set: &[usize]) -> Vec<f64> {
    let near = |item: usize| set.iter().filter(move |&&other| part_of[item] == part_of[other]);
    let best = |item: usize| near(item).map(|&other| entries[item][other]).fold(0.0, f64::max);
    (0..entries.len()).map(best).collect()
}

/// Adds items one by one, each the one whose coverage and weight add the most.
fn plainly(
    (entries, weights): (&[Vec<f64>], &[f64]),
    regions: &[usize],
    labels: &[usize],
    counts: &[usize],
) -> Vec<usize> {
    let (mut set, mut left) = (Vec::new(), counts.to_vec());
    while left.iter().any(|&count| count > 0) {
        let known = covers(entries, regions, &set);
        let gain = |item: usize| -> f64 {
            let own = (0..entries.len()).filter(|&other| regions[other] == regions[item]);
            weights[item] + own.map(|other| (entries[other][item] - known[other]).max(0.0)).sum::<f64>()
        };
        let free = (0..entries.len()).filter(|item| left[labels[*item]] > 0 && !set.contains(item));
        let (best, _) =
            free.map(|item| (item, gain(item))).reduce(|a, b| if b.1 > a.1 { b } else { a }).unwrap();
        left[labels[best]] -= 1;
        set.push(best);
    }
    set.sort_unstable();
    set
}

#[test]
fn picks_are_those_of_plain_greedy() {
    let items = 900;
    let labels: Vec<usize> = (0..items).map(|item| (item * item + item / 7) % 3).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let counts = [3, 5, 4];
    let quota = Quota::new(&partition, counts).unwrap();
    let given = features(items, 4, 12);
    let rbf = RbfKernel::new(&given, Bandwidth::Exactly(1.1)).unwrap();
    let dot = DotKernel::new(&given);
    let none = vec![0.0; items];
    let some: Vec<f64> = (0..items).map(|item| 15.0 + 15.0 * (item as f64).sin()).collect();
    let kernels: [(&dyn KernelFunction, &[f64]); 3] = [(&rbf, &none), (&dot, &none), (&rbf, &some)];
    for (kernel, quality) in kernels {
        let entries = entries(kernel);
        let model = KernelModel::new(kernel, &partition, &quota).unwrap().with_log_quality(quality).unwrap();
        let weights: Vec<f64> = quality.iter().map(|log| 2.0 * log).collect();
        for (coverage, regions) in
            [(Coverage::within(&partition), labels.clone()), (Coverage::of_all(), vec![0; items])]
        {
            let solve = || coverage.solve(&model, &Engine::cpu()).unwrap();
            let found = solve();
            let expected = plainly((&entries, &weights), &regions, &labels, &counts);
            assert_eq!(found.subset.as_slice(), expected, "{kernel:?}");
            assert_eq!(found.termination, Termination::QuotaMet);
            let total: f64 = covers(&entries, &regions, &expected).iter().sum();
            let covered = found.covered.unwrap();
            assert!((covered.total - total).abs() < 1e-9);
            let scores: f64 = expected.iter().map(|&item| weights[item]).sum();
            assert!((found.stats.gains.iter().sum::<f64>() - total - scores).abs() < 1e-9);
            // Counts are independent of each other, but with common regions items of one part cover others.
            let separate = regions == labels;
            let expected = if separate { 1.0 - (-1.0_f64).exp() } else { 0.5 };
            assert_eq!(covered.guarantee, Some(expected));
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(solve), found);
            }
        }
    }
}

#[test]
fn no_swap_improves_what_is_found() {
    let items = 240;
    let given = features(items, 3, 5);
    let kernel = RbfKernel::new(&given, Bandwidth::Exactly(0.8)).unwrap();
    let (entries, regions) = (entries(&kernel), vec![0; items]);
    let model = KernelModel::of_size(&kernel, 9).unwrap().including(&[17]).unwrap();
    let found = Coverage::of_all().with_swaps().solve(&model, &Engine::cpu()).unwrap();
    assert_eq!(found.termination, Termination::LocallyOptimal);
    assert!(found.stats.swaps > 0 && found.subset.contains(17));
    let total = |set: &[usize]| covers(&entries, &regions, set).iter().sum::<f64>();
    let (own, set) = (found.covered.unwrap().total, found.subset.as_slice());
    assert!((own - total(set)).abs() < 1e-9);
    for leaving in (0..set.len()).filter(|&at| set[at] != 17) {
        for entering in (0..items).filter(|item| !set.contains(item)) {
            let mut other = set.to_vec();
            other[leaving] = entering;
            assert!(total(&other) < own + 1e-9);
        }
    }
    let plain = Coverage::of_all().solve(&model, &Engine::cpu()).unwrap();
    assert!(own > plain.covered.unwrap().total);
}

/// A flag ends picks; a time limit ends only swaps.
#[test]
fn watches_end_searches() {
    let given = features(300, 3, 6);
    let kernel = RbfKernel::new(&given, Bandwidth::Exactly(0.8)).unwrap();
    let model = KernelModel::of_size(&kernel, 5).unwrap();
    let coverage = Coverage::of_all().with_swaps();
    let plain = Coverage::of_all().solve(&model, &Engine::cpu()).unwrap();
    let late = Watch::default().within(Duration::ZERO);
    let found = coverage.solve(&model, &Engine::cpu().watched(&late)).unwrap();
    assert_eq!((found.termination, &found.subset), (Termination::TimeLimit, &plain.subset));
    assert_eq!(found.covered, plain.covered);
    // Stopped at once, and after the first items have been examined: the best of these come first.
    for turns in [0, 2] {
        let flag = Arc::new(AtomicBool::new(turns == 0));
        let (own, told) = (Arc::clone(&flag), AtomicUsize::new(0));
        let stop = Watch::default().stopped_by(&flag).reporting_to(move |_| {
            own.fetch_or(told.fetch_add(1, Relaxed) + 1 >= turns, Relaxed);
        });
        let found = coverage.solve(&model, &Engine::cpu().watched(&stop)).unwrap();
        assert_eq!((found.termination, found.missing), (Termination::Interrupted, 0));
        assert_eq!(found.covered.unwrap().guarantee, None);
        assert!(found.stats.gains.iter().all(|gain| gain.is_finite()));
        let entries = entries(&kernel);
        let total = |item: usize| entries[item].iter().sum::<f64>();
        let best = (0..64).max_by(|a, b| total(*a).total_cmp(&total(*b))).unwrap();
        assert!(turns == 0 || found.subset.contains(best), "{:?} lacks {best}", found.subset);
    }
}

/// Dependent rows may be chosen together, and a solution reports what its parts cover.
#[test]
fn ranks_do_not_matter() {
    let given = features(40, 2, 7);
    let kernel = DotKernel::new(&given);
    let partition = Partition::of((0..40).map(|item| item / 20)).unwrap();
    let of = |counts: [usize; 2]| {
        let quota = Quota::new(&partition, counts).unwrap();
        let model = KernelModel::new(&kernel, &partition, &quota).unwrap();
        Coverage::within(&partition).with_swaps().solve(&model, &Engine::cpu()).unwrap()
    };
    let both = of([3, 2]);
    assert_eq!((both.subset.len(), both.log_det, both.missing), (5, f64::NEG_INFINITY, 0));
    let union = Solution::union([of([3, 0]), of([0, 2])]).unwrap();
    assert_eq!(union.subset, both.subset);
    assert!((union.covered.unwrap().total - both.covered.unwrap().total).abs() < 1e-9);
    assert_eq!(union.covered.unwrap().guarantee, both.covered.unwrap().guarantee);
    let other = Greedy::default().solve(&KernelModel::of_size(&kernel, 2).unwrap(), &Engine::cpu()).unwrap();
    assert_eq!(Solution::union([other.clone(), both]).unwrap().covered, None);
    assert_eq!(other.covered, None);
}

#[test]
fn wrong_input_is_refused() {
    let given = features(6, 2, 8);
    let kernel = DotKernel::new(&given);
    let model = KernelModel::of_size(&kernel, 2).unwrap();
    let others = Partition::of([0, 1, 1]).unwrap();
    let found = Coverage::within(&others).solve(&model, &Engine::cpu());
    assert_error!(found, Error::LabelCount { items: 6, labels: 3 }, ["6 items"]);
    let kernel = KernelFn::new(3, |i, j| if i + j == 3 { f64::NAN } else { 1.0 }).unwrap();
    let model = KernelModel::of_size(&kernel, 2).unwrap();
    let found = Coverage::of_all().solve(&model, &Engine::cpu());
    assert_error!(found, Error::Kernel(KernelProblem::NotFinite { .. }), ["NaN"]);
}
