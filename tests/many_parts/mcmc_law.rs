//! Draws of exchange chains: their law, their agreement with exact draws, their reproducibility, their drift.

use approx::abs_diff_eq;
use oracles::{
    assert_error,
    conditions::Condition,
    enumerable_cases,
    oracle::Determinants,
    random::normals,
    stats::{self, chi_square_p, critical_z},
    with_threads,
};
use partition_dpp::{
    Engine, Features, Method, Partition, PartitionDpp, Quota, SamplerOptions, Subset,
    mcmc::{McmcOptions, OtherSetMoves, Thinning},
};

/// An upper limit on the number of χ² tests in this file.
const CHECKS: f64 = 100.0;

/// Options without moves to other sets.
fn swaps() -> McmcOptions {
    McmcOptions::default().with_other_sets(OtherSetMoves::Never)
}

/// Options that space draws far enough apart to be independent on tiny kernels.
fn apart() -> McmcOptions {
    swaps().with_thin(Thinning::Sweeps(12)).with_blocks(4)
}

fn sets(subsets: &[Subset]) -> impl Iterator<Item = &[usize]> {
    subsets.iter().map(Subset::as_slice)
}

#[test]
fn stationary_law_on_known_answers() {
    let mut worst: (f64, String) = (1.0, String::new());
    for case in enumerable_cases() {
        let features = case.features();
        let partition = Partition::from_labels(&case.labels).unwrap();
        let quota = Quota::new(&partition, &case.quota).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let law = case.oracle().partition_dpp(&case.labels, &case.quota).0;
        let others = McmcOptions::default()
            .with_other_sets(OtherSetMoves::Every(1))
            .with_thin(Thinning::Sweeps(6))
            .with_blocks(2);
        let drawn = dpp.chains(&others, &Engine::cpu()).unwrap().run(5_000, 6);
        let p = chi_square_p(sets(drawn.subsets()), &law);
        assert!(p > stats::ALPHA / CHECKS, "{} with other sets: p = {p:e}", case.name);
        let samples = dpp.chains(&apart(), &Engine::cpu()).unwrap().run(5_000, 5);
        let p = chi_square_p(sets(samples.subsets()), &law);
        let diagnostics = samples.diagnostics().unwrap();
        println!("{}: p = {p:.3}, R̂ {:.4}", case.name, diagnostics.worst_r_hat());
        assert!(p > stats::ALPHA / CHECKS, "{}: p = {p:e}", case.name);
        assert!(diagnostics.worst_r_hat() < 1.01, "{}: {diagnostics:?}", case.name);
        if p < worst.0 {
            worst = (p, case.name);
        }
    }
    println!("smallest p: {} ({})", worst.0, worst.1);
}

#[test]
fn stationary_law_given_items() {
    let rows: Vec<Vec<f64>> = normals(11 * 6, 8).chunks_exact(6).map(<[f64]>::to_vec).collect();
    let labels = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2];
    let features = Features::from_rows(11, 6, rows.concat()).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, [2, 2, 1]).unwrap();
    let (law, _) = Determinants::of_features(rows).partition_dpp(&labels, &[2, 2, 1]);
    for condition in [Condition::new(&[5], &[0]), Condition::new(&[1, 8], &[]), Condition::new(&[], &[2, 6])]
    {
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let dpp = dpp.including(&condition.included).unwrap().excluding(&condition.excluded).unwrap();
        let samples = dpp.chains(&apart(), &Engine::cpu()).unwrap().run(10_000, 6);
        let p = chi_square_p(sets(samples.subsets()), &condition.apply(&law).0);
        assert!(p > stats::ALPHA / CHECKS, "{condition:?}: p = {p:e}");
    }
}

