//! Draws by every bound; `cargo bench --bench many_parts`.
//!
//! Rates are for one thread. The films need `PDPP_DATA`, the directory of their data.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::{path::PathBuf, time::Instant};

use common::{clustered, digits, gaussian, of_parts, rows, singles, threads};
use partition_dpp::{
    Engine, Features, Method, Partition, PartitionDpp, Quota, SamplerOptions, sample::Bound,
};

struct Case {
    name: &'static str,
    wanted: &'static str,
    features: Features,
    partition: Partition,
    each: usize,
}

fn films() -> Option<(Features, Partition)> {
    let folder = PathBuf::from(std::env::var_os("PDPP_DATA")?).join("movielens_small");
    let features = Features::open_npy(folder.join("features.npy")).unwrap();
    let text = std::fs::read_to_string(folder.join("labels.csv")).unwrap();
    // The first genre is the twenty-first field from the end.
    let genres: Vec<&str> = text.lines().skip(1).map(|line| line.rsplit(',').nth(20).unwrap()).collect();
    Some((features, Partition::from_labels(&genres).unwrap()))
}

fn cases() -> Vec<Case> {
    let case = |name, wanted, (features, partition), each| Case { name, wanted, features, partition, each };
    let mut all = vec![
        case(
            "Gaussian, m = 10⁶, 3 × 5",
            "25 000",
            of_parts(rows(singles(gaussian(1_000_000, 64)), 64), 3),
            5,
        ),
        case(
            "Gaussian, m = 10⁶, 3 × 2",
            "200 000",
            of_parts(rows(singles(gaussian(1_000_000, 64)), 64), 3),
            2,
        ),
        case("clustered, m = 10⁴, 3 × 5", "12 000", of_parts(rows(clustered(10_000, 64, 3), 64), 3), 5),
        case("clustered, m = 10⁶, 3 × 5", "8 000", of_parts(rows(clustered(1_000_000, 64, 3), 64), 3), 5),
        case("digits, 10 × 1", "3 000", digits(), 1),
        case("digits, 10 × 2", "", digits(), 2),
        case("clustered, m = 10⁵, 20 × 1", "100", of_parts(rows(clustered(100_000, 64, 20), 64), 20), 1),
        case("Gaussian, m = 3000, 30 × 1", "5", of_parts(rows(gaussian(3000, 64), 64), 30), 1),
    ];
    if let Some(films) = films() {
        all.push(case("films by first genre, 15 × 1", "5 000", films, 1));
    }
    all
}

fn main() {
    let one = threads(1);
    let filter = std::env::args().skip(1).find(|word| !word.starts_with("--"));
    for Case { name, wanted, features, partition, each } in cases() {
        if filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
            continue;
        }
        println!("{name} (wanted: {wanted} /s)");
        let quota = Quota::each(&partition, each).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        for bound in [Bound::Auto].into_iter().chain(Bound::ALL) {
            let options = SamplerOptions::from(Method::Rejection).with_bound(bound);
            let started = Instant::now();
            let sampler = match dpp.sampler(options, &Engine::cpu()) {
                Ok(sampler) => sampler,
                Err(error) => {
                    println!("  {bound:10} {error}");
                    continue;
                }
            };
            let set_up = started.elapsed().as_secs_f64();
            let cost = sampler.bounds()[0];
            if cost.cost() > 1e11 {
                println!("  {bound:10} {:.1e} proposals predicted", cost.proposals);
                continue;
            }
            let started = Instant::now();
            let (mut draws, mut proposals) = (0, 0);
            one.install(|| {
                let mut count = 1;
                while started.elapsed().as_secs_f64() < 1.0 {
                    proposals += sampler.sample_range(draws..draws + count, 7).proposals();
                    draws += count;
                    count = (count * 2).min(1024);
                }
            });
            let seconds = started.elapsed().as_secs_f64();
            println!(
                "  {bound:10} {:10} {:9.0} /s, proposals {:8.2} (predicted {:8.2}), {:7.2} µs each (predicted {:7.2}); set-up {set_up:.2} s",
                sampler.bound().unwrap(),
                f64::from(u32::try_from(draws).unwrap()) / seconds,
                proposals as f64 / draws as f64,
                cost.proposals,
                1e6 * seconds / proposals as f64,
                1e-4 * cost.operations,
            );
        }
    }
}
