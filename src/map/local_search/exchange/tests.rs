//! Exchanges against the enumeration of all of them.

use approx::assert_abs_diff_eq;

use super::*;
use crate::{Features, Partition, PartitionDpp, Quota, Watch, map::Objective};

/// Values in (−1, 1).
fn noise(seed: usize, count: usize) -> Vec<f64> {
    let entry = |at: usize| (((977 * seed + at) as f64 * 12.9898).sin() * 43_758.545_3).fract();
    (0..count).map(entry).collect()
}

/// Returns the largest ln det of the sets after exchanges in `moved` parts, one item each.
fn enumerated(space: &SearchSpace<'_>, set: &[Place], moved: usize) -> f64 {
    fn descend(space: &SearchSpace<'_>, set: &mut Vec<Place>, (group, left): (usize, usize)) -> f64 {
        if left == 0 {
            return space.candidates.log_det(set);
        }
        let Some(members) = space.rows.groups().get(group) else { return f64::NEG_INFINITY };
        let mut best = descend(space, set, (group + 1, left));
        for at in 0..set.len() {
            let leaving = set[at];
            if leaving.group != group {
                continue;
            }
            for position in 0..members.items.len() {
                let entering = Place { group, position };
                if !set.contains(&entering) {
                    set[at] = entering;
                    best = best.max(descend(space, set, (group + 1, left - 1)));
                    set[at] = leaving;
                }
            }
        }
        best
    }
    descend(space, &mut set.to_vec(), (0, moved))
}

/// Items of parts of `members` items, the numbers to choose of each part, and the numbers of included ones.
struct Case {
    members: usize,
    quota: &'static [usize],
    included: &'static [usize],
}

/// Makes the best exchanges from the first items of every part on until none improves, and compares each with the
/// enumeration. Returns the numbers of exchanges of two and of three parts.
fn exchange_all(case: &Case, seed: usize) -> [usize; 2] {
    let parts = case.quota.len();
    let labels: Vec<usize> = (0..parts * case.members).map(|item| item / case.members).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, case.quota.to_vec()).unwrap();
    let dims = case.quota.iter().sum::<usize>() + seed % 3;
    let features = Features::from_rows(labels.len(), dims, noise(seed, labels.len() * dims)).unwrap();
    let model = PartitionDpp::new(&features, &partition, &quota).unwrap().including(case.included).unwrap();
    let candidates = model.candidates();
    let rows = candidates.rows();
    let space = SearchSpace { candidates: &candidates, engine: Engine::host(), rows: &rows, epsilon: 1e-9 };
    let of_group = |(group, &count): (usize, &usize)| {
        let included = case.included.iter().filter(|&&item| labels[item] == group).count();
        (0..count - included).map(move |position| Place { group, position })
    };
    let mut set: Vec<Place> = case.quota.iter().enumerate().flat_map(of_group).collect();
    let mut found = [0, 0];
    loop {
        let chosen = Chosen::new(&space, &set).unwrap().unwrap();
        let after = best_exchange(&space, &chosen, &Watch::default().start(), &mut Stats::default()).unwrap();
        let known = candidates.log_det(&set) + 1e-9;
        let best = [2, 3].map(|moved| enumerated(&space, &set, moved));
        let Some(at) = best.iter().position(|&best| best > known) else {
            assert_eq!(after, None);
            return found;
        };
        set = after.expect("an exchange improves the set");
        assert_abs_diff_eq!(candidates.log_det(&set), best[at], epsilon = 1e-9);
        found[at] += 1;
    }
}

/// Exchanges are the best of all, for k = n and k < n.
#[test]
fn exchanges_are_the_best_of_all() {
    let cases = [
        Case { members: 4, quota: &[1, 1, 1, 1, 1], included: &[] },
        Case { members: 5, quota: &[2, 1, 2, 1], included: &[] },
        Case { members: 4, quota: &[1, 2, 1, 2], included: &[5, 12] },
    ];
    for (case, seeds) in cases.into_iter().zip([100, 40, 100]) {
        let mut found = [0, 0];
        for seed in 0..seeds {
            let [two, three] = exchange_all(&case, seed);
            found = [found[0] + two, found[1] + three];
        }
        assert!(found[0] > 30 && found[1] > 3, "{found:?} of {:?}", case.quota);
    }
}

/// A trap of three parts, among more short rows than are all compared.
#[test]
fn three_parts_escape_among_many_items() {
    const MEMBERS: usize = 300;
    // In the trap the rows share a direction. All three must move to have one axis each.
    let trap = [[1.0, 0.0, 0.0, 0.9], [0.0, 1.0, 0.0, 0.9], [0.0, 0.0, 1.0, 0.9]];
    let escape = [[0.0, 1.3, 0.0, 0.0], [0.0, 0.0, 1.3, 0.0], [1.3, 0.0, 0.0, 0.0]];
    let mut values: Vec<f64> = noise(1, 3 * MEMBERS * 4).iter().map(|x| 0.02 * x).collect();
    for part in 0..3 {
        for (position, row) in [(17, trap[part]), (230, escape[part])] {
            values[4 * (part * MEMBERS + position)..][..4].copy_from_slice(&row);
        }
    }
    let labels: Vec<usize> = (0..3 * MEMBERS).map(|item| item / MEMBERS).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, [1, 1, 1]).unwrap();
    let features = Features::from_rows(labels.len(), 4, values).unwrap();
    let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let candidates = model.candidates();
    let rows = candidates.rows();
    let space = SearchSpace { candidates: &candidates, engine: Engine::host(), rows: &rows, epsilon: 1e-9 };
    let set = [0, 1, 2].map(|group| Place { group, position: 17 });
    assert!(fewer_moved(&space, &set) < candidates.log_det(&set), "not a trap");
    let chosen = Chosen::new(&space, &set).unwrap().unwrap();
    let after = best_exchange(&space, &chosen, &Watch::default().start(), &mut Stats::default()).unwrap();
    assert_eq!(after.unwrap(), [0, 1, 2].map(|group| Place { group, position: 230 }));
}

/// Returns the largest ln det of the sets after exchanges in one or two parts.
fn fewer_moved(space: &SearchSpace<'_>, set: &[Place]) -> f64 {
    [1, 2].map(|moved| enumerated(space, set, moved)).into_iter().fold(f64::NEG_INFINITY, f64::max)
}
