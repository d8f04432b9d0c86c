//! Batches of proposals: the device finds the same subsets as the host, and they follow the law.

mod tables;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use oracles::{
    Case,
    engines::{gpu, open},
    enumerable_cases,
    random::normals,
    stats,
};
use partition_dpp::{
    Engine, Features, KDpp, Method, Partition, PartitionDpp, Projection, Quota, Sampler, SamplerOptions,
    Subset, Watch,
    engine::{
        Precision,
        gpu::{Fault, Gpu, GpuOptions},
    },
    sample::Bound,
    watch::Ended,
};

use crate::batches::{
    Expected, PRECISIONS, Problem, conform, conform_in_three_buffers, drawn_by_host, replays,
};

/// Makes a problem of Gaussian rows for tilted proposals.
fn problem(name: &'static str, items: usize, dims: usize, quota: &[usize], draws: u64) -> Problem {
    Problem::gaussian(name, (items, dims), quota, tilted).drawn(draws)
}

pub(crate) fn problems() -> Vec<Problem> {
    let mut problems = vec![
        problem("small", 60, 6, &[1, 2], 200),
        problem("one item", 100, 5, &[1], 80),
        problem("parts of several", 400, 24, &[2, 3, 2], 80),
        problem("many eigenvectors", 400, 300, &[2, 2], 40),
        problem("as many as fit", 300, 44, &[18, 18], 4),
    ];
    // Two copies of every row, with very unequal lengths.
    let (items, dims) = (80, 7);
    let mut values = normals(items / 2 * dims, 5).repeat(2);
    for (i, row) in values.chunks_exact_mut(dims).enumerate() {
        row.iter_mut().for_each(|x| *x *= [1.0, 1e-3, 30.0][i % 3]);
    }
    let features = Features::from_rows(items, dims, values).unwrap();
    problems.push(Problem::new("copies", features, &[3, 2], tilted).drawn(120));
    problems
}

fn tilted(dpp: &PartitionDpp, engine: &Engine) -> Sampler {
    let options = SamplerOptions::from(Method::Rejection).with_projection(Projection::Leverage);
    dpp.sampler(options.with_bound(Bound::Tilted), engine).unwrap()
}

#[test]
fn the_device_finds_what_the_host_finds() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        conform(&gpu, problems(), replays(precision));
    }
}

#[test]
fn rows_may_take_several_buffers() {
    conform_in_three_buffers(&problem("buffers", 700, 24, &[2, 3, 2], 40), "small_proposals");
}

/// Opens a device with a text replaced in its shader.
fn patched(precision: Precision, from: &'static str, to: &'static str) -> Option<Gpu> {
    let verbs = ["proposals", "small_proposals"];
    let options = verbs.iter().fold(GpuOptions::default().with_precision(precision), |options, verb| {
        options.with_patch(verb, from, to)
    });
    open(&options, "planted faults")
}

#[test]
fn near_ties_are_decided_by_the_host() {
    for precision in PRECISIONS {
        let wide = if precision == Precision::F32 { "margin = 2.0e3 *" } else { "margin = 2.0e12 *" };
        let problems = problems();
        let Some(forced) = patched(precision, "margin = 2.0 *", wide) else { return };
        let [made, replayed] = problems[2].draws(&forced.engine()).2;
        assert!(replayed > made / 20 && replayed < made, "{replayed} of {made} in {precision}");
        let few = problems[..3].to_vec();
        conform(&forced, problems, 1.0);
        // Nothing is left to the device.
        let Some(always) = patched(precision, "margin = 2.0 *", "margin = 1.0e15 + 2.0 *") else { return };
        conform(&always, few, 1.0);
    }
}

/// Rounding errors of single precision are much smaller than the margin.
#[test]
fn margins_are_wide() {
    let Some(narrow) = patched(Precision::F32, "margin = 2.0 *", "margin = 0.2 *") else { return };
    conform(&narrow, vec![problem("margins", 400, 24, &[2, 3, 2], 1000)], 0.05);
}

