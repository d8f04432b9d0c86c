//! dev: synthetic
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "example")]
use partition_dpp::*;
use rand::{RngExt, SeedableRng};
use std::time::Instant;
fn main() {
    let args: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (m, n, k, seeds) = (args[0], args[1], args[2], args[3] as u64);
    let parts = args.get(4).copied().unwrap_or(1);
    for seed in 0..seeds {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let values: Vec<f64> = (0..m * n).map(|_| 5.0 * rng.random::<f64>()).collect();
        let features = Features::from_rows(m, n, values).unwrap();
        let start = Instant::now();
        let solver = BranchAndBound::default().with_time_limit(std::time::Duration::from_secs(60));
        let solution = if k == 0 {
            solver.solve(&Dpp::new(&features).unwrap(), &engine::Cpu)
        } else if parts > 1 {
            let labels: Vec<usize> = (0..m).map(|i| i % parts).collect();
            let partition = Partition::from_labels(&labels).unwrap();
            let quota = Quota::each(&partition, k / parts).unwrap();
            solver.solve(&PartitionDpp::new(&features, &partition, &quota).unwrap(), &engine::Cpu)
        } else {
            solver.solve(&KDpp::new(&features, k).unwrap(), &engine::Cpu)
        }
        .unwrap();
        println!(
            "{seed} {} {:.9} gap {:.2e} {} nodes {} steps {} {:.2}s",
            solution.subset,
            solution.log_det,
            solution.gap().unwrap(),
            solution.termination,
            solution.stats.nodes,
            solution.stats.iterations,
            start.elapsed().as_secs_f64()
        );
    }
}
