//! Greedy picks under ranges, and of sets of any size, that the device makes without the host.

use std::ops::RangeInclusive;

use oracles::{
    engines::{self, Tested},
    on_every_engine,
    random::normals,
};
use partition_dpp::{
    Dpp, Engine, Features, Partition, PartitionDpp, Quota,
    map::{Greedy, Objective, Solver, Termination},
};

use crate::ahead::{labels, problems};

/// Asserts that an engine picks the same items in the same order as the CPU and stops for the same reason. Returns
/// their
/// number.
#[track_caller]
fn assert_same(model: &impl Objective, tested: &Tested, what: &str) -> usize {
    let expected = Greedy::default().solve(model, &Engine::cpu()).unwrap();
    let found = Greedy::default().solve(model, &tested.engine).unwrap();
    assert_eq!(found.subset, expected.subset, "{what}");
    assert_eq!(found.termination, expected.termination, "{what}");
    // Items added by a repair have no recorded gains.
    assert_eq!(found.stats.gains.len(), expected.stats.gains.len(), "{what}");
    assert!((found.log_det - expected.log_det).abs() <= 1e-9 * (1.0 + expected.log_det.abs()), "{what}");
    for (found, expected) in found.stats.gains.iter().zip(&expected.stats.gains) {
        assert!((found - expected).abs() < 1e-9, "{what}: {found} {expected}");
    }
    expected.stats.gains.len()
}

/// Returns the same rows, scaled by one factor.
fn sized(features: &Features, size: f64) -> Features {
    let values =
        (0..features.items()).flat_map(|item| features.row(item)).map(|x| x * size).collect::<Vec<_>>();
    Features::from_rows(features.items(), features.dims(), values).unwrap()
}

/// Returns the problems that a software driver solves quickly.
fn small() -> impl Iterator<Item = (Features, usize, Vec<usize>)> {
    problems().into_iter().filter(|(features, _, _)| features.items() * features.dims() < 50_000)
}

/// Returns ranges around these counts: with a total, and with sizes that the gains decide.
fn shapes(partition: &Partition, counts: &[usize]) -> Vec<(&'static str, Quota)> {
    let around = |down: usize, up: usize| -> Vec<RangeInclusive<usize>> {
        counts.iter().map(|&count| count.saturating_sub(down)..=count + up).collect()
    };
    let ranges = |ranges: &[RangeInclusive<usize>]| Quota::new(partition, ranges).unwrap();
    let mut first_open = around(0, 0);
    first_open[0] = 0..=99;
    vec![
        ("of a size", ranges(&around(1, 2)).with_total(counts.iter().sum()).unwrap()),
        ("around", ranges(&around(1, 2))),
        ("at least", ranges(&around(0, 99))),
        ("at most", ranges(&around(99, 0))),
        ("one part open", ranges(&first_open)),
    ]
}

fn ranges(tested: &Tested) {
    let mut sizes_of_sets = Vec::new();
    for (features, parts, counts) in small() {
        let partition = labels(features.items(), parts);
        // The length of rows decides whether a gain exceeds 1.
        for size in [1.0, 0.3] {
            let features = sized(&features, size);
            for (shape, quota) in shapes(&partition, &counts) {
                let what = format!("{features:?} × {size}, {shape}");
                let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
                sizes_of_sets.push(assert_same(&dpp, tested, &what));
                let including = dpp.including(&[1]).unwrap();
                assert_same(&including, tested, &format!("{what}, with an item"));
            }
        }
    }
    assert!(sizes_of_sets.contains(&0), "{sizes_of_sets:?}");
}

fn any_size(tested: &Tested) {
    for (features, _, _) in small() {
        let mut found = Vec::new();
        for size in [1.0, 0.3, 1e-3] {
            let features = sized(&features, size);
            let dpp = Dpp::new(&features).unwrap();
            found.push(assert_same(&dpp, tested, &format!("{features:?} × {size}")));
            let including = dpp.including(&[2]).unwrap();
            assert_same(&including, tested, &format!("{features:?} × {size}, with an item"));
        }
        assert!(found[0] > 0 && found[2] == 0, "{features:?}: {found:?}");
    }
}

/// More picks than are recorded together.
fn many_picks(tested: &Tested) {
    let features = Features::from_rows(400, 150, normals(400 * 150, 2)).unwrap();
    let picks = assert_same(&Dpp::new(&sized(&features, 0.16)).unwrap(), tested, "many picks");
    assert!((70..140).contains(&picks), "{picks}");
}

/// Returns orthogonal rows along directions other than the axes: cosines with these frequencies and lengths.
fn orthogonal(dims: usize, lengths: &[(usize, f64)]) -> Features {
    let row = |&(frequency, length): &(usize, f64)| {
        let unit = (if frequency == 0 { 1.0 } else { 2.0 } / dims as f64).sqrt();
        let phase = move |j: usize| std::f64::consts::PI * frequency as f64 * (j as f64 + 0.5) / dims as f64;
        (0..dims).map(move |j| length * unit * phase(j).cos())
    };
    Features::from_rows(lengths.len(), dims, lengths.iter().flat_map(row).collect::<Vec<_>>()).unwrap()
}