#[test]
fn planted_faults_are_noticed() {
    if gpu(Precision::F32).is_none() {
        return;
    }
    let expected = Expected::of(problems(), Precision::F32);
    for (from, to) in [
        // Faults in the eigenvectors.
        ("if word < limit", "if word > limit"),
        ("coins[j * p.size + wanted - 1u]", "coins[j * p.size]"),
        ("sh_chosen[p.size - wanted] = j;", "sh_chosen[wanted - 1u] = j / 2u;"),
        // Faults in the items tried.
        ("select(entry.y, index, share < entry.x)", "index"),
        ("let length = parameters.items + 1u;", "let length = parameters.items;"),
        ("let index = above.x + u32(middle < below.x);", "let index = above.x + 1u;"),
        ("TRIALS + number, proposal", "number, proposal"),
        (
            "vec4<u32>(TRIALS + number, proposal, p.block_low",
            "vec4<u32>(TRIALS + number, proposal, 7u + p.block_low",
        ),
        ("real(high >> 8u)", "real(high >> 9u)"),
        // Faults in their residuals.
        ("unit_entry(position, p.rank, sh_chosen[j])", "unit_entry(position, p.rank, j)"),
        ("- along * sh_directions", "- 0.5 * along * sh_directions"),
        ("s < picked; s++", "s + 1u < picked; s++"),
        ("trial = project(trial, sh_picked - 1u, thread);", ""),
        ("[j * LANES + thread] / root", "[j * LANES + thread]"),
        // Faults in the picks.
        ("2u * thread + fate - ACCEPTED", "2u * (63u - thread) + fate - ACCEPTED"),
        ("sh_counts[part] > parts[part].y", "sh_counts[part] >= parts[part].y"),
        ("parts[part + 1u].x <= trial.position", "parts[part + 1u].x < trial.position"),
        ("sh_state = REJECTED;", ""),
        ("if trial.threshold + margin < trial.square {", "if trial.threshold < 2.0 * trial.square {"),
        ("if trial.threshold + margin < trial.square {", "if trial.square > margin {"),
        ("= sh_picks[s];", "= sh_picks[0];"),
    ] {
        let Some(gpu) = patched(Precision::F32, from, to) else { return };
        expected.noticed(&gpu, 0.05, &format!("{from} → {to}"));
    }
}

fn with_sampler<T>(case: &Case, engine: &Engine, with: impl FnOnce(&Sampler) -> T) -> T {
    let (features, partition) = (case.features(), Partition::from_labels(&case.labels).unwrap());
    let quota = Quota::new(&partition, &case.quota).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    with(&tilted(&dpp, engine))
}

/// The draws of the host, which a device repeats, follow the law.
#[test]
fn draws_follow_the_law() {
    let cases = enumerable_cases();
    let bound = |case: &Case| with_sampler(case, &Engine::cpu(), Sampler::acceptance_bound);
    let total: f64 = cases.iter().map(bound).sum();
    for case in &cases {
        let Some(gpu) = gpu(Precision::F64) else { return };
        let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
        // Take more draws from samplers that accept more.
        let draws = (bound(case) / total * 100_000.0).ceil().max(4000.0) as u64;
        let (samples, _) = with_sampler(case, &gpu.engine(), |sampler| {
            assert!(sampler.law_error() < 1e-9, "{}: {:e}", case.name, sampler.law_error());
            drawn_by_host(&gpu, sampler, draws)
        });
        let p = stats::chi_square_p(samples.iter().map(Subset::as_slice), &law);
        assert!(p > stats::ALPHA / cases.len() as f64, "{}: p = {p:e}", case.name);
    }
}

#[test]
fn thousands_of_proposals_are_one_submission_and_one_wait() {
    for precision in PRECISIONS {
        // Breaks for a watchdog are only for slower devices.
        let options =
            GpuOptions::default().with_precision(precision).with_longest_dispatch(Duration::from_secs(100));
        let Some(gpu) = open(&options, "traffic") else { return };
        let (rows, draws) = (300, 1500);
        problem("traffic", rows, 12, &[2, 3], 0).sampled(&gpu.engine(), |sampler| {
            // Tables are uploaded once: per item, an entry of two words and a row.
            let before = gpu.traffic();
            drop(sampler.sample_many(100, 0));
            let tables = gpu.traffic() - before;
            let width = if precision == Precision::F32 { 4 } else { 8 };
            assert!(tables.uploaded <= (rows as u64 + 8) * (8 + 12 * width) + 1000, "{tables:?}");
            let before = gpu.traffic();
            let [made_before, _] = sampler.batched_proposals().unwrap();
            let samples = sampler.sample_many(draws, 1);
            let added = gpu.traffic() - before;
            let made = sampler.batched_proposals().unwrap()[0] - made_before;
            println!("{precision}: {made} proposals, {added:?}");
            assert!(made > 4_000 && samples.subsets().len() as u64 == draws);
            assert!(added.waits == 1 && added.submissions == 1 && added.dispatches == 1, "{added:?}");
            assert!(added.uploaded <= gpu.parameter_bytes() + 4, "{added:?}");
            // Six words per subset; somewhat more subsets are made than requested.
            assert!(added.downloaded <= 24 * (draws + draws / 2), "{added:?}");
        });
    }
}

