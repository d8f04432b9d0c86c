//! Rates of devices, and the choice between them and the CPU.

use partition_dpp::engine::{
    self, Precision,
    cost::{CardKind, CardRates, EngineReason, HostRates, Job, Task},
    gpu::{AdapterSummary, summaries},
};

use crate::common::engines::gpu;

/// Much work, for which a computer needs no features.
fn long() -> Job {
    Job::of_size(10_000_000, 64, 4, Task::Greedy).with_picks(50)
}

#[test]
fn software_is_not_measured_and_not_taken() {
    if gpu(Precision::F32).is_none() {
        return;
    }
    let chosen = engine::auto_for(&long());
    let adapters = summaries();
    println!("{}: {}", chosen.engine.info(), chosen.reason);
    match (&chosen.reason, AdapterSummary::taken_unasked(&adapters)) {
        (EngineReason::NoCard, None) => assert_eq!(chosen.engine.info().name, "cpu"),
        (EngineReason::Predicted(found), Some(_)) => {
            assert_eq!(chosen.engine.info().name != "cpu", found.prefers_gpu());
        }
        (
            EngineReason::PredictedShort(_) | EngineReason::Failed(_) | EngineReason::MeasuringFailed(_),
            Some(_),
        ) => {
            assert_eq!(chosen.engine.info().name, "cpu");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn rates_are_measured_by_the_verbs() {
    for precision in [Precision::F32, Precision::F64] {
        let Some(gpu) = gpu(precision) else { return };
        let known = gpu.rates().unwrap();
        if known.kind == CardKind::Software {
            assert_eq!(known, CardRates::estimated(CardKind::Software, precision));
        } else {
            assert_eq!(known, gpu.rates().unwrap(), "once per process");
        }
        let before = gpu.traffic();
        let rates = gpu.measured_rates().unwrap();
        println!("{rates:?}");
        assert_eq!((rates.kind, rates.precision), (known.kind, precision));
        for rate in [rates.upload, rates.memory, rates.products, rates.latency] {
            assert!(rate.is_finite() && rate > 0.0, "{rates:?}");
        }
        // Rows of 16 and 4 MiB are brought there, and once more as f64 at most; a fast card gets 16 and 64 MiB more.
        let uploaded = (gpu.traffic() - before).uploaded;
        let most = if known.kind == CardKind::Software { 50 } else { 250 };
        assert!((20 << 20..most << 20).contains(&uploaded), "{uploaded}");
    }
}

#[test]
fn rates_of_the_cpu_are_measured_once() {
    let rates = HostRates::measured().unwrap();
    assert_eq!(rates, HostRates::measured().unwrap());
    for rate in [rates.memory, rates.near, rates.scattered, rates.fresh, rates.serial, rates.rows, rates.dots]
    {
        assert!(rate.is_finite() && rate > 1e6, "{rates:?}");
    }
    for rate in [rates.converted, rates.products, rates.eigen, rates.nodes, rates.steps] {
        assert!(rate.is_finite() && rate > 1e4, "{rates:?}");
    }
    assert!(rates.scattered <= rates.memory && rates.memory <= rates.near && rates.latency < 0.1);
}