/// Two parts of thirty rows each, every row along one of two axes: exchanges of one item never change the axes of a
/// set.
#[test]
fn blocks_are_accepted_where_single_exchanges_are_confined() {
    let sizes = normals(60, 9);
    let rows: Vec<f64> =
        (0..60).flat_map(|i| if i % 2 == 0 { [sizes[i], 0.0] } else { [0.0, sizes[i]] }).collect();
    let labels: Vec<usize> = (0..60).map(|i| i / 30).collect();
    let features = Features::from_rows(60, 2, rows).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::each(&partition, 1).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let run =
        |options: McmcOptions| dpp.chains(&options.with_chains(8), &Engine::cpu()).unwrap().run(16_000, 7);
    let turned = |subset: &Subset| f64::from(u8::from(subset.as_slice()[0].is_multiple_of(2)));

    let samples = run(swaps());
    let diagnostics = samples.diagnostics().unwrap();
    println!("{:?}, R̂ {:.4}, thin {}", diagnostics.moves, diagnostics.worst_r_hat(), diagnostics.thin);
    let block = diagnostics.moves.iter().find(|count| count.replaced == 2).unwrap();
    assert!(block.acceptance() > 0.25, "{block:?}");
    assert!(diagnostics.worst_r_hat() < 1.01);
    let even =
        |part: usize| -> f64 { (0..30).filter(|i| i % 2 == 0).map(|i| sizes[30 * part + i].powi(2)).sum() };
    let odd =
        |part: usize| -> f64 { (0..30).filter(|i| i % 2 == 1).map(|i| sizes[30 * part + i].powi(2)).sum() };
    let (one, other) = (even(0) * odd(1), odd(0) * even(1));
    let z = stats::z_score(&samples.subsets().iter().map(turned).collect::<Vec<_>>(), one / (one + other));
    // Thinned draws are nearly, not fully, independent.
    assert!(z.abs() < 1.5 * critical_z(1), "{z}");

    // Moves to other sets achieve the same without blocks.
    let samples = run(McmcOptions::default().with_blocks(0));
    let diagnostics = samples.diagnostics().unwrap();
    assert!(diagnostics.other_sets.acceptance() > 0.5, "{:?}", diagnostics.other_sets);
    assert!(diagnostics.worst_r_hat() < 1.01, "{}", diagnostics.worst_r_hat());

    // Without either, chains do not move, and the diagnostics notice it.
    let stuck = run(swaps().with_blocks(0));
    let diagnostics = stuck.diagnostics().unwrap();
    assert!(diagnostics.worst_r_hat() > 1.5, "{}", diagnostics.worst_r_hat());
    assert!(diagnostics.fewest_effective_draws() < 100.0, "{}", diagnostics.fewest_effective_draws());
}

/// Three parts that can only change axes together: blocks of three must be proposed.
#[test]
fn blocks_of_three_are_drawn() {
    let rows = [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0],
    ];
    let features = Features::from_rows(6, 3, rows.concat()).unwrap();
    let partition = Partition::from_labels(&[0, 0, 1, 1, 2, 2]).unwrap();
    let quota = Quota::each(&partition, 1).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let samples = dpp.chains(&apart(), &Engine::cpu()).unwrap().run(4_000, 17);
    let first = samples.subsets().iter().filter(|subset| subset.as_slice() == [0, 2, 4]).count();
    assert!(
        samples
            .subsets()
            .iter()
            .all(|subset| [[0, 2, 4], [1, 3, 5]].contains(&[0, 1, 2].map(|i| subset.as_slice()[i])))
    );
    assert!((1_700..2_300).contains(&first), "{first}");
}

/// Part l has rows along axes l and l + 1, and the last part along axis 0 only, so every part must take its second
/// axis.
///
/// Picks that fill one part block the next, and only augmenting paths lead to a start.
#[test]
fn starts_where_parts_bar_each_other() {
    let parts = 6;
    let axis = |at: usize, size: f64| (0..parts).map(move |j| if j == at { size } else { 0.0 });
    let rows: Vec<f64> = (0..parts)
        .flat_map(|l| {
            let second = if l + 1 < parts { l + 1 } else { 0 };
            let first = if l + 1 < parts { l } else { 0 };
            axis(first, 3.0).chain(axis(second, 1.0)).chain(axis(second, 2.0)).collect::<Vec<_>>()
        })
        .collect();
    let features = Features::from_rows(3 * parts, parts, rows).unwrap();
    let partition = Partition::from_labels(&(0..3 * parts).map(|i| i / 3).collect::<Vec<_>>()).unwrap();
    let quota = Quota::each(&partition, 1).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let samples = dpp.chains(&apart().with_burn_in(0), &Engine::cpu()).unwrap().run(4_000, 16);
    for subset in samples.subsets() {
        assert!(subset.iter().all(|item| item % 3 > 0 || item / 3 + 1 == parts), "{subset}");
    }
    // Squared sizes 1 and 4, independently in every part.
    let larger = |subset: &Subset| f64::from(u8::from(subset.contains(2)));
    let z = stats::z_score(&samples.subsets().iter().map(larger).collect::<Vec<_>>(), 0.8);
    assert!(z.abs() < 1.5 * critical_z(1), "{z}");
}

