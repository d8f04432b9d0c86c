#![allow(clippy::all, clippy::pedantic, clippy::unwrap_used, clippy::print_stdout, missing_docs)]
use partition_dpp::{KDpp, Kernel, LocalSearch, Restarts, engine::Cpu};
fn main() {
    let kernel = Kernel::open_npy("/work/shared/data/mesp/C63.npy").unwrap();
    let text = std::fs::read_to_string("/work/shared/data/mesp/best_values_63.csv").unwrap();
    let rows: Vec<(usize, f64)> = text
        .lines()
        .skip(1)
        .map(|l| {
            let f: Vec<&str> = l.split(',').collect();
            (f[1].parse().unwrap(), f[2].parse().unwrap())
        })
        .collect();
    for (count, seeds) in [(5, 20), (10, 20), (20, 20), (40, 10)] {
        let mut missed = vec![];
        let t = std::time::Instant::now();
        for seed in 0..seeds {
            for &(s, best) in &rows {
                let k = KDpp::new(kernel.features(), s).unwrap();
                let r = LocalSearch::default()
                    .with_restarts(Restarts::Count(count))
                    .with_seed(seed)
                    .solve(&k, &Cpu)
                    .unwrap();
                if r.log_det < best - 1e-6 {
                    missed.push((seed, s));
                }
            }
        }
        println!(
            "{count} restarts: missed {missed:?} of {seeds} seeds, {:.2} s a seed",
            t.elapsed().as_secs_f64() / seeds as f64
        );
    }
}
