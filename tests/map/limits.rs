//! Runs that are stopped early end soon, with a set that the model allows, and state why.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use approx::assert_abs_diff_eq;
use oracles::{
    random::normals,
    watches::{stopped_when, within},
};
use partition_dpp::{
    Dpp, Engine, Features, KDpp, Partition, PartitionDpp, Quota, Watch,
    map::{
        BranchAndBound, Greedy, ItemOrder, LocalSearch, Objective, Restarts, Softmax, Solution, Solver,
        SymmetricGreedy, Termination, UpperBound,
    },
    watch::Progress,
};

fn gaussian(items: usize, dims: usize, seed: u64) -> Features {
    Features::from_rows(items, dims, normals(items * dims, seed)).unwrap()
}

/// Runs work with a stop flag that is set when `stops` accepts a report.
fn stopped(
    run: impl Fn(&Watch) -> Solution,
    stops: impl Fn(Progress) -> bool + Send + Sync + 'static,
) -> (Solution, u64) {
    let (watch, reports) = stopped_when(move |reports| reports.last().is_some_and(|&last| stops(last)));
    let solution = run(&watch);
    let reports = reports.lock().unwrap().len();
    (solution, reports as u64)
}

fn at_once(run: impl Fn(&Watch) -> Solution) -> Solution {
    let stop = Arc::new(AtomicBool::new(true));
    run(&Watch::default().stopped_by(&stop))
}

/// Checks greedy, and all solvers that begin with it.
fn solve_all(model: &impl Objective, check: impl Fn(&str, Solution)) {
    check("greedy", at_once(|watch| Greedy::default().solve(model, &Engine::cpu().watched(watch)).unwrap()));
    check(
        "local",
        at_once(|watch| LocalSearch::default().solve(model, &Engine::cpu().watched(watch)).unwrap()),
    );
    check(
        "exact",
        at_once(|watch| BranchAndBound::default().solve(model, &Engine::cpu().watched(watch)).unwrap()),
    );
}

#[test]
fn a_stop_at_once_leaves_a_set_that_meets_the_quota() {
    let features = gaussian(600, 20, 1);
    let labels: Vec<usize> = (0..600).map(|item| item % 3).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, [2, 7, 3]).unwrap();
    let joint = PartitionDpp::new(&features, &partition, &quota).unwrap().including(&[17]).unwrap();
    solve_all(&joint, |solver, solution| {
        assert_eq!(solution.termination, Termination::Interrupted, "{solver}");
        let count = |label| solution.subset.iter().filter(|&item| labels[item] == label).count();
        assert_eq!([0, 1, 2].map(count), [2, 7, 3], "{solver}");
        assert!(solution.log_det.is_finite(), "{solver}");
    });
    let k_dpp = KDpp::new(&features, 9).unwrap();
    solve_all(&k_dpp, |solver, solution| {
        assert_eq!((solution.termination, solution.subset.len()), (Termination::Interrupted, 9), "{solver}");
    });
    let dpp = Dpp::new(&features).unwrap();
    solve_all(&dpp, |solver, solution| {
        assert_eq!((solution.termination, solution.log_det >= 0.0), (Termination::Interrupted, true));
        println!("{solver}: {} items", solution.subset.len());
    });
}

