//! Split-R̂, effective draws and autocorrelation times on series whose answers are known.

use approx::assert_abs_diff_eq;
use oracles::{assert_error, random::normals};
use partition_dpp::{
    Engine, Error, Features, Partition, PartitionDpp, Quota,
    error::EstimateProblem,
    mcmc::{Convergence, McmcOptions, Thinning},
};

const CHAINS: usize = 4;

fn independent(draws: usize, seed: u64) -> Vec<Vec<f64>> {
    normals(CHAINS * draws, seed).chunks_exact(draws).map(<[f64]>::to_vec).collect()
}

/// Returns x_t = φ x_{t−1} + noise, started in its stationary law: τ = (1 + φ)/(1 − φ).
fn autoregressive(phi: f64, draws: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut chains = independent(draws, seed);
    for chain in &mut chains {
        for t in 1..draws {
            chain[t] = phi * chain[t - 1] + (1.0 - phi * phi).sqrt() * chain[t];
        }
    }
    chains
}

#[test]
fn independent_draws_all_count() {
    for draws in [500, 5_000, 50_001] {
        let found = Convergence::of(&independent(draws, 1)).unwrap();
        println!("{draws}: {found:?}");
        let all = (CHAINS * draws) as f64;
        assert!((found.r_hat - 1.0).abs() < 5.0 / all.sqrt(), "{}", found.r_hat);
        assert!(
            (found.effective_draws / all - 1.0).abs() < 8.0 / (draws as f64).sqrt(),
            "{}",
            found.effective_draws
        );
        assert!((found.standard_error * all.sqrt() - 1.0).abs() < 0.2);
        assert!(found.mean.abs() < 5.0 * found.standard_error);
    }
}

#[test]
fn autocorrelation_times_of_autoregressive_series() {
    // 0.99 needs more lags than are summed directly; −0.5 carries more information than independent draws.
    for (phi, draws, tolerance) in
        [(0.5, 20_000, 0.05), (0.9, 50_000, 0.1), (0.99, 200_000, 0.15), (-0.5, 20_000, 0.05)]
    {
        let found = Convergence::of(&autoregressive(phi, draws, 2)).unwrap();
        let expected = (1.0 + phi) / (1.0 - phi);
        println!("φ = {phi}: τ = {}, expected {expected}; R̂ {}", found.autocorrelation_time, found.r_hat);
        assert!((found.autocorrelation_time / expected - 1.0).abs() < tolerance, "{found:?}");
        assert_abs_diff_eq!(
            found.effective_draws * found.autocorrelation_time / (CHAINS * draws) as f64,
            1.0,
            epsilon = 1e-12
        );
        assert!(found.r_hat < 1.01);
    }
}

#[test]
fn chains_apart_are_seen() {
    let mut chains = independent(1_000, 3);
    chains[2].iter_mut().for_each(|x| *x += 3.0);
    let found = Convergence::of(&chains).unwrap();
    assert!(found.r_hat > 1.3, "{found:?}");
    assert!(found.effective_draws < 40.0, "{found:?}");
    // A single chain that drifts: its halves disagree.
    let drifting: Vec<f64> =
        normals(1_000, 4).iter().enumerate().map(|(t, x)| x + 0.004 * t as f64).collect();
    let found = Convergence::of(&[drifting]).unwrap();
    assert!(found.r_hat > 1.2, "{found:?}");
    // Chains stuck at different values: no variance within, all of it between.
    let stuck = Convergence::of(&[[0.0; 20], [1.0; 20]]).unwrap();
    assert!(stuck.r_hat.is_infinite(), "{stuck:?}");
    assert!(stuck.effective_draws < 4.0, "{stuck:?}");
}

#[test]
fn a_constant_is_known_at_once() {
    let found = Convergence::of(&[[2.5; 40], [2.5; 40]]).unwrap();
    assert_eq!((found.r_hat, found.effective_draws, found.mean), (1.0, 80.0, 2.5));
    // Rounding errors are not variance.
    let rounded: Vec<f64> = (0..40).map(|t| 2.5 + 1e-14 * f64::from(t)).collect();
    assert_abs_diff_eq!(Convergence::of(&[rounded]).unwrap().r_hat, 1.0, epsilon = 1e-15);
}

#[test]
fn too_few_draws_are_refused() {
    let few = [vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], vec![0.0; 100]];
    assert_error!(
        Convergence::of(&few),
        Error::Estimate(EstimateProblem::TooFewDraws { draws: 7, needed: 8 }),
        ["7 draws"]
    );
    let none: [Vec<f64>; 0] = [];
    assert_error!(Convergence::of(&none), Error::Empty { .. }, ["chains"]);
    assert!(Convergence::of(&[[1.0, 2.0, 0.0, 4.0, 1.0, 3.0, 2.0, 2.0]]).is_ok());
}

fn with_chains<T>(
    options: McmcOptions,
    body: impl FnOnce(partition_dpp::mcmc::Chains, &Partition) -> T,
) -> T {
    let features = Features::from_rows(240, 20, normals(240 * 20, 5)).unwrap();
    let partition = Partition::from_labels(&(0..240).map(|i| i % 6).collect::<Vec<_>>()).unwrap();
    let quota = Quota::each(&partition, 2).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    body(dpp.chains(&options, &Engine::cpu()).unwrap(), &partition)
}

#[test]
fn a_run_reports_all_of_it() {
    with_chains(McmcOptions::default(), |chains, partition| {
        let samples = chains.run(2_000, 6);
        let found = samples.diagnostics().unwrap();
        println!("{found:?}");
        assert_eq!(samples.chains(), 4);
        assert_eq!(
            found.parts.iter().map(|part| part.part).collect::<Vec<_>>(),
            (0..partition.parts()).collect::<Vec<_>>()
        );
        assert!(found.worst_r_hat() < 1.02);
        assert!(found.fewest_effective_draws() > 1_000.0);
        // A sweep is a move for each of twelve items and two blocks.
        let moves: u64 = found.moves.iter().map(|count| count.proposed).sum();
        let sweeps = 4 * (100 + 256) + 2_000 * found.thin as u64;
        assert_eq!(moves, 14 * sweeps);
        assert_eq!(found.moves[0].proposed, 12 * sweeps);
        assert!(found.moves.iter().all(|count| count.accepted <= count.proposed));
        assert!(found.moves[0].acceptance() > 0.5);
        let own = Convergence::of(&(0..4).map(|chain| samples.log_dets(chain)).collect::<Vec<_>>()).unwrap();
        assert_eq!(own, found.log_det);
        assert_error!(
            chains.run(31, 6).diagnostics(),
            Error::Estimate(EstimateProblem::TooFewDraws { draws: 7, .. }),
            ["7 draws"]
        );
    });
}

/// Draws thinned by the autocorrelation time are nearly independent; draws from every sweep are less so.
#[test]
fn thinning_by_autocorrelation() {
    let time = |thinning| {
        with_chains(McmcOptions::default().with_thin(thinning), |chains, _| {
            let samples = chains.run(8_000, 7);
            let found = samples.diagnostics().unwrap();
            println!("thin {}: τ = {}", samples.thin(), found.longest_autocorrelation_time());
            (samples.thin(), found.longest_autocorrelation_time())
        })
    };
    let (_, every) = time(Thinning::Sweeps(1));
    let (thin, thinned) = time(Thinning::Automatic);
    assert_eq!(time(Thinning::Sweeps(9)).0, 9);
    assert!((thin as f64) < 3.0 * every + 1.0 && thin as f64 > every / 3.0, "{thin} {every}");
    assert!(thinned < 2.0, "{thinned}");
}
