//! The paper's eight timing configurations, and inclusion probabilities of a million items;
//! `cargo bench --bench inference`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::hint::black_box;

use common::{paired_ratio, threads, timed};
use partition_dpp::{
    Engine, Features, Method, Partition, PartitionDpp, Quota,
    engine::low_level::{Items, Rows},
};

/// Parts, items per part and quota per part, with n = m.
const CONFIGURATIONS: [(usize, usize, usize); 8] =
    [(2, 15, 3), (2, 15, 5), (2, 24, 5), (2, 24, 10), (3, 10, 2), (3, 10, 5), (3, 16, 5), (4, 6, 1)];

fn main() {
    let two = threads(2);
    two.install(paper_table);
    two.install(million_items);
}

/// Prints the seconds for set-up and one sample by each method.
fn paper_table() {
    println!("seconds, 2 threads       log Z   rejection   shared   per-candidate   per-candidate/shared");
    for (parts, size, quota) in CONFIGURATIONS {
        let items = parts * size;
        let values = common::features(items, items);
        let features = Features::from_rows(items, items, &values).unwrap();
        let labels: Vec<usize> = (0..items).map(|item| item / size).collect();
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = Quota::each(&partition, quota).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let log_z = median(5, || {
            black_box(dpp.log_partition_function(&Engine::cpu()).unwrap());
        });
        let sample = |method| drop(black_box(dpp.sampler(method, &Engine::cpu()).unwrap().sample_many(1, 1)));
        let rejection = median(5, || sample(Method::Rejection));
        // Run in turn, since the machine's speed drifts.
        let before = median(21, || sample(Method::Interpolation));
        let literal = median(1, || sample(Method::PerCandidate));
        let after = median(21, || sample(Method::Interpolation));
        let shared = 0.5 * (before + after);
        let ratio = literal / shared;
        println!(
            "{:24} {log_z:7.4} {rejection:9.4} {shared:8.4} {literal:15.3} {ratio:22.0}",
            format!("{:?}, {:?}", vec![size; parts], quota.low())
        );
    }
}

fn median(runs: usize, body: impl Fn()) -> f64 {
    let mut times: Vec<f64> = (0..runs).map(|_| timed(&body).1).collect();
    times.sort_by(f64::total_cmp);
    times[runs / 2]
}

fn million_items() {
    let (items, dims) = (1_000_000, 64);
    let file = common::feature_file(items, dims);
    let features = Features::open_npy(file.path()).unwrap();
    let partition = Partition::from_labels(&common::labels(items, 2)).unwrap();
    let quota = Quota::each(&partition, 5).unwrap();
    let gram_pass = || {
        let rows = Rows::scaled(&features, vec![Items::All(items)]);
        Engine::cpu().part_grams(&rows, None).unwrap()
    };
    let marginals = || {
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        dpp.inference(&Engine::cpu()).unwrap().inclusion_probabilities().unwrap()
    };
    let small = common::features(4_000, dims);
    let small = Features::from_rows(4_000, dims, &small).unwrap();
    let small_partition = Partition::from_labels(&common::labels(4_000, 2)).unwrap();
    let small_quota = Quota::each(&small_partition, 5).unwrap();
    let node_work = || {
        let dpp = PartitionDpp::new(&small, &small_partition, &small_quota).unwrap();
        dpp.inference(&Engine::cpu()).unwrap().inclusion_probabilities().unwrap()
    };
    paired_ratio(
        "inclusion probabilities / one plain AᵀA pass, m = 10⁶, n = 64",
        "≤ 5",
        marginals,
        gram_pass,
    );
    paired_ratio("of which the nodes (m = 4 000) / one plain AᵀA pass", "", node_work, gram_pass);
}
