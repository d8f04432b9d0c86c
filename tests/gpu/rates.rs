//! Rates of devices, and the choice between them and the CPU.

use oracles::engines::gpu;
use partition_dpp::{
    Engine,
    engine::{
        Job, Precision, Task,
        gpu::{AdapterSummary, summaries},
    },
};

#[test]
fn software_is_not_measured_and_not_taken() {
    if gpu(Precision::F32).is_none() {
        return;
    }
    // A large job; the choice needs no features.
    let chosen = Engine::auto(&Job::of_size(10_000_000, 64, 4, Task::Greedy).with_picks(50));
    println!("{}: {}", chosen.engine.info(), chosen.reason);
    if AdapterSummary::taken_unasked(&summaries()).is_none() {
        assert_eq!(chosen.engine.info().name, "cpu");
        assert_eq!(chosen.reason, "there is no GPU that computes in f64");
    }
}

/// In single precision, `pdpp bench` measures them.
#[test]
fn rates_are_measured_by_the_verbs() {
    let Some(gpu) = gpu(Precision::F64) else { return };
    let is_software = summaries().iter().all(|adapter| adapter.is_software);
    let before = gpu.traffic();
    let rates = gpu.measured_rates().unwrap();
    println!("{rates:?}");
    let of_gpu = rates.gpu.unwrap();
    for rate in [rates.read, rates.multiply, of_gpu.upload, of_gpu.latency] {
        assert!(rate.is_finite() && rate > 0.0, "{rates:?}");
    }
    // Rows of 16 and 4 MiB are uploaded, and again as f64 at most. A fast card gets 16 and 64 MiB more.
    let uploaded = (gpu.traffic() - before).uploaded;
    let most = if is_software { 50 } else { 250 };
    assert!((20 << 20..most << 20).contains(&uploaded), "{uploaded}");
}
