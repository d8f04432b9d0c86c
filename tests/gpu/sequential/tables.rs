//! Transfers to and from a device, and checks of its answers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use oracles::engines::{gpu, open};
use partition_dpp::{
    Engine, Watch,
    engine::{
        Precision,
        gpu::{Fault, GpuOptions},
    },
    watch::Ended,
};

use super::{few, patched, problem};
use crate::batches::PRECISIONS;

#[test]
fn thousands_of_draws_are_one_submission_and_one_wait() {
    for precision in PRECISIONS {
        // Breaks for a watchdog are only for slower devices.
        let options =
            GpuOptions::default().with_precision(precision).with_longest_dispatch(Duration::from_secs(100));
        let Some(gpu) = open(&options, "traffic") else { return };
        let (rows, draws) = (300, 3_000);
        problem("traffic", rows, 9, &[1; 5], 0).sampled(&gpu.engine(), |sampler| {
            // Tables are uploaded once: per item, an entry of two words and a row; per part, a Gram matrix.
            let before = gpu.traffic();
            drop(sampler.sample_many(100, 0));
            let tables = gpu.traffic() - before;
            let width = if precision == Precision::F32 { 4 } else { 8 };
            let most = (rows as u64 + 8) * (8 + 12 * width) + 5 * 144 * width + 1000;
            assert!(tables.uploaded > 0 && tables.uploaded <= most, "{tables:?}");
            let before = gpu.traffic();
            let [made_before, _] = sampler.batched_proposals().unwrap();
            let samples = sampler.sample_many(draws, 1);
            let added = gpu.traffic() - before;
            let made = sampler.batched_proposals().unwrap()[0] - made_before;
            println!("{precision}: {made} draws, {added:?}");
            assert!(made > draws && samples.subsets().len() as u64 == draws);
            assert!(added.waits == 1 && added.submissions == 1 && added.dispatches == 1, "{added:?}");
            assert!(added.uploaded <= gpu.parameter_bytes() + 4, "{added:?}");
            // Six words per draw kept; somewhat more draws are made than requested.
            assert!(added.downloaded <= 24 * (draws + draws / 2), "{added:?}");
        });
    }
}

#[test]
fn the_same_draws_in_instalments_and_without_a_device() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let case = &few()[3];
    let whole = case.sampled(&gpu.engine(), |sampler| sampler.sample_many(120, 5));
    case.sampled(&gpu.engine(), |sampler| {
        let mut found = sampler.sample_range(0..1, 5);
        found.extend(sampler.sample_range(1..50, 5));
        drop(sampler.sample_range(0..3, 6));
        gpu.fake(Fault::Reset);
        found.extend(sampler.sample_range(50..120, 5));
        assert_eq!(found.subsets(), whole.subsets());
        let [made, replayed] = sampler.batched_proposals().unwrap();
        assert!(made > replayed && replayed > 0);
    });
}

#[test]
fn a_watch_ends_batches() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    few()[0].sampled(&gpu.engine(), |sampler| {
        let stop = Arc::new(AtomicBool::new(true));
        let watch = Watch::default().stopped_by(&stop);
        let none = sampler.sample_watched(0..100, 7, &watch).unwrap();
        assert_eq!((none.subsets().len(), none.ended()), (0, Some(Ended::Interrupted)));
        stop.store(false, Ordering::Relaxed);
        let all = sampler.sample_watched(0..100, 7, &watch).unwrap();
        assert_eq!((all.subsets().len(), all.ended()), (100, None));
    });
}

/// Impossible answers count as a failure of the device.
#[test]
fn impossible_answers_do_no_harm() {
    if gpu(Precision::F32).is_none() {
        return;
    }
    let case = &few()[3];
    let expected = case.draws_of_host(Precision::F32);
    for (from, to) in [
        ("= sh_picks[s];", "= sh_picks[s] + 1000000u;"),
        ("= sh_picks[s];", "= sh_picks[0];"),
        // Items of another part.
        ("let pick = picks[t];", "let pick = picks[0];"),
        ("= sh_picks[s];", "= sh_picks[size - 1u - s];"),
        ("= number | select", "= (number + 100000u) | select"),
        ("atomicAdd(&found.count, 1u);", "atomicAdd(&found.count, 1000000u);"),
    ] {
        let Some(gpu) = patched(Precision::F32, &[(from, to)]) else { return };
        let (found, proposals, [made, replayed]) = case.draws(&gpu.engine());
        assert_eq!(made, replayed, "{to}: the device is still used");
        assert!((found, proposals) == expected, "{to}");
    }
}

#[test]
fn what_does_not_fit_is_drawn_one_by_one() {
    let case = &few()[2];
    let Some(small) = open(&GpuOptions::default().with_largest_binding(1 << 12), "graphics device") else {
        return;
    };
    case.sampled(&small.engine(), |sampler| assert_eq!(sampler.batched_proposals(), None));
    // The CPU draws the same as before.
    let on_cpu = case.sampled(&Engine::cpu(), |sampler| {
        assert_eq!(sampler.batched_proposals(), None);
        sampler.sample_many(40, 3)
    });
    case.sampled(&small.engine(), |sampler| {
        assert_eq!(sampler.sample_many(40, 3).subsets(), on_cpu.subsets());
    });
    let Some(gpu) = gpu(Precision::F32) else { return };
    // The last problem would take too many turns of a shader's loops.
    for (items, dims, quota) in
        [(500, 132, vec![1; 3]), (400, 64, vec![2; 23]), (400, 70, vec![1; 49]), (400, 68, vec![3; 14])]
    {
        let case = problem("too large", items, dims, &quota, 0);
        case.sampled(&gpu.engine(), |sampler| assert_eq!(sampler.batched_proposals(), None));
    }
}
