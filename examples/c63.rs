//! dev: C63 table
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "example")]
use partition_dpp::*;
use std::time::Instant;
fn main() {
    let kernel = Kernel::open_npy("/work/shared/data/mesp/C63.npy").unwrap();
    let csv = std::fs::read_to_string("/work/shared/data/mesp/best_values_63.csv").unwrap();
    let best: std::collections::HashMap<usize, f64> = csv
        .lines()
        .skip(1)
        .map(|l| {
            let f: Vec<&str> = l.split(',').collect();
            (f[1].parse().unwrap(), f[2].parse().unwrap())
        })
        .collect();
    let args: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let sizes = if args.is_empty() { (2..=62).collect() } else { args };
    let (mut total, mut nodes) = (0.0, 0);
    for s in sizes {
        let model = KDpp::new(kernel.features(), s).unwrap();
        let start = Instant::now();
        let solution = BranchAndBound::default()
            .with_time_limit(std::time::Duration::from_secs(300))
            .solve(&model, &engine::Cpu)
            .unwrap();
        let t = start.elapsed().as_secs_f64();
        total += t;
        nodes += solution.stats.nodes;
        println!(
            "{s} {:.9} diff {:.1e} gap {:.2e} {} nodes {} steps {} {t:.2}s",
            solution.log_det,
            solution.log_det - best[&s],
            solution.gap().unwrap(),
            solution.termination,
            solution.stats.nodes,
            solution.stats.iterations
        );
    }
    println!("total {total:.1} s, {nodes} nodes");
}
