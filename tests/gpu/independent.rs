//! Batches of proposals of independent items: the device finds the same subsets as the host, and they follow the law.

use std::time::Duration;

use oracles::{
    Case,
    engines::{gpu, open},
    enumerable_cases,
    random::normals,
    stats,
};
use partition_dpp::{
    Engine, Features, Method, Partition, PartitionDpp, Quota, Sampler, SamplerOptions, Subset,
    engine::{
        Precision,
        gpu::{Gpu, GpuOptions},
    },
    sample::Bound,
};

use crate::{
    batches::{Expected, PRECISIONS, Problem, SetUp, conform, drawn_by_host, replays},
    proposals::problems as tilted_problems,
};

fn sampler(dpp: &PartitionDpp, engine: &Engine, options: SamplerOptions) -> Sampler {
    dpp.sampler(options, engine).unwrap()
}

fn independent(dpp: &PartitionDpp, engine: &Engine) -> Sampler {
    sampler(dpp, engine, SamplerOptions::from(Method::Rejection).with_bound(Bound::Hadamard))
}

/// Makes a problem of Gaussian rows for independent proposals.
fn problem(name: &'static str, items: usize, dims: usize, quota: &[usize], draws: u64) -> Problem {
    Problem::gaussian(name, (items, dims), quota, independent).drawn(draws)
}

pub(crate) fn problems() -> Vec<Problem> {
    let mut problems = vec![
        problem("small", 60, 6, &[1, 2], 200),
        problem("one of each", 100, 12, &[1; 3], 120),
        problem("parts of several", 400, 24, &[2, 3, 2], 120),
        problem("rows of several loads", 900, 150, &[2, 2], 40),
        problem("as many as fit", 300, 400, &[18, 18], 2),
        problem("an odd number", 300, 60, &[1, 4], 80),
        problem("a part without picks", 200, 20, &[2, 0, 1], 80),
    ];
    let copies = tilted_problems().pop().unwrap();
    problems.push(Problem { set_up: independent, ..copies });
    // The mean is far longer than the differences between rows, which are in single precision.
    let (items, dims) = (300, 10);
    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    let values: Vec<f32> = normals(items * dims, 3).into_iter().map(|x| (5.0 + x) as f32).collect();
    let features = Features::from_rows(items, dims, values).unwrap();
    problems.push(Problem { name: "a long mean", features, ..problem("", items, dims, &[2, 2], 80) });
    // Half precision, weights, and parts that are not contiguous.
    let scores: Vec<f64> = (0..items).map(|i| (i % 7) as f64 * 0.3).collect();
    let halves: Vec<half::f16> = normals(items * dims, 4).into_iter().map(half::f16::from_f64).collect();
    let features = Features::from_rows(items, dims, halves).unwrap().with_scores(&scores, 0.5).unwrap();
    let mut weighted = Problem { name: "weights", features, ..problem("", items, dims, &[2, 1, 1], 80) };
    weighted.labels = (0..items).map(|i| i * i % 3 + usize::from(i % 5 == 0) * (i % 2)).collect();
    problems.push(weighted);
    problems
}

#[test]
fn the_device_finds_what_the_host_finds() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        conform(&gpu, problems(), replays(precision));
    }
}

/// Makes a problem whose rows exceed a binding of 64 KiB.
pub(crate) fn of_chunks() -> Problem {
    problem("chunks", 2000, 24, &[2, 2], 1500)
}

/// Chunks of rows are gathered one after another.
#[test]
fn rows_may_come_in_chunks() {
    for precision in PRECISIONS {
        let options = GpuOptions::default().with_precision(precision).with_largest_binding(1 << 16);
        let Some(gpu) = open(&options, "small bindings") else { return };
        let before = gpu.traffic();
        conform(&gpu, vec![of_chunks()], replays(precision));
        assert!((gpu.traffic() - before).dispatches > 4);
    }
}

/// Dispatches and submissions are cut so that even the slowest cards have breaks.
#[test]
fn work_may_be_cut() {
    for precision in PRECISIONS {
        let traffic = |options: GpuOptions| {
            let gpu = open(&options.with_precision(precision), "short dispatches")?;
            let problems = problems();
            let before = gpu.traffic();
            conform(&gpu, vec![problems[2].clone(), problems[4].clone()], replays(precision));
            Some(gpu.traffic() - before)
        };
        let Some(whole) = traffic(GpuOptions::default()) else { return };
        let Some(cut) = traffic(GpuOptions::default().with_longest_dispatch(Duration::from_micros(30)))
        else {
            return;
        };
        assert!(cut.dispatches > 4 * whole.dispatches, "{cut:?} {whole:?}");
        assert!(cut.submissions > 4 * whole.submissions, "{cut:?} {whole:?}");
    }
}

