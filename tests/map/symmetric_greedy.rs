//! Symmetric greedy against its definition by determinants, and its guarantee against enumeration.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use nalgebra::DMatrix;
use oracles::{
    conditioned,
    conditions::Condition,
    known_answers,
    oracle::Determinants,
    random::normals,
    unconstrained::{features, gaussian, nonnegative, zoo},
    with_threads,
};
use partition_dpp::{
    Dpp, Engine, Features, Kernel, Subset,
    map::{Decision, ItemOrder, Solution, Solver, SymmetricGreedy, Termination},
};
use rand::{RngExt, SeedableRng};

/// Returns ln det(K_S + εI).
fn log_det(rows: &[Vec<f64>], set: &[usize], epsilon: f64) -> f64 {
    let kernel = DMatrix::from_fn(set.len(), set.len(), |i, j| {
        let product: f64 = rows[set[i]].iter().zip(&rows[set[j]]).map(|(x, y)| x * y).sum();
        product + if i == j { epsilon } else { 0.0 }
    });
    let Some(factor) = kernel.cholesky() else { return f64::NEG_INFINITY };
    2.0 * factor.l().diagonal().iter().map(|x| x.ln()).sum::<f64>()
}

/// A fault to plant.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Items are compared with all items, not with the remaining ones.
    ForgetsToShrink,
    /// Later items are ignored.
    OnlyFromBelow,
}

/// Runs the algorithm by its definition on K + εI with a small ε: b_i is large for dependent items, as in the limit.
fn literal(rows: &[Vec<f64>], order: &[usize], epsilon: f64, fault: Fault) -> Vec<usize> {
    let without = |set: &[usize], item: usize| -> Vec<usize> {
        set.iter().copied().filter(|&other| other != item).collect()
    };
    let (mut x, mut y) = (Vec::new(), order.to_vec());
    for &item in order {
        let more = [&x[..], &[item]].concat();
        let adding = log_det(rows, &more, epsilon) - log_det(rows, &x, epsilon);
        let fewer = without(&y, item);
        let removing = match fault {
            Fault::OnlyFromBelow => 0.0,
            _ => log_det(rows, &fewer, epsilon) - log_det(rows, &y, epsilon),
        };
        if adding >= removing {
            x = more;
        } else if fault != Fault::ForgetsToShrink {
            y = fewer;
        }
    }
    x.sort_unstable();
    x
}

fn solve(rows: &[Vec<f64>], solver: SymmetricGreedy) -> Solution {
    let features = features(rows);
    let solution = solver.solve(&Dpp::new(&features).unwrap(), &Engine::cpu()).unwrap();
    assert_eq!(solution.termination, Termination::AllDecided);
    solution
}

const EPSILON: f64 = 1e-9;

#[test]
fn sets_are_those_of_the_definition() {
    let (mut kept, mut left, mut other_sets) = (0, 0, [0, 0]);
    for rows in zoo(12) {
        let index: Vec<usize> = (0..rows.len()).collect();
        let found = solve(&rows, SymmetricGreedy::default());
        let expected = literal(&rows, &index, EPSILON, Fault::None);
        assert_eq!(found.subset.as_slice(), expected);
        assert_abs_diff_eq!(found.log_det, log_det(&rows, &expected, 0.0), epsilon = 1e-9);
        assert!(
            abs_diff_eq!(found.stats.gains.iter().sum::<f64>(), found.log_det, epsilon = 1e-9),
            "gains add up"
        );
        kept += expected.len();
        left += rows.len() - expected.len();
        for (count, fault) in other_sets.iter_mut().zip([Fault::ForgetsToShrink, Fault::OnlyFromBelow]) {
            *count += usize::from(literal(&rows, &index, EPSILON, fault) != expected);
        }
    }
    println!("{kept} items kept, {left} left; faults seen {other_sets:?} times");
    assert!(kept > 100 && left > 100, "both decisions must be made often");
    assert!(other_sets.iter().all(|&count| count > 10), "the comparison must see faults: {other_sets:?}");
}

