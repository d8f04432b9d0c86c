//! Searches that start at a set, and searches that resume from bytes.

use std::time::Duration;

use oracles::{
    assert_error,
    random::normals,
    watches::{stopped_when, within},
};
use partition_dpp::{
    Engine, Error, Features, KDpp, Partition, PartitionDpp, Quota, Subset,
    error::StreamProblem,
    map::{BranchAndBound, Search, Solver, Termination},
};

const TOLERANCE: f64 = 1e-9;

fn solver() -> BranchAndBound {
    BranchAndBound::default()
}

/// Returns fifty rows of forty normal numbers.
fn synthetic(seed: u64) -> Features {
    Features::from_rows(50, 40, normals(2000, seed)).unwrap()
}

/// A search that is stopped after every few nodes and resumed from bytes proves the same set.
#[test]
fn a_search_goes_on_from_bytes() {
    let features = synthetic(3);
    let labels: Vec<usize> = (0..50).map(|item| item % 5).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let ranges = Quota::new(&partition, [0..=5, 1..=3, 2..=2, 0..=4, 1..=3]).unwrap();
    let questions = [Quota::each(&partition, 3).unwrap(), ranges.with_total(12).unwrap()];
    for quota in questions {
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let whole = solver().solve(&dpp, &Engine::cpu()).unwrap();
        let mut search = Search::default();
        let (mut runs, mut known) = (0, 0);
        let solution = loop {
            let enough = known + 8;
            let (watch, _) = stopped_when(move |seen| seen.last().is_some_and(|last| last.steps > enough));
            let solution = solver().solve_from(&dpp, &Engine::cpu().watched(&watch), &mut search).unwrap();
            (known, runs) = (solution.stats.nodes, runs + 1);
            assert!(solution.upper_bound.unwrap() >= whole.log_det - 1e-12);
            if solution.termination != Termination::Interrupted {
                break solution;
            }
            assert!(!search.is_finished());
            search = Search::from_bytes(&search.to_bytes()).unwrap();
        };
        println!("{runs} runs, {known} nodes, {} in one run", whole.stats.nodes);
        assert!(runs > 2 && search.is_finished());
        assert_eq!((&solution.subset, solution.termination), (&whole.subset, Termination::Optimal));
        assert!(solution.gap().unwrap() <= TOLERANCE);
        // Nothing is left to do in another run.
        let again = solver().solve_from(&dpp, &Engine::cpu(), &mut search).unwrap();
        assert_eq!((again.subset, again.stats.nodes), (solution.subset, known));
        // A different problem, and different bytes.
        let other = PartitionDpp::new(&features, &partition, &Quota::each(&partition, 1).unwrap()).unwrap();
        assert_error!(
            solver().solve_from(&other, &Engine::cpu(), &mut search),
            Error::Stream(StreamProblem::Foreign { .. }),
            ["not a search of these rows"]
        );
        // A different row, a different weight, and other parts of the same sizes.
        let mut rows: Vec<f64> = (0..50).flat_map(|item| features.row(item)).collect();
        rows[7 * 40] += 1e-3;
        let weights: Vec<f64> = (0..50).map(|item| if item == 31 { 0.1 } else { 0.0 }).collect();
        let others = [
            (Features::from_rows(50, 40, rows).unwrap(), partition.clone()),
            (features.with_log_quality(&weights).unwrap(), partition.clone()),
            (
                features.clone(),
                Partition::from_labels(&(0..50).map(|item| item / 10).collect::<Vec<_>>()).unwrap(),
            ),
        ];
        for (features, partition) in &others {
            let other = PartitionDpp::new(features, partition, &quota).unwrap();
            let refused = solver().solve_from(&other, &Engine::cpu(), &mut search);
            assert_error!(
                refused,
                Error::Stream(StreamProblem::Foreign { .. }),
                ["not a search of these rows"]
            );
            assert!(search.is_finished());
        }
        let mut bytes = search.to_bytes();
        bytes[30] ^= 1;
        assert!(Search::from_bytes(&bytes).is_err());
    }
}

/// If a search starts at the best set, only the proof is left; a set that is not allowed is ignored.
#[test]
fn a_search_begins_at_a_set() {
    let features = synthetic(4);
    let dpp = KDpp::new(&features, 6).unwrap();
    let plain = solver().solve(&dpp, &Engine::cpu()).unwrap();
    let subset = |items: Vec<usize>| Subset::new(items, 50).unwrap();
    for start in [plain.subset.clone(), subset(vec![0, 1, 2, 3, 4, 5]), subset(vec![7])] {
        let mut search = Search::from_set(&start);
        let solution = solver().solve_from(&dpp, &Engine::cpu(), &mut search).unwrap();
        assert_eq!((&solution.subset, solution.termination), (&plain.subset, Termination::Optimal));
        assert!(solution.stats.nodes <= plain.stats.nodes);
    }
    // If stopped at once, the search returns the given set.
    let mut search = Search::from_set(&plain.subset);
    let solution = solver().solve_from(&dpp, &within(Duration::ZERO), &mut search).unwrap();
    assert_eq!((solution.subset, solution.termination), (plain.subset, Termination::TimeLimit));
}
