//! Made-up CPUs and GPUs, and crossovers from hand calculations.

use super::{
    GpuRates, Job, Rates, Task,
    job::On,
    rates::{Compared, Time},
};
use crate::Engine;

const TASKS: [Task; 8] = [
    Task::Passes(16),
    Task::SetUp,
    Task::Normaliser,
    Task::Inference,
    Task::Interpolation(3),
    Task::Greedy,
    Task::LocalSearch(2),
    Task::Slates { requests: 20_000, candidates: 200 },
];

/// A workstation with sixteen cores.
const CPU: Rates = Rates { read: 4e10, multiply: 8e11, eliminate: [1.6e11; 2], gpu: None };
/// A workstation GPU, in f64.
const GPU: Rates = Rates {
    read: 8e11,
    multiply: 2e12,
    eliminate: [4e11; 2],
    gpu: Some(GpuRates { upload: 2e10, latency: 5e-5, opening: 0.3 }),
};

/// The smallest number of rows at which the GPU is faster.
fn crossover(job: impl Fn(usize) -> Job, cpu: &Rates, gpu: &Rates) -> usize {
    let prefers = |items: usize| gpu.time_of(&job(items)).seconds() < cpu.time_of(&job(items)).seconds();
    let (mut low, mut high) = (1, 1_000_000_000);
    assert!(!prefers(low) && prefers(high), "no crossover");
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        *(if prefers(middle) { &mut high } else { &mut low }) = middle;
    }
    high
}

#[test]
fn passes_cross_over_where_a_hand_calculation_says() {
    // Rows of 64 values in f32 are 256 bytes, with two numbers of 8 bytes. The CPU reads 16 · 272 bytes at 40 GB/s:
    // 108.8 ns per row. The GPU uploads 256 bytes at 20 GB/s, 12.8 ns, and reads as many bytes as the CPU at 800
    // GB/s, 5.44 ns. It opens in 0.3 s and waits 3 times for 50 µs. m = 0.30015 s / (108.8 − 12.8 − 5.44) ns = 3.3144
    // million.
    let job = |items| Job::of_size(items, 64, 4, Task::Passes(16));
    let found = crossover(job, &CPU, &GPU) as f64;
    assert!((found / 3.3144e6 - 1.0).abs() < 1e-4, "{found}");
}

#[test]
fn set_up_crosses_over_where_a_hand_calculation_says() {
    // A Gram matrix and leverages take 2 · 2 · 256² = 262,144 operations per row: 327.68 ns at 800 G/s, 131.072 ns at
    // 2 T/s. The GPU also uploads 1024 bytes, 51.2 ns. m = 0.3001 s / (327.68 − 131.072 − 51.2) ns = 2.0639 million.
    let job = |items| Job::of_size(items, 256, 4, Task::SetUp);
    let found = crossover(job, &CPU, &GPU) as f64;
    assert!((found / 2.0639e6 - 1.0).abs() < 1e-4, "{found}");
}

#[test]
fn weights_cross_over_where_a_hand_calculation_says() {
    // A draw of 4 picks from 10⁵ rows of 64 values weighs the rows 4 times, with 2 · 64² operations each: 3.2768 G,
    // 4.096 ms at 800 G/s and 1.6384 ms at 2 T/s. The GPU waits 5 times for 50 µs, and sends 3.2 MB at 20 GB/s, 0.16 ms.
    // The set-up takes 1.6384 G operations, 2.048 ms and 0.8192 ms, and ⌈0.325 · 34⌉ = 12 inverses of 8 · 64³, 157 µs
    // and 63 µs. The GPU opens in 0.3 s, receives 25.6 MB in 1.28 ms, sends 786 KB in 39 µs, and waits 4 times.
    // d = (300 + 1.28 + 0.2 + 0.039 − 2.205 + 0.882) ms / (4.096 − 1.6384 − 0.25 − 0.16) ms = 146.6.
    let job = |draws| Job::of_size(100_000, 64, 4, Task::Interpolation(draws)).with_picks(4);
    let found = crossover(job, &CPU, &GPU);
    assert_eq!(found, 147);
}

