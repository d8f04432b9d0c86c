//! Weighted draws; `cargo bench --bench estimated`. Rates are for one thread.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::time::Instant;

use common::{clustered, digits, gaussian, of_parts, rows, threads, timed};
use partition_dpp::{
    Engine, Features, Partition, PartitionDpp, Quota, Watch,
    sample::{EstimateOptions, WeightStatistics},
};

struct Case {
    name: &'static str,
    /// Effective draws per second.
    wanted: &'static str,
    features: Features,
    partition: Partition,
    each: std::ops::RangeInclusive<usize>,
}

fn cases() -> Vec<Case> {
    let case = |name, wanted, (features, partition), each| Case { name, wanted, features, partition, each };
    vec![
        case("digits, 10 × 1", "", digits(), 1..=1),
        case("digits, 10 × 2", "2 000", digits(), 2..=2),
        case("digits, 10 × 4", "", digits(), 4..=4),
        case("digits, 10 × 1 to 3", "", digits(), 1..=3),
        case("clustered, n = 64, 20 × 2", "", of_parts(rows(clustered(10_000, 64, 20), 64), 20), 2..=2),
        case(
            "clustered, n = 128, 40 × 2",
            "500",
            of_parts(rows(clustered(100_000, 128, 40), 128), 40),
            2..=2,
        ),
        case("clustered, n = 96, 80 × 1", "", of_parts(rows(clustered(10_000, 96, 80), 96), 80), 1..=1),
        case("Gaussian, n = 64, 30 × 1", "", of_parts(rows(gaussian(3000, 64), 64), 30), 1..=1),
    ]
}

fn main() {
    let one = threads(1);
    let filter = std::env::args().skip(1).find(|word| !word.starts_with("--"));
    for Case { name, wanted, features, partition, each } in cases() {
        if filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
            continue;
        }
        let quota = Quota::each(&partition, each).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        one.install(|| {
            let (sampler, set_up) = timed(|| dpp.importance_sampler(&Engine::cpu()).unwrap());
            let started = Instant::now();
            let mut drawn = sampler.sample_many(0, 0);
            while started.elapsed().as_secs_f64() < 1.0 {
                drawn.extend(sampler.sample_watched(drawn.draws()..drawn.draws() + 64, 0, &Watch::default()));
            }
            let rate = drawn.draws() as f64 / started.elapsed().as_secs_f64();
            let WeightStatistics { log_z, effective_share: share, pareto_k, .. } = drawn.statistics();
            println!(
                "{name}: {rate:.0} draws /s, share {share:.3}, {:.0} effective /s (wanted: {wanted}); \
                 ln Z {:.4} ± {:.4} ≤ {:.2}, k̂ {:.2}, rounding {:.0e}; set-up {set_up:.2} s",
                rate * share,
                log_z.value,
                log_z.standard_error,
                sampler.log_upper_bound(),
                pareto_k.unwrap_or(f64::NAN),
                sampler.rounding(),
            );
            for error in [1e-2, 1e-3, 1e-5] {
                match timed(|| sampler.sampler(error)) {
                    (Ok(sampler), pilot) => {
                        let (drawn, seconds) = timed(|| sampler.sample_many(200, 0));
                        println!(
                            "  law error {error:.0e}: pilot {pilot:.2} s, then {:.0} samples /s, of which {:.2} of draws",
                            200.0 / seconds,
                            drawn.acceptance_observed()
                        );
                    }
                    (Err(error), _) => println!("  {error}"),
                }
            }
            let options = EstimateOptions::default();
            let (found, seconds) = timed(|| sampler.inference(options, &Watch::default()).unwrap());
            let (marginals, passes) = timed(|| found.inclusion_probabilities().unwrap());
            let largest = marginals.standard_error.iter().copied().fold(0.0, f64::max);
            let log_z = found.log_partition_function();
            println!(
                "  inference: ln Z {:.4} ± {:.4} from {} draws in {seconds:.2} s; probabilities ± {largest:.1e} in {passes:.2} s",
                log_z.value,
                log_z.standard_error,
                found.statistics().draws
            );
        });
    }
}