/// Ten parts: beyond enumeration, within reach of tilted rejection.
#[test]
fn agrees_with_exact_draws_at_ten_parts() {
    let (items, dims, exact_draws, draws) = (120, 14, 2_000_u64, 8_000_u64);
    let rows: Vec<Vec<f64>> = normals(items * dims, 10).chunks_exact(dims).map(<[f64]>::to_vec).collect();
    let labels: Vec<usize> = (0..items).map(|i| i % 10).collect();
    let features = Features::from_rows(items, dims, rows.concat()).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::each(&partition, 1).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let exact = dpp.sampler(Method::Rejection, &Engine::cpu()).unwrap().sample_many(exact_draws, 11);
    let options = McmcOptions::default().with_thin(Thinning::Sweeps(6));
    let chains = dpp.chains(&options, &Engine::cpu()).unwrap().run(draws, 12);
    println!("tilted rejection accepted {:.1e}", exact.acceptance_observed());

    let oracle = Determinants::of_features(rows);
    let log_dets = |subsets: &[Subset]| -> Vec<f64> {
        let mut values: Vec<f64> = sets(subsets).map(|set| oracle.det(set).ln()).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (x, y) = (log_dets(exact.subsets()), log_dets(chains.subsets()));
    // The two-sample Kolmogorov–Smirnov test.
    let below = |sorted: &[f64], at: f64| sorted.partition_point(|&v| v <= at) as f64 / sorted.len() as f64;
    let distance = x.iter().chain(&y).map(|&at| (below(&x, at) - below(&y, at)).abs()).fold(0.0, f64::max);
    let size = x.len() as f64 * y.len() as f64 / (x.len() + y.len()) as f64;
    let critical = (-0.5 * (0.5 * stats::ALPHA).ln() / size).sqrt();
    println!("log det: distance {distance:.4}, critical {critical:.4}");
    assert!(distance < critical);

    let counts = |subsets: &[Subset]| -> Vec<f64> {
        let mut counts = vec![0.0; items];
        subsets.iter().flat_map(Subset::iter).for_each(|item| counts[item] += 1.0);
        counts
    };
    let (x, y) = (counts(exact.subsets()), counts(chains.subsets()));
    let (a, b) = (exact_draws as f64, draws as f64);
    for item in 0..items {
        let p = (x[item] + y[item]) / (a + b);
        let z = (x[item] / a - y[item] / b) / (p * (1.0 - p) * (1.0 / a + 1.0 / b)).sqrt();
        assert!(z.abs() < critical_z(items), "item {item}: {} {}, z = {z}", x[item] / a, y[item] / b);
    }
}

/// Sixteen parts of small kernels.
fn sixteen() -> (Features, Partition) {
    let features = Features::from_rows(320, 24, normals(320 * 24, 13)).unwrap();
    (features, Partition::from_labels(&(0..320).map(|i| i % 16).collect::<Vec<_>>()).unwrap())
}

#[test]
fn the_same_for_any_number_of_threads_and_instalments() {
    let (features, partition) = sixteen();
    let quota = Quota::each(&partition, 1).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let chains = dpp.chains(&McmcOptions::default().with_chains(3), &Engine::cpu()).unwrap();
    let one = with_threads(1, || chains.run(101, 1));
    let four = with_threads(4, || chains.run(101, 1));
    assert_eq!(one.subsets(), four.subsets());
    assert_eq!(one.diagnostics().unwrap(), four.diagnostics().unwrap());
    let mut run = chains.start(1);
    [1, 0, 49, 30, 21].into_iter().for_each(|count| run.extend(count));
    assert_eq!(run.into_samples().subsets(), one.subsets());
    assert_eq!(chains.run(50, 1).subsets(), &one.subsets()[..50]);
    assert_ne!(chains.run(50, 2).subsets(), &one.subsets()[..50]);
    assert!(one.subsets().iter().all(|subset| subset.part_counts(&partition) == [1; 16]));
}

#[test]
fn chains_are_never_taken_for_a_sampler() {
    let (features, _) = sixteen();
    // Chains are never chosen silently: if nothing exact is within reach, the answer is an error.
    let partition = Partition::from_labels(&(0..320).map(|i| i % 20).collect::<Vec<_>>()).unwrap();
    let quota = Quota::each(&partition, 1).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    assert_error!(
        dpp.sampler(SamplerOptions::default().with_proposal_budget(1.0), &Engine::cpu()).map(|_| ()),
        partition_dpp::Error::ProposalBudget { .. },
        ["proposals"]
    );
}

#[test]
fn updates_do_not_drift() {
    let (items, dims) = (400, 40);
    let rows: Vec<Vec<f64>> = normals(items * dims, 14).chunks_exact(dims).map(<[f64]>::to_vec).collect();
    let features = Features::from_rows(items, dims, rows.concat()).unwrap();
    let partition = Partition::from_labels(&(0..items).map(|i| i % 8).collect::<Vec<_>>()).unwrap();
    // The second quota has as many items as there are dimensions, which gives the worst conditioned sets.
    for (each, tolerance) in [(2, 1e-10), (5, 1e-6)] {
        let quota = Quota::each(&partition, each).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let options = McmcOptions::default().with_thin(Thinning::Sweeps(50)).with_chains(2);
        let samples = dpp.chains(&options, &Engine::cpu()).unwrap().run(40, 15);
        let diagnostics = samples.diagnostics().unwrap();
        println!(
            "{each} of each part: drift {:e}, {} times anew",
            diagnostics.drift, diagnostics.refactorisations
        );
        assert!(diagnostics.drift < tolerance, "{}", diagnostics.drift);
        let oracle = Determinants::of_features(rows.clone());
        for (draw, subset) in samples.subsets().iter().enumerate() {
            let (expected, found) =
                (oracle.det(subset.as_slice()).ln(), samples.log_dets(draw % 2)[draw / 2]);
            assert!(abs_diff_eq!(found, expected, epsilon = tolerance), "draw {draw}: {found} {expected}");
        }
    }
}
