//! Measurements on large synthetic data. Run by name, with `--ignored --nocapture`.

use std::time::Instant;

use partition_dpp::{
    Engine, Features, Partition, Quota,
    engine::low_level::{Items, Rows},
    map::{Greedy, KernelModel, Solver},
    similarity::{Bandwidth, Rbf, RbfKernel},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Reads a number from the environment, with a default.
fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Returns the computing seconds of all threads, if the system reports them. Other work on the machine barely changes
/// them.
fn spent() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The times of a piece of work.
struct Timer(Instant, f64);

impl Timer {
    fn start() -> Self {
        Self(Instant::now(), spent())
    }

    /// Returns the seconds of computing, and a text.
    fn stop(&self) -> (f64, String) {
        let (took, worked) = (self.0.elapsed().as_secs_f64(), spent() - self.1);
        (worked, format!("{took:.1} s, {worked:.1} s of computing"))
    }
}

/// Returns items around 400 centres, f32.
fn clusters(items: usize, dims: usize) -> Features {
    let mut rng = StdRng::seed_from_u64(1);
    let mut noise = || (0..3).map(|_| rng.random::<f32>() - 0.5).sum::<f32>() * 2.0;
    let centres: Vec<f32> = (0..400 * dims).map(|_| noise()).collect();
    let mut values = Vec::with_capacity(items * dims);
    for item in 0..items {
        let centre = item * 7919 % 400;
        values.extend(centres[centre * dims..(centre + 1) * dims].iter().map(|x| x + 0.6 * noise()));
    }
    Features::from_rows(items, dims, values).unwrap()
}

/// 500 000 × 384 in f32, with 20 items from each of 40 parts: 800 items.
#[test]
#[ignore = "takes minutes, and 2.4 GB"]
fn many_items_of_many_parts() {
    let (items, dims) = (number("ITEMS", 500_000), number("DIMS", 384));
    let given = clusters(items, dims);
    let labels: Vec<usize> = (0..items).map(|item| item * 31 / 7 % 40).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, vec![number("EACH", 20); 40]).unwrap();
    let timer = Timer::start();
    let kernel = RbfKernel::new(&given, Bandwidth::Median).unwrap();
    let model = KernelModel::new(&kernel, &partition, &quota).unwrap();
    println!("set-up {}, {kernel:?}", timer.stop().1);
    let timer = Timer::start();
    let found = Greedy::default().solve(&model, &Engine::cpu()).unwrap();
    println!("greedy {}: {} items, ln det {}", timer.stop().1, found.subset.len(), found.log_det);
    assert_eq!(found.subset.part_counts(&partition), vec![number("EACH", 20); 40]);
}

/// Features of m = 2·10⁵ items, n = 64, R = 512, and their Gram matrix.
#[test]
#[ignore = "takes a minute"]
fn features_of_many_items() {
    let (items, dims, landmarks) = (number("ITEMS", 200_000), number("DIMS", 64), number("LANDMARKS", 512));
    let given = clusters(items, dims);
    let timer = Timer::start();
    let found = Rbf::default().with_landmarks(landmarks).features(&given, &Engine::cpu()).unwrap();
    let (took, words) = timer.stop();
    let operations = items as f64 * landmarks as f64 * (2.0 * dims as f64 + landmarks as f64);
    let rate = operations / took * 1e-9;
    println!("features {words}, {rate:.1} GFlop/s a core, kernel error {:.4}", found.kernel_error());
    let timer = Timer::start();
    let rows = Rows::scaled(found.features(), vec![Items::All(items)]);
    Engine::cpu().part_grams(&rows, None).unwrap();
    let (took, words) = timer.stop();
    let rate = items as f64 * (landmarks as f64).powi(2) / took * 1e-9;
    println!("Gram matrix {words}, {rate:.1} GFlop/s a core");
}