#[test]
fn copies_of_the_longest_rows_do_not_hold_up_a_stopped_run() {
    // Independent items are found behind the copies, or left out if there are too many copies.
    for copies in [500, 5000] {
        let mut values = [3.0, 0.0, 0.0].repeat(copies);
        values.extend([0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        let features = Features::from_rows(copies + 2, 3, values).unwrap();
        let k_dpp = KDpp::new(&features, 3).unwrap();
        let solution =
            at_once(|watch| Greedy::default().solve(&k_dpp, &Engine::cpu().watched(watch)).unwrap());
        assert_eq!(solution.termination, Termination::Interrupted);
        let missing = if copies == 500 { 0 } else { 2 };
        assert_eq!((solution.subset.len(), solution.missing), (3 - missing, missing));
        let certificate = UpperBound::default().certify(&k_dpp, &Engine::cpu()).unwrap();
        // A bound on other sets does not apply to this one.
        assert_eq!(solution.certified(&certificate).gap().is_some(), missing == 0);
    }
}

#[test]
fn picks_made_before_a_stop_stay() {
    let features = gaussian(2000, 30, 2);
    let k_dpp = KDpp::new(&features, 20).unwrap();
    let whole = Greedy::default().solve(&k_dpp, &Engine::cpu()).unwrap();
    let greedy = |watch: &Watch| Greedy::default().solve(&k_dpp, &Engine::cpu().watched(watch)).unwrap();
    let stops = |progress: Progress| progress.steps == 5;
    let (solution, reports) = stopped(greedy, stops);
    assert_eq!(solution.termination, Termination::Interrupted);
    assert_eq!((reports, solution.subset.len()), (6, 20));
    assert_eq!(solution.stats.gains[..5], whole.stats.gains[..5]);
    assert_abs_diff_eq!(solution.stats.gains.iter().sum::<f64>(), solution.log_det, epsilon = 1e-9);
    assert!(solution.log_det < whole.log_det);
    let (watched, reports) = stopped(greedy, |_| false);
    assert_eq!((watched, reports), (whole, 20));
}

#[test]
fn double_greedy_stops_between_items() {
    let features = gaussian(300, 12, 3);
    let dpp = Dpp::new(&features).unwrap();
    for order in [ItemOrder::Index, ItemOrder::GreedyBasisLast] {
        let solver = SymmetricGreedy::default().with_order(order);
        let run = |watch: &Watch| solver.solve(&dpp, &Engine::cpu().watched(watch)).unwrap();
        let nothing = at_once(run);
        assert_eq!((nothing.termination, nothing.subset.len()), (Termination::Interrupted, 0));
        let (some, _) = stopped(run, |progress| progress.steps == 3);
        assert_eq!((some.termination, some.subset.len()), (Termination::Interrupted, 3));
        assert_eq!(solver.solve(&dpp, &Engine::cpu()).unwrap().termination, Termination::AllDecided);
    }
}

#[test]
fn no_rank_is_exhausted_before_anybody_has_looked() {
    // Next to the longest rows, the others vanish when squared, so no set of three is found. A stopped solver does
    // not know
    // that there is none.
    let mut values = normals(5 * 3, 4);
    values[6..].iter_mut().for_each(|x| *x *= 1e-165);
    let features = Features::from_rows(5, 3, values).unwrap();
    let k_dpp = KDpp::new(&features, 3).unwrap();
    let solver = BranchAndBound::default();
    assert_eq!(solver.solve(&k_dpp, &Engine::cpu()).unwrap().termination, Termination::RankExhausted);
    let solution = at_once(|watch| solver.solve(&k_dpp, &Engine::cpu().watched(watch)).unwrap());
    assert_eq!(solution.termination, Termination::Interrupted);
}

#[test]
fn the_softmax_climb_ends_with_few_evaluations() {
    // Rounding the middle of the cube without loss would take dozens of passes over all rows.
    let features = gaussian(20_000, 48, 5);
    let dpp = Dpp::new(&features).unwrap();
    let run = |watch: &Watch| Softmax::default().solve(&dpp, &Engine::cpu().watched(watch)).unwrap();
    let solution = at_once(run);
    assert_eq!((solution.termination, solution.stats.iterations), (Termination::Interrupted, 0));
    assert_eq!(solution.stats.evaluations, 1);
    assert!(solution.log_det > 0.0);
    let (later, _) = stopped(run, |progress| progress.steps == 2);
    assert_eq!((later.stats.iterations, later.stats.evaluations), (2, 3));
    assert!(later.log_det > 0.0);
    let limited = Softmax::default().solve(&dpp, &within(Duration::ZERO)).unwrap();
    assert_eq!(limited.termination, Termination::TimeLimit);
}

#[test]
fn restarts_end_where_all_is_known() {
    // An hour is a generous limit for at most 2⁵ sets.
    let hour = Duration::from_secs(3600);
    let solver = LocalSearch::default().with_restarts(Restarts::UntilTimeLimit);
    let features = gaussian(5, 4, 6);
    for k in 1..=4 {
        let solution = solver.solve(&KDpp::new(&features, k).unwrap(), &within(hour)).unwrap();
        assert_eq!(solution.termination, Termination::LocallyOptimal);
        assert!((1000..2000).contains(&solution.stats.restarts), "{}", solution.stats.restarts);
    }
    for values in [vec![0.5], vec![2.0], vec![0.0; 3]] {
        let features = Features::from_rows(values.len(), 1, values).unwrap();
        let solution = solver.solve(&Dpp::new(&features).unwrap(), &within(hour)).unwrap();
        assert_eq!(solution.termination, Termination::LocallyOptimal);
    }
}
