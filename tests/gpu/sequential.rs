//! Batches of sequential draws: the device keeps the same draws as the host, and they follow the law.

mod law;
mod tables;

use oracles::{
    engines::{gpu, open},
    random::normals,
};
use partition_dpp::{
    Engine, Features, PartitionDpp, Sampler,
    engine::{
        Precision,
        gpu::{Gpu, GpuOptions},
    },
};

use crate::batches::{Expected, PRECISIONS, Problem, conform, conform_in_three_buffers, replays};

/// The requested law error.
const WANTED: f64 = 5e-3;

fn sequential(dpp: &PartitionDpp, engine: &Engine) -> Sampler {
    dpp.importance_sampler(engine).unwrap().sampler(WANTED).unwrap()
}

/// Makes a problem of Gaussian rows for sequential draws.
fn problem(name: &'static str, items: usize, dims: usize, quota: &[usize], draws: u64) -> Problem {
    Problem::gaussian(name, (items, dims), quota, sequential).drawn(draws)
}

/// Makes a problem of these rows.
fn problem_of(
    name: &'static str,
    (items, dims): (usize, usize),
    values: Vec<f64>,
    quota: &[usize],
    draws: u64,
) -> Problem {
    let features = Features::from_rows(items, dims, values).unwrap();
    Problem::new(name, features, quota, sequential).drawn(draws)
}

/// Makes rows with a common mean that is much longer than their differences, in fewer dimensions than features.
fn lopsided(name: &'static str, (items, dims, rank): (usize, usize, usize), quota: &[usize]) -> Problem {
    let (short, turn) = (normals(items * rank, 5), normals(rank * dims, 6));
    let mean = normals(rank, 7);
    let mut values = vec![0.0; items * dims];
    for (row, out) in short.chunks_exact(rank).zip(values.chunks_exact_mut(dims)) {
        for ((x, mean), turn) in row.iter().zip(&mean).zip(turn.chunks_exact(dims)) {
            out.iter_mut().zip(turn).for_each(|(out, turn)| *out += (x + 8.0 * mean) * turn);
        }
    }
    problem_of(name, (items, dims), values, quota, 15)
}

pub(crate) fn problems() -> Vec<Problem> {
    let mut problems = vec![
        problem("small", 60, 6, &[1, 2], 80),
        problem("two items", 90, 5, &[2], 80),
        problem("many parts", 400, 24, &[1; 12], 15),
        problem("parts of several", 400, 37, &[3, 2, 4, 1, 2, 3], 15),
        problem("widest", 300, 128, &[2; 11], 2),
        problem("as many as fit", 300, 64, &[5; 9], 2),
        lopsided("common mean", (300, 30, 23), &[2, 1, 3, 2, 2]),
    ];
    // Two copies of every row, with very unequal lengths.
    let (items, dims) = (84, 9);
    let mut values = normals(items / 2 * dims, 5).repeat(2);
    for (i, row) in values.chunks_exact_mut(dims).enumerate() {
        row.iter_mut().for_each(|x| *x *= [1.0, 1e-3, 30.0][i % 3]);
    }
    problems.push(problem_of("copies", (items, dims), values, &[2, 2, 1], 200));
    problems
}

#[test]
fn the_device_keeps_what_the_host_keeps() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        conform(&gpu, problems(), replays(precision));
    }
}

/// Makes a problem whose rows take three buffers in small bindings.
pub(crate) fn of_buffers() -> Problem {
    problem("buffers", 700, 24, &[2, 1, 3, 1], 40)
}

#[test]
fn rows_may_take_several_buffers() {
    conform_in_three_buffers(&of_buffers(), "sequential_draws");
}

/// Opens a device with texts replaced in its shader.
fn patched(precision: Precision, patches: &[(&'static str, &'static str)]) -> Option<Gpu> {
    let options =
        patches.iter().fold(GpuOptions::default().with_precision(precision), |options, (from, to)| {
            options.with_patch("sequential_draws", from, to)
        });
    open(&options, "planted faults")
}

/// Returns small problems of every kind.
fn few() -> Vec<Problem> {
    let all = problems();
    let few = all.into_iter().filter(|problem| !["widest", "as many as fit"].contains(&problem.name));
    few.collect()
}

#[test]
fn near_ties_are_decided_by_the_host() {
    for precision in PRECISIONS {
        let wide = if precision == Precision::F32 { "margin = 2.0e2 *" } else { "margin = 2.0e11 *" };
        let Some(forced) = patched(precision, &[("margin = 2.0 *", wide)]) else { return };
        let few = few();
        let [made, replayed] = few[3].draws(&forced.engine()).2;
        conform(&forced, few, 1.0);
        assert!(replayed > made / 50 && replayed < made, "{replayed} of {made} in {precision}");
    }
}

