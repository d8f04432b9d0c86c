//! The tree must not lose the best set, even from a bad incumbent: good first sets would hide a loss.

use std::ops::RangeInclusive;

use approx::{assert_abs_diff_eq, assert_relative_eq};

use super::{
    branch::branch,
    incumbent::Incumbent,
    search::{OpenNodes, search},
    state::{Left, Node, State},
};
use crate::{
    Dpp, Features, KDpp, Partition, PartitionDpp, Quota, Watch,
    map::{
        Candidates, Objective, Place,
        bounds::{Method, Subproblem, places},
    },
};

const ITEMS: usize = 12;
const LABELS: [usize; ITEMS] = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 0];
const QUOTA: [usize; 3] = [2, 1, 2];
const RANGES: [RangeInclusive<usize>; 3] = [1..=2, 0..=4, 2..=3];

/// Entries in (−1, 1), the same in every run.
fn features(seed: u64, dims: usize) -> Features {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    Features::from_rows(ITEMS, dims, (0..ITEMS * dims).map(|_| next()).collect::<Vec<_>>()).unwrap()
}

/// Calls `check` with random problems: of one size, of any size, under quotas, and under ranges with and without a
/// total.
fn each_problem(check: impl Fn(&Candidates<'_>, &Subproblem)) {
    let partition = Partition::from_labels(&LABELS).unwrap();
    let quota = Quota::new(&partition, QUOTA).unwrap();
    let ranges = Quota::new(&partition, &RANGES).unwrap();
    let with_total = ranges.clone().with_total(4).unwrap();
    for (seed, dims) in [(1, 6), (2, 9), (3, 12), (4, 12), (5, 7), (6, 12)] {
        let features = features(seed, dims);
        let check = |candidates: Candidates<'_>| {
            check(&candidates, &Subproblem::new(&candidates, places(&candidates)));
        };
        check(KDpp::new(&features, 5).unwrap().candidates());
        check(Dpp::new(&features).unwrap().candidates());
        for quota in [&quota, &ranges, &with_total] {
            check(PartitionDpp::new(&features, &partition, quota).unwrap().candidates());
        }
    }
}

/// Every allowed set, sorted, with its ln det.
fn allowed(candidates: &Candidates<'_>, problem: &Subproblem) -> Vec<(Vec<Place>, f64)> {
    let sets = (0_u32..1 << ITEMS).map(|mask| {
        let mut set: Vec<Place> =
            (0..ITEMS).filter(|i| mask >> i & 1 == 1).map(|i| problem.place(i)).collect();
        set.sort_unstable();
        set
    });
    let meets = |set: &Vec<Place>| candidates.counts.allow(&candidates.counts_of(set));
    sets.filter(meets).map(|set| (set.clone(), candidates.log_det(&set))).collect()
}

fn holds(node: &Node, set: &[Place]) -> bool {
    node.included.iter().all(|place| set.contains(place))
        && set.iter().all(|place| node.included.contains(place) || node.undecided.contains(place))
}

fn methods() -> [Method; 4] {
    [
        Method::Gamma,
        Method::Linx([vec![1.0; ITEMS], vec![-0.5; ITEMS]]),
        Method::Shifted(vec![-2.0; ITEMS]),
        Method::Complement(vec![-2.0; ITEMS]),
    ]
}

fn start(root: &Subproblem, method: Method) -> Node {
    Node::root(root.places.clone(), method, f64::INFINITY)
}

#[test]
fn every_good_set_stays_in_the_tree() {
    each_problem(|candidates, root| {
        let mut sets = allowed(candidates, root);
        sets.sort_by(|a, b| b.1.total_cmp(&a.1));
        for method in methods() {
            for (set, log_det) in &sets[..3] {
                let target = log_det - 1e-7;
                let mut node = start(root, method.clone());
                loop {
                    let branched = branch(root, &node, target, &|| false).unwrap();
                    let mut next = branched.children.into_iter().filter(|child| holds(child, set));
                    let Some(child) = next.next() else {
                        // No child holds the set, so it was found as the best that is left.
                        let best = branched.sets.iter().map(|set| candidates.log_det(set));
                        let best = best.fold(f64::NEG_INFINITY, f64::max);
                        assert!(best >= log_det - 1e-9, "{method:?} lost {set:?} of {log_det}: {best}");
                        break;
                    };
                    assert!(next.next().is_none() && child.bound >= log_det - 1e-9);
                    node = child;
                }
            }
        }
    });
}

#[test]
fn the_worst_start_ends_at_the_optimum() {
    each_problem(|candidates, root| {
        let sets = allowed(candidates, root);
        let best = sets.iter().map(|(_, log_det)| *log_det).fold(f64::NEG_INFINITY, f64::max);
        let finite = sets.iter().filter(|(_, value)| value.is_finite());
        let (worst, _) = finite.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        for method in methods() {
            // A wide and a deep search.
            for most_open in [usize::MAX, 1] {
                let mut incumbent = Incumbent::none();
                assert!(incumbent.offer(candidates, worst.clone()));
                let clock = Watch::default().start();
                let mut open = OpenNodes::of(start(root, method.clone())).with_most_open(most_open);
                search(candidates, root, &mut open, &mut incumbent, 1e-6, &clock).unwrap();
                assert_abs_diff_eq!(incumbent.log_det, best, epsilon = 1e-9);
                let bound = open.upper_bound().max(incumbent.log_det);
                assert!(bound >= best - 1e-12 && bound <= best + 1e-6);
                assert_abs_diff_eq!(open.done, 1.0, epsilon = 1e-12);
            }
        }
    });
}

#[test]
fn reducing_loses_nothing() {
    each_problem(|candidates, root| {
        let mut state = State::whole(root.clone());
        // Including an item leaves one place in some group, and few items.
        state.include(0);
        state.retain(|item| item % 3 != 1);
        let node = state.clone().node(f64::INFINITY);
        let sets = allowed(candidates, root);
        let below = sets.iter().filter(|(set, _)| holds(&node, set));
        let best = below.map(|(_, log_det)| *log_det).fold(f64::NEG_INFINITY, f64::max);
        let left = state.reduce();
        let forced = state.clone().node(f64::INFINITY);
        let below = sets.iter().filter(|(set, _)| left != Left::Nothing && holds(&forced, set));
        let found = below.map(|(_, log_det)| *log_det).fold(f64::NEG_INFINITY, f64::max);
        // Equal infinities pass.
        assert_relative_eq!(found, best, epsilon = 1e-12, max_relative = 0.0);
    });
}