#[test]
fn instalments_and_threads_do_not_matter() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let case = problem("instalments", 40, 4, &[1, 1], 0);
    // The range crosses the end of a block of draws.
    let (start, end) = ((1 << 14) - 700, (1 << 14) + 300);
    let whole = case.sampled(&gpu.engine(), |sampler| sampler.sample_many(end, 5));
    let pieces = case.sampled(&gpu.engine(), |sampler| {
        let mut pieces = sampler.sample_range(start..start, 5);
        for [from, to] in [[start, start + 1], [start + 1, end - 100], [end - 100, end]] {
            // Draw with another seed in between.
            pieces.extend(sampler.sample_range(from..to, 5));
            drop(sampler.sample_range(0..3, 6));
        }
        pieces
    });
    assert_eq!(pieces.subsets(), &whole.subsets()[start as usize..]);
    case.sampled(&gpu.engine(), |sampler| {
        std::thread::scope(|scope| {
            let many: Vec<_> = (0..2).map(|_| scope.spawn(|| sampler.sample_many(400, 5))).collect();
            for samples in many {
                assert_eq!(samples.join().unwrap().subsets(), &whole.subsets()[..400]);
            }
        });
    });
}

#[test]
fn a_watch_ends_batches() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let case = problem("watched", 60, 6, &[1, 2], 0);
    case.sampled(&gpu.engine(), |sampler| {
        let stop = Arc::new(AtomicBool::new(true));
        let watch = Watch::default().stopped_by(&stop);
        let none = sampler.sample_watched(0..100, 7, &watch).unwrap();
        assert_eq!((none.subsets().len(), none.ended()), (0, Some(Ended::Interrupted)));
        stop.store(false, Ordering::Relaxed);
        let all = sampler.sample_watched(0..100, 7, &watch).unwrap();
        assert_eq!((all.subsets().len(), all.ended()), (100, None));
        assert_eq!(all.subsets(), sampler.sample_many(100, 7).subsets());
    });
}

#[test]
fn draws_go_on_without_a_device() {
    let Some(gpu) = gpu(Precision::F64) else { return };
    let case = problem("lost", 60, 6, &[1, 2], 0);
    let expected = case.sampled(&gpu.engine(), |sampler| sampler.sample_many(300, 7));
    case.sampled(&gpu.engine(), |sampler| {
        let mut found = sampler.sample_range(0..100, 7);
        gpu.fake(Fault::Reset);
        found.extend(sampler.sample_range(100..300, 7));
        assert_eq!(found.subsets(), expected.subsets());
        let [made, replayed] = sampler.batched_proposals().unwrap();
        assert!(made > replayed && replayed > 0);
    });
}

#[test]
fn what_does_not_fit_is_drawn_one_by_one() {
    let Some(small) = open(&GpuOptions::default().with_largest_binding(1 << 12), "graphics device") else {
        return;
    };
    let case = problem("large", 400, 24, &[2, 3, 2], 0);
    case.sampled(&small.engine(), |sampler| assert_eq!(sampler.batched_proposals(), None));
    case.sampled(&Engine::cpu(), |sampler| assert_eq!(sampler.batched_proposals(), None));
    let Some(gpu) = gpu(Precision::F32) else { return };
    // Eigenvectors are computed on the CPU. Batches add the error from the limited digits of their random numbers.
    let [on_cpu, in_batches] =
        [Engine::cpu(), gpu.engine()].map(|engine| case.sampled(&engine, Sampler::law_error));
    assert!(in_batches > on_cpu && in_batches < on_cpu + 1e-12, "{on_cpu:e} {in_batches:e}");
    let too_many = problem("more items than fit", 300, 44, &[19, 18], 0);
    too_many.sampled(&gpu.engine(), |sampler| assert_eq!(sampler.batched_proposals(), None));
    // A k-DPP accepts every proposal.
    let model = KDpp::new(&case.features, 5).unwrap();
    let options = SamplerOptions::default().with_projection(Projection::Leverage);
    let sampler = model.sampler(options, &gpu.engine()).unwrap();
    let samples = sampler.sample_many(200, 3);
    assert_eq!((samples.subsets().len(), samples.proposals()), (200, 200));
    assert!(samples.subsets().iter().all(|subset| subset.as_slice().len() == 5));
    assert!(sampler.batched_proposals().is_some_and(|[made, replayed]| made >= 200 && replayed < 5));
}