#[test]
fn sets_of_the_known_kernels() {
    let mut compared = 0;
    for case in known_answers().iter().filter(|case| !case.dense && case.items() <= 16) {
        let largest = case.rows.iter().map(|row| row.iter().map(|x| x * x).sum::<f64>()).fold(0.0, f64::max);
        // The limit ε → 0 must be within reach of f64.
        if !(1e-2..1e4).contains(&largest) {
            continue;
        }
        let index: Vec<usize> = (0..case.items()).collect();
        let found = solve(&case.rows, SymmetricGreedy::default());
        assert_eq!(
            found.subset.as_slice(),
            literal(&case.rows, &index, EPSILON, Fault::None),
            "{}",
            case.name
        );
        compared += 1;
    }
    println!("{compared} kernels");
    assert!(compared >= 5);
}

#[test]
fn any_order_is_the_definition_on_rearranged_rows() {
    for rows in zoo(12) {
        let features = features(&rows);
        let dpp = Dpp::new(&features).unwrap();
        let mut sets = Vec::new();
        for seed in 0..4 {
            let solver = SymmetricGreedy::default().with_order(ItemOrder::Shuffled { seed });
            sets.push(solver.solve(&dpp, &Engine::cpu()).unwrap().subset);
        }
        // The documented rule draws the order.
        for (seed, set) in sets.iter().enumerate() {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed as u64);
            let numbers: Vec<u64> = rows.iter().map(|_| rng.random()).collect();
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by_key(|&item| numbers[item]);
            assert_eq!(set.as_slice(), literal(&rows, &order, EPSILON, Fault::None));
        }
    }
}

#[test]
fn a_greedy_basis_last_spans_more() {
    let (mut better, mut gain) = (0, 0.0);
    for seed in 0..20 {
        let rows = gaussian(60, 8, 3.0, seed);
        let by_index = solve(&rows, SymmetricGreedy::default());
        let basis = solve(&rows, SymmetricGreedy::default().with_order(ItemOrder::GreedyBasisLast));
        assert!(by_index.subset.iter().all(|item| item >= 52), "the last eight rows are a basis");
        better += usize::from(basis.log_det > by_index.log_det);
        gain += (basis.log_det - by_index.log_det) / 20.0;
    }
    println!("better in {better} of 20, by {gain:.2} in the mean");
    assert_eq!(better, 20);
}

#[test]
fn at_least_a_third_and_in_expectation_half_of_the_optimum() {
    let (mut worst, mut worst_mean, mut dropped): (f64, f64, usize) = (1.0, 1.0, 0);
    for seed in 0..20 {
        let (rows, optimum) = nonnegative(seed);
        let value = solve(&rows, SymmetricGreedy::default()).log_det;
        assert!(value <= optimum + 1e-9 && value >= optimum / 3.0 - 1e-9, "{value} of {optimum}");
        worst = worst.min(value / optimum);
        let draw = |seed| {
            let solution =
                solve(&rows, SymmetricGreedy::default().with_decision(Decision::Randomised { seed }));
            (solution.log_det, solution.subset.len())
        };
        let draws: Vec<(f64, usize)> = (0..200).map(draw).collect();
        let mean = draws.iter().map(|draw| draw.0).sum::<f64>() / 200.0;
        assert!(draws.iter().all(|draw| draw.0 <= optimum + 1e-9));
        dropped += draws.iter().filter(|draw| draw.1 < 8).count();
        worst_mean = worst_mean.min(mean / optimum);
    }
    println!(
        "worst: {worst:.3} of the optimum, randomised {worst_mean:.3} in the mean; {dropped} sets of 4000 leave items out"
    );
    assert!(worst_mean >= 0.5);
    assert!(dropped > 100, "the coins must matter");
}