/// One gain so close to 1 that single precision cannot decide whether it is larger.
fn close_to_one(tested: &Tested) {
    for frequency in 1..47 {
        for (length, picks) in [(1.0 - 1e-9, 1), (1.0 + 1e-9, 2)] {
            let axes = orthogonal(48, &[(frequency, 1.0), (frequency + 1, length), (0, 0.5)]);
            let [first, second, third] = [0, 1, 2].map(|item| axes.row(item));
            // The residual of the second row given the first is a difference of larger numbers.
            let second = first.iter().zip(&second).map(|(x, y)| 10.0 * x + y);
            let values = first.iter().map(|x| (15.0 + 0.1 * frequency as f64) * x).chain(second).chain(third);
            let features = Features::from_rows(3, 48, values.collect::<Vec<_>>()).unwrap();
            let dpp = Dpp::new(&features).unwrap();
            assert_eq!(assert_same(&dpp, tested, &format!("{frequency}, {length}")), picks);
        }
    }
}

/// All gains are this close to 1; the copies lie in two parts.
fn all_close_to_one(tested: &Tested) {
    const DIMS: usize = 32;
    let length = |item: usize| (item % DIMS, 1.0 + 1e-9 * (item as f64 - 31.5));
    let features = orthogonal(DIMS, &(0..2 * DIMS).map(length).collect::<Vec<_>>());
    assert_eq!(assert_same(&Dpp::new(&features).unwrap(), tested, "any size"), DIMS);
    let partition =
        Partition::from_labels(&(0..2 * DIMS).map(|item| item / DIMS).collect::<Vec<_>>()).unwrap();
    for (quota, expected) in [([0..=9, 0..=40], 32), ([3..=9, 0..=20], 23), ([5..=9, 2..=4], 9)] {
        let quota = Quota::new(&partition, quota).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        assert_eq!(assert_same(&dpp, tested, "ranges"), expected);
    }
}

/// A part's minimum is met however little it adds, and ends when the part has nothing more.
fn what_is_needed(tested: &Tested) {
    let mut values = normals(500 * 12, 3);
    let partition = Partition::from_labels(&(0..500).map(|item| item % 3).collect::<Vec<_>>()).unwrap();
    for (item, row) in values.chunks_exact_mut(12).enumerate() {
        let size = [0.4, 0.02, 0.1][item % 3];
        row.iter_mut().for_each(|x| *x *= size);
    }
    let features = Features::from_rows(500, 12, values).unwrap();
    for (low, high) in
        [([0, 2, 1], [9, 3, 9]), ([1, 0, 0], [2, 9, 9]), ([0, 0, 4], [1, 1, 5]), ([0, 6, 0], [0, 6, 3])]
    {
        let ranges = low.iter().zip(high).map(|(&low, high)| low..=high);
        let quota = Quota::new(&partition, ranges).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        assert_same(&dpp, tested, &format!("{quota:?}"));
        let solution = Greedy::default().solve(&dpp, &tested.engine).unwrap();
        assert_eq!(solution.termination, Termination::GainNotPositive);
        let mut counts = [0; 3];
        solution.subset.iter().for_each(|item| counts[item % 3] += 1);
        assert!(quota.allows(&counts), "{solution:?}");
    }
    // Room is kept for the minimum of a part, and a total is met by any remaining items, from any part.
    for (least, most, total) in [([0, 6, 0], [9; 3], 8), ([0; 3], [2, 9, 0], 8), ([0; 3], [11; 3], 11)] {
        let ranges = least.iter().zip(most).map(|(&least, most)| least..=most);
        let quota = Quota::new(&partition, ranges).unwrap().with_total(total).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        assert_eq!(assert_same(&dpp, tested, "of a size"), total);
    }
}

on_every_engine!(ranges, any_size, many_picks, close_to_one, all_close_to_one, what_is_needed);

#[test]
fn planted_faults_are_noticed() {
    engines::assert_noticed(&[
        (("choose_pick", "demands[group] == NEEDED ||", "demands[group] == FULL ||"), what_is_needed),
        (("choose_pick", "|| gain > numbers[parameters.groups].z", "|| gain > ZERO"), any_size),
        (("choose_pick", "rival.value <= numbers[all].z", "rival.value <= HIGHEST"), close_to_one),
        (("choose_pick", "counts[group].x -= 1u", "counts[group].x -= 0u"), what_is_needed),
        (("choose_pick", "counts[group].y -= 1u", "counts[group].y -= 0u"), what_is_needed),
        (("choose_pick", "all.y - 1u", "all.y"), what_is_needed),
        (("choose_pick", "all.y == 0u", "false"), what_is_needed),
        (("choose_pick", "own.y == 0u", "false"), what_is_needed),
        (("choose_pick", "OPTIONAL, NEEDED, all.x > 0u", "NEEDED, NEEDED, false"), any_size),
        (("choose_pick", "own.x > 0u", "false"), what_is_needed),
        (("choose_pick", "demand(l), picked", "demand(l), true"), all_close_to_one),
        (
            ("choose_pick", "worthwhile(at_least, best.slot)", "worthwhile(best.value, best.slot)"),
            close_to_one,
        ),
    ]);
}
