//! Set-up and sampling at up to 10⁶ items; `cargo bench --bench sampling`.
//!
//! Criterion times each case by itself. The table at the end has ratios of runs in turn.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use std::{
    hint::black_box,
    sync::atomic::{AtomicU64, Ordering},
};

use common::{paired_ratio, report_time, threads};
use criterion::Criterion;
use partition_dpp::{
    Engine, Features, KDpp, Method, Partition, PartitionDpp, Quota, Sampler, Samples,
    engine::low_level::{Items, Rows},
};

const DIMS: usize = 64;
const DRAWS: u64 = 400;

/// Memory-mapped features in three parts, with a quota of five items each.
struct Case {
    features: Features,
    partition: Partition,
    quota: Quota,
    _file: tempfile::NamedTempFile,
}

impl Case {
    fn new(items: usize) -> Self {
        let file = common::feature_file(items, DIMS);
        let features = Features::open_npy(file.path()).unwrap();
        let partition = Partition::from_labels(&common::labels(items, 3)).unwrap();
        let quota = Quota::each(&partition, 5).unwrap();
        Self { features, partition, quota, _file: file }
    }

    fn set_up(&self) -> Sampler {
        let dpp = PartitionDpp::new(&self.features, &self.partition, &self.quota).unwrap();
        dpp.sampler(Method::Auto, &Engine::cpu()).unwrap()
    }

    /// Computes one plain AᵀA in f64.
    fn gram_pass(&self) {
        let rows = Rows::scaled(&self.features, vec![Items::All(self.features.items())]);
        black_box(Engine::cpu().part_grams(&rows, None).unwrap());
    }
}

/// Draws sets that differ from call to call.
fn draw(sampler: &Sampler, count: u64) -> Samples {
    static SEED: AtomicU64 = AtomicU64::new(0);
    sampler.sample_many(count, SEED.fetch_add(1, Ordering::Relaxed))
}

fn main() {
    let (one, two) = (threads(1), threads(2));
    let (small, large) = (Case::new(10_000), Case::new(1_000_000));
    let (small_sampler, large_sampler) = (small.set_up(), large.set_up());
    let values = common::features(10_000, 100);
    let k_features = Features::from_rows(10_000, 100, &values).unwrap();
    let k_sampler = KDpp::new(&k_features, 50).unwrap().sampler(Method::Auto, &Engine::cpu()).unwrap();

    let mut c: Criterion = common::criterion();
    c.bench_function("gram_pass/m=1000000,n=64/threads=2", |b| b.iter(|| two.install(|| large.gram_pass())));
    c.bench_function("set_up/m=1000000,n=64,p=3/threads=2", |b| b.iter(|| two.install(|| large.set_up())));
    c.bench_function("draws/400,m=10000,n=64,quota=5,5,5", |b| {
        b.iter(|| one.install(|| draw(&small_sampler, DRAWS)));
    });
    c.bench_function("draws/400,m=1000000,n=64,quota=5,5,5", |b| {
        b.iter(|| one.install(|| draw(&large_sampler, DRAWS)));
    });
    c.bench_function("k_dpp/100,m=10000,n=100,k=50", |b| b.iter(|| one.install(|| draw(&k_sampler, 100))));
    c.final_summary();

    paired_ratio(
        "set-up / one plain AᵀA pass, m = 10⁶, 2 threads",
        "≤ 4",
        || two.install(|| drop(large.set_up())),
        || two.install(|| large.gram_pass()),
    );
    paired_ratio(
        "time per sample, m = 10⁶ / m = 10⁴, 1 thread",
        "≤ 1.6",
        || one.install(|| draw(&large_sampler, DRAWS)),
        || one.install(|| draw(&small_sampler, DRAWS)),
    );
    paired_ratio(
        "sample_many, 1 thread / 2 threads, m = 10⁶",
        "≥ 1.7",
        || one.install(|| draw(&large_sampler, DRAWS)),
        || two.install(|| draw(&large_sampler, DRAWS)),
    );
    report_time("per sample, m = 10⁶, quota (5,5,5), 1 thread", "≥ 1300 /s", DRAWS as f64, || {
        one.install(|| draw(&large_sampler, DRAWS))
    });
    report_time("k-DPP, m = 10⁴, n = 100, k = 50, per sample, 1 thread", "≤ 1.5 ms", 100.0, || {
        one.install(|| draw(&k_sampler, 100))
    });
}