/// Rounding errors of single precision are much smaller than the margins.
#[test]
fn margins_are_wide() {
    let Some(narrow) = patched(Precision::F32, &[("margin = 2.0 *", "margin = 0.2 *")]) else { return };
    let case = |name, items, dims, quota: &[usize], draws| problem(name, items, dims, quota, draws);
    let problems = vec![
        case("margins", 400, 37, &[3, 2, 4, 1, 2, 3], 100),
        case("margins of many", 600, 64, &[5; 9], 10),
        lopsided("margins of a common mean", (300, 30, 23), &[2, 1, 3, 2, 2]).drawn(80),
    ];
    conform(&narrow, problems, 0.05);
}

#[test]
fn planted_faults_are_noticed() {
    if gpu(Precision::F32).is_none() {
        return;
    }
    let expected = Expected::of(few(), Precision::F32);
    for (from, to) in [
        // Faults in the items tried.
        ("select(entry.y, drawn.x, drawn.y < entry.x)", "drawn.x"),
        ("trial_entries[pick.x + pick.w + drawn.x]", "trial_entries[pick.x + drawn.x]"),
        (
            "drawn_entry(words.x, words.y, pick.y, pick.z)",
            "drawn_entry(words.x, words.y, pick.y - 1u, pick.z)",
        ),
        ("TRIALS + number + trial, draw", "TRIALS + number, draw"),
        ("tried += min(trials.rejected + 1u, AT_ONCE);", "tried += AT_ONCE;"),
        (
            "unit_entry(position, parameters.pitch, j)",
            "unit_entry(pick_first(t) + trial, parameters.pitch, j)",
        ),
        ("sh_fates[used] == REJECTED", "sh_fates[AT_ONCE - 1u - used] == REJECTED"),
        ("verdict(sh_thresholds[trial], square, margin)", "ACCEPTED"),
        // Faults in their residuals.
        ("left -= along * along;", "left -= 0.9 * along * along;"),
        ("for (var s = lane; s < t; s += LANES)", "for (var s = lane; s + 1u < t; s += LANES)"),
        (
            "x -= sh_along[s] * sh_directions[s * stride() + j];",
            "x -= 0.5 * sh_along[s] * sh_directions[s * stride() + j];",
        ),
        ("sh_directions[own + j] /= root;", ""),
        // Replaced by zero, since unwritten workgroup memory may hold anything.
        ("sh_along[thread] = along;", "sh_along[thread] = select(along, ZERO, thread + 1u == t);"),
        // Faults in the weight: the basis is one pick late, a part's trace comes from another part, weights are not
        // updated.
        ("for (var s = 0u; s < t; s++) {\n      let at", "for (var s = 0u; s + 1u < t; s++) {\n      let at"),
        ("inside(t, picks[t].w, thread)", "inside(t, picks[0].w, thread)"),
        ("2u * off == tiles", "off == tiles"),
        ("select(real(2.0), ONE, is_single)", "ONE"),
        ("sh_ratio *= pivot * sh_traces[s];", "sh_ratio *= pivot;"),
        ("sh_ratio *= pivot * sh_traces[s];", "sh_ratio *= sh_traces[s];"),
        ("sh_traces[t] = trace * scales[parameters.pitch];", "sh_traces[t] = scales[parameters.pitch];"),
        ("sh_directions[s * stride() + j] *= scales[j];", "sh_directions[s * stride() + j] *= scales[0];"),
        ("counter(0u, draw)", "counter(1u, draw)"),
        ("verdict(unit_number(high, low), sh_ratio, margin)", "ACCEPTED"),
        (
            "verdict(unit_number(high, low), sh_ratio, margin)",
            "verdict(unit_number(high, low), 0.5 * sh_ratio, margin)",
        ),
    ] {
        let helper = (
            "// Returns the sum of `value` over all threads.",
            "fn pick_first(t: u32) -> u32 { return picks[t].x; }\n",
        );
        let Some(gpu) = patched(Precision::F32, &[(from, to), helper]) else { return };
        let message = expected.noticed(&gpu, 0.05, &format!("{from} → {to}"));
        // The device is used, and finds wrong draws rather than too few.
        assert!(expected.is_wrong_draw(&message), "{to}: {message}");
    }
}