/// Opens a device with a text replaced in its shaders.
fn patched(precision: Precision, verb: &'static str, from: &'static str, to: &'static str) -> Option<Gpu> {
    let options = GpuOptions::default().with_precision(precision).with_patch(verb, from, to);
    let is_either = verb == "item_proposals";
    open(
        &if is_either { options.with_patch("small_item_proposals", from, to) } else { options },
        "planted faults",
    )
}

#[test]
fn near_ties_are_decided_by_the_host() {
    for precision in PRECISIONS {
        let is_single = precision == Precision::F32;
        let wide = if is_single { "8.0) * 1.0e3 * real(p.unit)" } else { "8.0) * 5.0e11 * real(p.unit)" };
        let problems = problems();
        let Some(forced) = patched(precision, "item_proposals", "8.0) * real(p.unit)", wide) else { return };
        let [made, replayed] = problems[2].draws(&forced.engine()).2;
        assert!(replayed > made / 20 && replayed < made, "{replayed} of {made} in {precision}");
        conform(&forced, problems, 1.0);
    }
}

/// Rounding errors of single precision are much smaller than the bounds allow.
#[test]
fn bounds_are_wide() {
    let narrow = "8.0) * 0.1 * real(p.unit)";
    let Some(narrow) = patched(Precision::F32, "item_proposals", "8.0) * real(p.unit)", narrow) else {
        return;
    };
    let problems = vec![problem("margins", 400, 24, &[2, 3, 2], 2000), problems().swap_remove(8).drawn(2000)];
    conform(&narrow, problems, 0.05);
}

#[test]
fn planted_faults_are_noticed() {
    if gpu(Precision::F32).is_none() {
        return;
    }
    let expected = Expected::of(problems(), Precision::F32);
    for (verb, from, to) in [
        // Faults in the picks.
        ("gather_picks", "counter(TRIALS + t,", "counter(t,"),
        ("gather_picks", "p.first + pick / p.size", "1u + p.first + pick / p.size"),
        ("gather_picks", "select(entry.y, drawn.x, drawn.y < entry.x)", "drawn.x"),
        ("gather_picks", "pick.x + pick.w + drawn.x", "pick.x + drawn.x"),
        // Faults in their rows.
        ("gather_picks", "table[position] - p.before", "position - p.before"),
        ("gather_picks", "factor * stored_quad", "stored_quad"),
        ("gather_picks", "quad = lane; quad", "quad = 8u + lane; quad"),
        // Faults in the products.
        ("item_proposals", "sum += sh_gram[i * MOST + j];", ""),
        ("item_proposals", "let across = p.size / 2u + 1u;", "let across = p.size / 2u;"),
        ("item_proposals", "sh_gram[j * MOST + i] = sh_gram[i * MOST + j];", ""),
        ("item_proposals", "/= sh_roots[i] * sh_roots[j];", "/= sh_roots[i];"),
        ("item_proposals", "product *= square;", ""),
        // Faults in the pivots.
        ("item_proposals", "-= along * own;", "-= 0.9 * along * own;"),
        ("item_proposals", "j = t + 1u + thread % LANES", "j = t + 2u + thread % LANES"),
        ("item_proposals", "clamp(pivot + off, ZERO, ONE)", "clamp(0.9 * pivot, ZERO, ONE)"),
        ("item_proposals", "unit_number(words.z, words.w)", "unit_number(words.x, words.w)"),
        ("item_proposals", "sh_state = REJECTED;", "sh_state = ACCEPTED;"),
        // Faults in the result.
        ("item_proposals", "= sh_picks[s];", "= sh_picks[0];"),
        ("item_proposals", "positions[number * p.size + thread]", "positions[number + thread]"),
    ] {
        let Some(gpu) = patched(Precision::F32, verb, from, to) else { return };
        expected.noticed(&gpu, 0.05, &format!("{from} → {to}"));
    }
}

fn with_sampler<T>(case: &Case, engine: &Engine, with: impl FnOnce(&Sampler) -> T) -> T {
    let (features, partition) = (case.features(), Partition::from_labels(&case.labels).unwrap());
    let quota = Quota::new(&partition, &case.quota).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    with(&independent(&dpp, engine))
}