/// Two items with one random decision that matters: a = ln 4, b = −ln of the residual of item 0 given item 1.
#[test]
fn coins_fall_as_they_should() {
    // The residual of item 0 given item 1 is 1/4: a = ln 4 and b = ln 4, so the coin is fair. Item 1 then adds
    // ln(1/4) next
    // to item 0 (never kept: b = ln 4), and ln 4 alone (always kept).
    let rows = vec![vec![0.5, (15.0_f64 / 4.0).sqrt()], vec![0.0, 2.0]];
    let features = features(&rows);
    let dpp = Dpp::new(&features).unwrap();
    let mut first = 0;
    for seed in 0..4000 {
        let solver = SymmetricGreedy::default().with_decision(Decision::Randomised { seed });
        let set = solver.solve(&dpp, &Engine::cpu()).unwrap().subset;
        assert_eq!(set.len(), 1);
        first += usize::from(set.contains(0));
    }
    println!("{first} of 4000");
    assert!((1820..2180).contains(&first), "a fair coin: {first} of 4000");
    // The draws of these seeds never change.
    let pinned: Vec<usize> = (0..16)
        .map(|seed| {
            let solver = SymmetricGreedy::default().with_decision(Decision::Randomised { seed });
            solver.solve(&dpp, &Engine::cpu()).unwrap().subset.as_slice()[0]
        })
        .collect();
    assert_eq!(pinned, PINNED);
}

const PINNED: [usize; 16] = [1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1];

#[test]
fn included_and_excluded_items() {
    for (seed, dims) in [(1, 9), (2, 6), (3, 12), (4, 4)] {
        let rows = gaussian(9, dims, 0.5, 50 + seed);
        let features = features(&rows);
        for condition in [
            Condition::new(&[4], &[]),
            Condition::new(&[8, 0], &[]),
            Condition::new(&[], &[8, 7]),
            Condition::new(&[3], &[0, 5]),
            Condition::new(&[1, 2, 3, 4], &[0]),
        ] {
            let dpp = conditioned!(Dpp::new(&features).unwrap(), condition).unwrap();
            let solution = SymmetricGreedy::default().solve(&dpp, &Engine::cpu()).unwrap();
            assert!(condition.allows(solution.subset.as_slice()), "{condition:?} {}", solution.subset);
            // By the definition on f(T ∪ ·).
            let expected = literal_given(&rows, &condition);
            assert_eq!(solution.subset.as_slice(), expected, "{condition:?}, n = {dims}");
        }
    }
    let everything: Vec<usize> = (0..4).collect();
    let features = features(&gaussian(4, 4, 1.0, 5));
    let full = Dpp::new(&features).unwrap().including(&everything).unwrap();
    assert_eq!(
        SymmetricGreedy::default().solve(&full, &Engine::cpu()).unwrap().subset.as_slice(),
        everything
    );
    let nothing = Dpp::new(&features).unwrap().excluding(&everything).unwrap();
    let solution = SymmetricGreedy::default().solve(&nothing, &Engine::cpu()).unwrap();
    assert!(solution.subset.is_empty(), "{}", solution.subset);
    assert_abs_diff_eq!(solution.log_det, 0.0, epsilon = 1e-300);
}

fn literal_given(rows: &[Vec<f64>], condition: &Condition) -> Vec<usize> {
    let f = |set: &[usize]| log_det(rows, &[&condition.included[..], set].concat(), EPSILON);
    let is_free = |item: &usize| !condition.included.contains(item) && !condition.excluded.contains(item);
    let free: Vec<usize> = (0..rows.len()).filter(is_free).collect();
    let (mut x, mut y) = (Vec::new(), free.clone());
    for item in free {
        let more = [&x[..], &[item]].concat();
        let fewer: Vec<usize> = y.iter().copied().filter(|&other| other != item).collect();
        if f(&more) - f(&x) >= f(&fewer) - f(&y) {
            x = more;
        } else {
            y = fewer;
        }
    }
    x.extend(&condition.included);
    x.sort_unstable();
    x
}

