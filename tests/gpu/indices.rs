//! Every index of the shaders that run without run-time checks is in bounds: all conformance tests, and draws in
//! batches, run with shaders that record their indices.

use std::time::Duration;

use oracles::engines::{self, Test};
use partition_dpp::engine::{
    Precision,
    gpu::{Gpu, GpuOptions},
};

use crate::{
    batches::{Problem, conform, in_three_buffers, replays},
    conformance, conformance_determinants, conformance_forms, conformance_gains, conformance_swaps,
    conformance_tables, independent, sequential,
    testimony::{place, testifying},
};

/// Returns all tests of verbs, by name.
fn tests() -> impl Iterator<Item = (&'static str, Test)> {
    let all = [
        conformance::ALL,
        conformance_forms::ALL,
        conformance_gains::ALL,
        conformance_swaps::ALL,
        conformance_determinants::ALL,
        conformance_tables::ALL,
    ];
    all.into_iter().flatten().copied()
}

/// Returns the ways in which work is cut, each with the largest matrix that it allows.
///
/// By bindings; not at all; and by dispatches, which is the same in either precision.
fn options(precision: Precision) -> Vec<(GpuOptions, usize)> {
    let whole = whole(precision);
    let matrix = if precision == Precision::F64 { 60 } else { 85 };
    let mut options = vec![
        (whole.clone().with_largest_binding(1 << 16).with_row_memory(1 << 16), matrix),
        (whole.clone(), usize::MAX),
    ];
    if precision == Precision::F32 {
        options.push((whole.with_longest_dispatch(Duration::from_nanos(1)), matrix));
    }
    options
}

fn whole(precision: Precision) -> GpuOptions {
    GpuOptions::default().with_precision(precision).with_witness(testifying)
}

/// Returns draws, and the same ways to cut them. Rows must stay on the device.
fn draws(precision: Precision) -> Vec<(GpuOptions, Vec<Problem>)> {
    let whole = whole(precision);
    let few = [&independent::problems()[2..3], &sequential::problems()[2..3]].concat();
    vec![
        (whole.clone().with_largest_binding(1 << 16), vec![independent::of_chunks()]),
        (in_three_buffers(precision).with_witness(testifying), vec![sequential::of_buffers()]),
        (whole.clone(), [independent::problems(), sequential::problems()].concat()),
        (whole.with_longest_dispatch(Duration::from_nanos(1)), few),
    ]
}

/// Returns the records of the shaders: the names of the ones that ran, and of the ones with an index out of bounds.
fn testimony(gpu: &Gpu) -> (Vec<&'static str>, Vec<(&'static str, u32)>) {
    let words = gpu.testimony().unwrap();
    let shaders = Gpu::shaders(Precision::F64);
    let ran = shaders.iter().map(|(name, _)| *name).filter(|name| words[2 * place(name)] == 1).collect();
    let words_of = |name: &'static str| (name, words[2 * place(name) + 1]);
    (ran, shaders.iter().map(|(name, _)| words_of(name)).filter(|(_, index)| *index > 0).collect())
}

fn every_index_is_in_bounds(precision: Precision) {
    let mut seen = Vec::new();
    for (options, largest_matrix) in options(precision) {
        let Some(gpu) = engines::open(&options, "testimony") else { return };
        let tested = engines::tested(&gpu, largest_matrix);
        for (name, test) in tests() {
            test(&tested);
            let (ran, out_of_bounds) = testimony(&gpu);
            assert_eq!(out_of_bounds, [], "{name} in {precision}: the shader, and which of its indices");
            seen.extend(ran);
        }
    }
    for (options, problems) in draws(precision) {
        let Some(gpu) = engines::open(&options, "testimony") else { return };
        conform(&gpu, problems, replays(precision));
        let (ran, out_of_bounds) = testimony(&gpu);
        assert_eq!(out_of_bounds, [], "draws in {precision}: the shader, and which of its indices");
        seen.extend(ran);
    }
    let trusted = Gpu::trusted_shaders(precision).into_iter();
    let unseen: Vec<&str> = trusted.filter(|name| !seen.contains(name)).collect();
    assert!(unseen.is_empty(), "{unseen:?} are trusted, but no test ran them in {precision}");
}

#[test]
fn every_index_is_in_bounds_in_single_precision() {
    every_index_is_in_bounds(Precision::F32);
}

#[test]
fn every_index_is_in_bounds_in_double_precision() {
    every_index_is_in_bounds(Precision::F64);
}

/// Tries buffers, workgroup memory and private arrays, read and written, one past the end and far away.
#[test]
fn an_index_out_of_bounds_is_noticed() {
    for (verb, from, to) in [
        ("row_norms", "= row_sum(thread)", "= row_sum(thread + 4096u)"),
        ("grid_determinants", "key_of(matrices[base + i * n", "key_of(matrices[base + 1048576u + i * n"),
        ("grid_determinants", "sh_pivot_row[b * SIDE + x]", "sh_pivot_row[b * SIDE + x + 1u]"),
        ("grid_determinants", "tile[a * TILE + b] = x", "tile[a * TILE + b + 64u] = x"),
        ("grid_determinants", "sh_rows[step - first]", "sh_rows[step - first + 16u]"),
        ("grid_determinants", "pivots[number * n + step] =", "pivots[number * n + step + 4096u] ="),
        ("candidate_determinants", "determinants[number] =", "determinants[number + 4096u] ="),
        ("sequential_draws", "grams[first + tiles]", "grams[first + tiles + 1048576u]"),
        ("gather_picks", "factors[position]", "factors[position + 1048576u]"),
        ("item_proposals", "sh_roots[thread] =", "sh_roots[thread + 64u] ="),
        ("small_item_proposals", "positions[number * p.size", "positions[number * p.size + 1048576u"),
    ] {
        let options = GpuOptions::default()
            .with_precision(Precision::F32)
            .with_witness(testifying)
            .with_patch(verb, from, to);
        let Some(gpu) = engines::open(&options, "planted faults") else { return };
        let tested = engines::tested(&gpu, 85);
        // Wrong indices may also give wrong values.
        let caught = |run: &dyn Fn()| drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)));
        tests().filter(|(name, _)| *name == verb).for_each(|(_, test)| caught(&|| test(&tested)));
        match verb {
            "sequential_draws" => caught(&|| conform(&gpu, sequential::problems()[..1].to_vec(), 1.0)),
            "gather_picks" | "item_proposals" | "small_item_proposals" => {
                caught(&|| conform(&gpu, independent::problems(), 1.0));
            }
            _ => {}
        }
        let (_, found) = testimony(&gpu);
        assert!(found.iter().all(|(name, _)| name.starts_with(verb)), "{found:?}");
        assert!(!found.is_empty(), "{verb}: {from} → {to} goes unnoticed");
    }
}

#[test]
fn trusted_shaders_conform() {
    for precision in [Precision::F32, Precision::F64] {
        let options = GpuOptions::default().with_precision(precision);
        let Some(_) = engines::open(&options, "graphics device") else { return };
        let trusted = Gpu::new(&options).unwrap();
        let tested = engines::tested(&trusted, 85);
        tests().for_each(|(_, test)| test(&tested));
        let draws = [independent::problems(), sequential::problems()].concat();
        conform(&trusted, draws, replays(precision));
    }
}
