//! Set-up and sampling at up to 10⁶ items; `cargo bench --bench sampling`.
//!
//! The table at the end gives ratios of medians within this run.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::{hint::black_box, time::Duration};

use common::{report_milliseconds, report_rate, report_ratio, threads};
use criterion::Criterion;
use partition_dpp::{
    Features, KDpp, Method, Partition, PartitionDpp, Quota,
    engine::{Cpu, Engine, Items, Rows},
};

const DIMS: usize = 64;
const DRAWS: u64 = 400;

fn partition_dpp(c: &mut Criterion, items: usize) {
    let file = common::feature_file(items, DIMS);
    let labels = common::labels(items, 3);
    let features = Features::open_npy(file.path()).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::each(&partition, 5).unwrap();
    let mut group = c.benchmark_group(format!("partition_dpp/m={items},n=64,quota=5,5,5"));
    group.measurement_time(Duration::from_secs(10));
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    if items == 1_000_000 {
        let two = threads(2);
        let gram_pass = || Cpu.part_grams(&Rows::scaled(&features, vec![Items::All(items)]), None).unwrap();
        let set_up = || {
            let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
            drop(black_box(dpp.sampler(Method::Auto, &Cpu).unwrap()));
        };
        group.bench_function("gram_pass", |b| b.iter(|| two.install(gram_pass)));
        group.bench_function("set_up", |b| b.iter(|| two.install(set_up)));
    }
    let sampler = dpp.sampler(Method::Auto, &Cpu).unwrap();
    let mut seed = 0;
    for count in [1, 2] {
        let pool = threads(count);
        group.bench_function(format!("draws/threads={count}"), |b| {
            b.iter(|| {
                seed += 1;
                pool.install(|| sampler.sample_many(DRAWS, seed))
            });
        });
    }
    group.finish();
}

fn k_dpp(c: &mut Criterion) {
    let (items, dims, k) = (10_000, 100, 50);
    let values = common::features(items, dims);
    let features = Features::from_rows(items, dims, &values).unwrap();
    let k_dpp = KDpp::new(&features, k).unwrap();
    let sampler = k_dpp.sampler(&Cpu).unwrap();
    let mut seed = 0;
    let one = threads(1);
    c.bench_function("k_dpp/m=10000,n=100,k=50/draws", |b| {
        b.iter(|| {
            seed += 1;
            one.install(|| sampler.sample_many(100, seed))
        });
    });
}

fn main() {
    let mut criterion = common::criterion();
    k_dpp(&mut criterion);
    partition_dpp(&mut criterion, 10_000);
    partition_dpp(&mut criterion, 1_000_000);
    criterion.final_summary();

    let large = "partition_dpp/m=1000000,n=64,quota=5,5,5";
    let small = "partition_dpp/m=10000,n=64,quota=5,5,5";
    let id = |group: &str, what: &str| format!("{}/{}", group.replace('/', "_"), what.replace('/', "_"));
    report_ratio(
        "set-up / one plain AᵀA pass, m = 10⁶, 2 threads",
        &id(large, "set_up"),
        &id(large, "gram_pass"),
        "≤ 4",
    );
    report_ratio(
        "time per sample, m = 10⁶ / m = 10⁴, 1 thread",
        &id(large, "draws/threads=1"),
        &id(small, "draws/threads=1"),
        "≤ 1.6",
    );
    report_rate(
        "samples per second, m = 10⁶, 1 thread",
        &id(large, "draws/threads=1"),
        DRAWS as f64,
        "≥ 1300",
    );
    report_ratio(
        "sample_many, 1 thread / 2 threads, m = 10⁶",
        &id(large, "draws/threads=1"),
        &id(large, "draws/threads=2"),
        "≥ 1.7",
    );
    report_milliseconds(
        "k-DPP, m = 10⁴, n = 100, k = 50, per sample, 1 thread",
        "k_dpp_m=10000,n=100,k=50_draws",
        100.0,
        "≤ 1.5",
    );
}