#[test]
fn magnitudes_from_tiny_to_huge() {
    let rows = gaussian(10, 6, 1.0, 3);
    let scaled = |scale: f64| -> Vec<Vec<f64>> {
        rows.iter().map(|row| row.iter().map(|x| x * scale).collect()).collect()
    };
    let tiny = solve(&scaled(1e-160), SymmetricGreedy::default());
    assert!(tiny.subset.is_empty());
    // Only ranks matter: the result is the last basis.
    let huge = solve(&scaled(1e150), SymmetricGreedy::default());
    assert_eq!(huge.subset.as_slice(), [4, 5, 6, 7, 8, 9]);
    assert_abs_diff_eq!(
        huge.log_det - log_det(&rows, huge.subset.as_slice(), 0.0),
        12.0 * 1e150_f64.ln(),
        epsilon = 1e-6
    );
    // Rows of mixed magnitude: large ones are kept, small ones are dropped.
    let mut mixed = gaussian(6, 6, 1.0, 4);
    for (at, row) in mixed.iter_mut().enumerate() {
        row.iter_mut().for_each(|x| *x *= if at % 2 == 0 { 1e120 } else { 1e-120 });
    }
    assert_eq!(solve(&mixed, SymmetricGreedy::default()).subset.as_slice(), [0, 2, 4]);
}

/// Nearly dependent rows, whose digits subtraction in f64 would lose.
#[test]
fn nearly_parallel_rows() {
    for exponent in 3..=11 {
        let small = 10.0_f64.powi(-exponent);
        // Items 1 and 2 differ by `small`; item 0 makes the Gram matrix large.
        let rows = vec![vec![3.0, 1.0, 1.0], vec![1.0, 2.0, 0.0], vec![1.0, 2.0, small]];
        let found = solve(&rows, SymmetricGreedy::default());
        // Items 0, 1, 2 in turn: item 0 has a small residual given 1 and 2, and so has item 1 given item 2.
        let volume = |set: &[usize]| Determinants::of_features(rows.clone()).det(set).ln();
        let expected = {
            let (mut x, mut y): (Vec<usize>, Vec<usize>) = (vec![], vec![0, 1, 2]);
            for item in 0..3 {
                let more = [&x[..], &[item]].concat();
                let fewer: Vec<usize> = y.iter().copied().filter(|&other| other != item).collect();
                if volume(&more) - volume(&x) >= volume(&fewer) - volume(&y) { x = more } else { y = fewer }
            }
            x
        };
        assert_eq!(found.subset.as_slice(), expected, "1e-{exponent}");
        assert!(found.subset.len() == 2);
    }
}

#[test]
fn the_same_for_any_number_of_threads_and_type() {
    let values: Vec<f32> = normals(300 * 40, 8).into_iter().map(|x| x as f32 * 0.3).collect();
    let wide: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    for order in [ItemOrder::Index, ItemOrder::GreedyBasisLast, ItemOrder::Shuffled { seed: 3 }] {
        for decision in [Decision::Deterministic, Decision::Randomised { seed: 5 }] {
            let solver = SymmetricGreedy::default().with_order(order).with_decision(decision);
            let run = |threads, features: &Features| {
                with_threads(threads, || solver.solve(&Dpp::new(features).unwrap(), &Engine::cpu()).unwrap())
            };
            let single = run(1, &Features::from_rows(300, 40, &values[..]).unwrap());
            assert_eq!(single, run(2, &Features::from_rows(300, 40, &values[..]).unwrap()));
            assert_eq!(single, run(1, &Features::from_rows(300, 40, &wide[..]).unwrap()));
        }
    }
}

/// a = b = 0 for every item: all are kept, also by random decisions.
#[test]
fn ties_are_kept() {
    let unit = |at: usize| (0..5).map(|j| f64::from(u8::from(j == at))).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = (0..5).map(unit).collect();
    for decision in [Decision::Deterministic, Decision::Randomised { seed: 1 }] {
        let solution = solve(&rows, SymmetricGreedy::default().with_decision(decision));
        assert_eq!(solution.subset.as_slice(), [0, 1, 2, 3, 4]);
    }
}

#[test]
fn dense_kernels() {
    let kernel = Kernel::from_dense(3, &[4.0, 1.0, 0.5, 1.0, 3.0, 0.4, 0.5, 0.4, 0.3]).unwrap();
    let solution =
        SymmetricGreedy::default().solve(&Dpp::new(kernel.features()).unwrap(), &Engine::cpu()).unwrap();
    assert_eq!(solution.subset, Subset::new(vec![0, 1], 3).unwrap());
    assert_abs_diff_eq!(solution.log_det, 11.0_f64.ln(), epsilon = 1e-12);
}