#[test]
fn inverses_and_weights_are_downloaded() {
    // The torus of two parts has ⌈0.325 · 3 · 34⌉ = 34 nodes, that of one part ⌈0.325 · 29⌉ = 10. The set-up downloads 34
    // inverses of 16 · 64² bytes. A draw lays out half of the first grid again and one and a half of the second, and
    // weighs 500 items twice in each part.
    let job = Job::of_size(1000, 64, 4, Task::Interpolation(1)).with_parts(2).with_picks(4);
    let expected = (34.0 + 0.5 * 34.0 + 1.5 * 10.0) * 65_536.0 + 4.0 * 500.0 * 8.0;
    assert!((job.work(On::Gpu).downloaded / expected - 1.0).abs() < 1e-12);
    let more = GPU.time_of(&job).seconds()
        - Rates { gpu: Some(GpuRates { upload: f64::INFINITY, ..GPU.gpu.unwrap() }), ..GPU }
            .time_of(&job)
            .seconds();
    assert!((more / ((expected + job.bytes) / 2e10) - 1.0).abs() < 1e-9);
}

/// More rows never take less time, and an open GPU never takes more time than one that is not.
#[test]
fn every_task_grows_with_its_rows() {
    for task in TASKS {
        for (dims, parts) in [(16, 1), (64, 4), (512, 12)] {
            let job = |items| Job::of_size(items, dims, 4, task).with_parts(parts).with_picks(2 * parts);
            for rates in [&CPU, &GPU, &Rates::slowest_cpu(), &Rates::of_good_gpu(false)] {
                let times = [100, 10_000, 1_000_000].map(|items| rates.time_of(&job(items)).seconds());
                assert!(times.is_sorted() && times[0] > 0.0 && times[2].is_finite(), "{task:?}: {times:?}");
                assert!(rates.open().time_of(&job(100)).seconds() <= times[0], "{task:?}");
            }
        }
    }
}

#[test]
fn the_reason_is_one_sentence_with_both_times() {
    let gpu = Time { upload: 0.31, uploaded_bytes: 2.56e9, computing: 0.49, ..Time::default() };
    let cpu = Time { computing: 4.12, ..Time::default() };
    let sentence = "the GPU would take 0.8 s (0.3 s of it to bring 2.6 GB there), the CPU 4.1 s";
    assert_eq!(Compared { gpu, cpu }.to_string(), sentence);
    let gpu = Time { opening: 0.3, upload: 0.0, uploaded_bytes: 0.0, computing: 12.4 };
    let sentence = "the GPU would take 13 s (0.3 s of it to open it), the CPU 4.1 s";
    assert_eq!(Compared { gpu, cpu }.to_string(), sentence);
}

#[test]
fn short_jobs_are_not_measured() {
    let few = Task::Slates { requests: 10, candidates: 10 };
    for task in TASKS.map(|task| if matches!(task, Task::Slates { .. }) { few } else { task }) {
        let chosen = Engine::auto(&Job::of_size(100, 8, 4, task).with_parts(2).with_picks(4));
        assert_eq!(chosen.engine.info().name, "cpu");
        let sentence =
            if cfg!(feature = "gpu") { "the CPU takes at most " } else { "this build has no GPU engine" };
        assert!(chosen.reason.starts_with(sentence), "{}", chosen.reason);
    }
}

#[cfg(feature = "parallel")]
#[test]
fn rates_are_measured_once_for_any_number_of_threads() {
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let [rates, again] = [(); 2].map(|()| pool.install(Rates::of_cpu).unwrap());
        assert_eq!(rates, again);
        assert!(rates.read.is_finite() && rates.read > 1e6 && rates.multiply > 1e6, "{rates:?}");
        assert!(rates.eliminate.iter().all(|rate| rate.is_finite() && *rate > 1e6), "{rates:?}");
    }
}
