//! Sets of any size on the synthetic data of Kathuria and Deshpande (2016): the size that each method chooses, ln det
//! of
//! its set, and ln det of the greedy set of the same size.
//!
//! `cargo run --release --example unconstrained -- [seeds]`

use std::time::Instant;

use partition_dpp::{
    Dpp, Engine, Features, KDpp, Result,
    map::{Decision, Greedy, ItemOrder, Softmax, Solution, Solver, SymmetricGreedy},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A matrix of items × dims values in [0, largest).
struct Regime {
    items: usize,
    dims: usize,
    largest: f64,
}

const REGIMES: [Regime; 2] =
    [Regime { items: 50, dims: 40, largest: 5.0 }, Regime { items: 200, dims: 200, largest: 1.0 }];

type Method = (&'static str, fn(&Dpp, u64) -> Result<Solution>);

const METHODS: [Method; 7] = [
    ("greedy", |dpp, _| Greedy::default().solve(dpp, &Engine::cpu())),
    ("symmetric greedy", |dpp, _| symmetric(dpp, ItemOrder::Index, Decision::Deterministic)),
    ("  randomised", |dpp, seed| symmetric(dpp, ItemOrder::Index, Decision::Randomised { seed })),
    ("  shuffled", |dpp, seed| symmetric(dpp, ItemOrder::Shuffled { seed }, Decision::Deterministic)),
    ("  basis last", |dpp, _| symmetric(dpp, ItemOrder::GreedyBasisLast, Decision::Deterministic)),
    ("  basis last, randomised", |dpp, seed| {
        symmetric(dpp, ItemOrder::GreedyBasisLast, Decision::Randomised { seed })
    }),
    ("softmax", |dpp, _| Softmax::default().solve(dpp, &Engine::cpu())),
];

fn symmetric(dpp: &Dpp, order: ItemOrder, decision: Decision) -> Result<Solution> {
    SymmetricGreedy::default().with_order(order).with_decision(decision).solve(dpp, &Engine::cpu())
}

#[expect(clippy::print_stdout, reason = "an example reports to the terminal")]
fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let seeds = std::env::args().nth(1).map(|count| count.parse::<u64>()).transpose()?.unwrap_or(20);
    for Regime { items, dims, largest } in REGIMES {
        println!("{items}×{dims}, {largest}·U(0,1), means over {seeds} seeds");
        println!(
            "{:<26}{:>6}{:>6}{:>6}{:>11}{:>17}{:>9}",
            "", "k", "min", "max", "ln det", "greedy at its k", "ms"
        );
        for (name, method) in METHODS {
            let (mut sizes, mut log_dets, mut greedy, mut seconds) = (Vec::new(), 0.0, 0.0, 0.0);
            for seed in 0..seeds {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let values: Vec<f64> = (0..items * dims).map(|_| largest * rng.random::<f64>()).collect();
                let features = Features::from_rows(items, dims, values)?;
                let start = Instant::now();
                let solution = method(&Dpp::new(&features)?, seed)?;
                seconds += start.elapsed().as_secs_f64();
                sizes.push(solution.subset.len());
                log_dets += solution.log_det;
                greedy += Greedy::default()
                    .solve(&KDpp::new(&features, solution.subset.len())?, &Engine::cpu())?
                    .log_det;
            }
            let count = seeds as f64;
            let mean = sizes.iter().sum::<usize>() as f64 / count;
            let (least, most) = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
            let (log_det, greedy, ms) = (log_dets / count, greedy / count, 1e3 * seconds / count);
            println!("{name:<26}{mean:>6.1}{least:>6}{most:>6}{log_det:>11.3}{greedy:>17.3}{ms:>9.2}");
        }
        println!();
    }
    Ok(())
}