/// The draws of the host, which a device repeats, follow the law.
#[test]
fn draws_follow_the_law() {
    let Some(gpu) = gpu(Precision::F64) else { return };
    let cases = enumerable_cases();
    let bound = |case: &Case| with_sampler(case, &Engine::cpu(), Sampler::acceptance_bound);
    let cases: Vec<&Case> = cases.iter().filter(|case| bound(case) > 1e-3).collect();
    let total: f64 = cases.iter().map(|case| bound(case)).sum();
    let mut seen = 0;
    for case in &cases {
        let Some(gpu) = open(&GpuOptions::default().with_precision(Precision::F64), "a fresh device") else {
            return;
        };
        let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
        let draws = (bound(case) / total * 100_000.0).ceil().max(4000.0) as u64;
        let samples = with_sampler(case, &gpu.engine(), |sampler| {
            sampler.batched_proposals()?;
            Some(drawn_by_host(&gpu, sampler, draws).0)
        });
        let Some(samples) = samples else { continue };
        let p = stats::chi_square_p(samples.iter().map(Subset::as_slice), &law);
        assert!(p > stats::ALPHA / cases.len() as f64, "{}: p = {p:e}", case.name);
        seen += 1;
    }
    println!("{seen} of {} cases on {}", cases.len(), gpu.engine().info());
    assert!(2 * seen > cases.len(), "{seen} of {}", cases.len());
}

#[test]
fn thousands_of_proposals_are_one_submission_and_one_wait() {
    for precision in PRECISIONS {
        // Breaks for a watchdog are only for slower devices.
        let options =
            GpuOptions::default().with_precision(precision).with_longest_dispatch(Duration::from_secs(100));
        let Some(gpu) = open(&options, "traffic") else { return };
        let (rows, draws) = (300, 3000);
        problem("traffic", rows, 12, &[2, 3], 0).sampled(&gpu.engine(), |sampler| {
            drop(sampler.sample_many(1000, 0));
            let before = gpu.traffic();
            let [made_before, replayed_before] = sampler.batched_proposals().unwrap();
            let samples = sampler.sample_many(draws, 1);
            let added = gpu.traffic() - before;
            let [made, replayed] = sampler.batched_proposals().unwrap();
            let (made, replayed) = (made - made_before, replayed - replayed_before);
            println!("{precision}: {replayed} of {made} proposals replayed, {added:?}");
            assert!(made > draws && samples.subsets().len() as u64 == draws && replayed < made / 50);
            assert!(added.waits == 1 && added.submissions == 1 && added.dispatches == 2, "{added:?}");
            assert!(added.uploaded <= 2 * gpu.parameter_bytes() + 4, "{added:?}");
            // Six words per subset; somewhat more subsets are made than requested.
            assert!(added.downloaded <= 24 * (draws + draws / 2), "{added:?}");
        });
    }
}

#[test]
fn what_does_not_fit_is_drawn_one_by_one() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let of = |case: &Problem, engine: &Engine| case.sampled(engine, Sampler::batched_proposals);
    let case = problem("fits", 400, 24, &[2, 3, 2], 0);
    assert_eq!(of(&case, &gpu.engine()), Some([0, 0]));
    assert_eq!(of(&case, &Engine::cpu()), None);
    let fischer: SetUp = |dpp, engine| {
        sampler(dpp, engine, SamplerOptions::from(Method::Rejection).with_bound(Bound::Fischer))
    };
    assert_eq!(of(&Problem { set_up: fischer, ..case }, &gpu.engine()), None);
    let too_many = problem("more items than fit", 300, 400, &[19, 18], 0);
    assert_eq!(of(&too_many, &gpu.engine()), None);
}

/// Proposals made by the thousand on a device may have a lower acceptance.
#[test]
fn a_device_changes_the_choice_of_a_bound() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let (items, dims) = (2000, 40);
    let centres = normals(2 * dims, 1);
    let of_part = |at: usize| at % dims + at / dims % 2 * dims;
    let clustered = normals(items * dims, 2).into_iter().enumerate().map(|(at, x)| x + centres[of_part(at)]);
    let features = Features::from_rows(items, dims, clustered.collect::<Vec<f64>>()).unwrap();
    let rejection: SetUp = |dpp, engine| sampler(dpp, engine, Method::Rejection.into());
    let case = Problem::new("choice", features, &[6, 6], rejection);
    let chosen =
        |engine: &Engine| case.sampled(engine, |sampler| (sampler.bound(), sampler.batched_proposals()));
    assert_eq!(chosen(&gpu.engine()), (Some(Bound::Hadamard), Some([0, 0])));
    let (on_cpu, batches) = chosen(&Engine::cpu());
    assert!(on_cpu != Some(Bound::Hadamard) && batches.is_none(), "{on_cpu:?}");
}
