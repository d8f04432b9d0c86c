//! Slates: the device finds the same sets as the host.

mod problems;

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use oracles::{
    engines::{CHUNK, gpu, noticed, open},
    watches::reported,
};
use partition_dpp::{
    Error, Result, Watch,
    engine::{
        Precision,
        gpu::{Fault, Gpu, GpuOptions, summaries},
    },
    slates::{BatchedRequests, Slate},
    watch::Ended,
};

use self::problems::{Problem, copies, in_chunks, problems, service};
use crate::batches::PRECISIONS;

fn text(solved: &Result<Slate<Vec<u32>>>) -> String {
    format!("{solved:?}")
}

/// Asserts that a device finds the same as the host. Apart from requests that are not for devices, it leaves at most
/// this share of the requests to the host.
fn conform(gpu: &Gpu, problems: &[Problem], most_left: f64) {
    let precision = gpu.engine().info().precision;
    for problem in problems {
        let (found, expected, BatchedRequests { asked, left, .. }) = problem.solved(|slates, requests| {
            let on_device = slates.clone().with_engine(&gpu.engine());
            let found = on_device.solve_many(requests);
            (found, slates.solve_many(requests), on_device.batched_requests().unwrap())
        });
        println!("{} in {precision}: {left} of {asked} left to the host", problem.name);
        assert_eq!(asked, found.len() as u64);
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(text(found), text(expected), "{}: request {at}", problem.name);
        }
        let most = problem.not_for_devices as f64 + most_left * asked as f64;
        assert!(left as f64 <= most, "{}: {left} of {asked}", problem.name);
    }
}

/// Returns the largest share of requests that may be left to the host.
fn doubts(precision: Precision) -> f64 {
    if precision == Precision::F32 { 0.1 } else { 0.001 }
}

#[test]
fn the_device_finds_what_the_host_finds() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        conform(&gpu, &problems(), doubts(precision));
    }
}

/// Opens a device with a text replaced in its shader.
fn patched(precision: Precision, from: &'static str, to: &'static str) -> Option<Gpu> {
    let options = GpuOptions::default().with_precision(precision).with_patch("slates", from, to);
    open(&options, "planted faults")
}

/// Rounding errors ten times below the device's allowance never cause a wrong decision, and the host decides doubtful
/// cases.
#[test]
fn near_ties_are_decided_by_the_host() {
    for precision in PRECISIONS {
        let wide = if precision == Precision::F32 { "1.0e3 * (4.0 * sqrt" } else { "1.0e11 * (4.0 * sqrt" };
        let Some(forced) = patched(precision, "(4.0 * sqrt", wide) else { return };
        let left = left(&forced, &service(200));
        assert!((20..200).contains(&left), "{left} in {precision}");
        conform(&forced, &problems()[..4], 1.0);
        let Some(narrow) = patched(precision, "(4.0 * sqrt", "0.1 * (4.0 * sqrt") else { return };
        conform(&narrow, &[service(200), copies()], doubts(precision));
    }
}

/// Returns the number of requests that are left to the host.
fn left(gpu: &Gpu, problem: &Problem) -> u64 {
    problem.solved(|slates, requests| {
        let on_device = slates.clone().with_engine(&gpu.engine());
        drop(on_device.solve_many(requests));
        on_device.batched_requests().unwrap().left
    })
}

#[test]
fn planted_faults_are_noticed() {
    for (from, to) in [
        // Faults in the counts.
        ("sh_counts[part] += 1u;", ""),
        ("is_spare && count < quota[part].y", "is_spare && count <= quota[part].y"),
        ("count < quota[part].x ||", ""),
        ("p.size - picked > lacking", "true"),
        ("lacking -= u32", "lacking -= 0u * u32"),
        ("sh_counts[thread] = 0u;", "sh_counts[thread] = 1u;"),
        // Faults in the gains.
        (
            "pass_over(thread, tile, direction);",
            "pass_over(thread, tile, base + (max(picked, 1u) - 1u) * p.quads);",
        ),
        ("gains[own].x - sum * sum", "gains[own].x - 0.5 * sum * sum"),
        ("other = directions[direction + quad];", ""),
        ("let factor = row_factor(tile, at);", "let factor = row_factor(tile, at / 2u);"),
        ("first + thread < end", "first + thread + 1u < end"),
        (
            "var first = 0u; first < tile.rows; first += TILE",
            "var first = 0u; first < min(tile.rows, TILE); first += TILE",
        ),
        ("gains[tile.start + best].x = LOWEST;", "gains[tile.start].x = LOWEST;"),
        (
            "= factor * stored_quad(start + quad);\n    }\n    // The",
            "= stored_quad(quad);\n    }\n    // The",
        ),
        ("x -= sh_along[j]", "x += sh_along[j]"),
        ("directions[own + quad] *= unit", "directions[own + quad] *= ONE"),
        // Faults in the choice, and in what is left to the host.
        ("row_start(tile, at), at));", "NONE - row_start(tile, at), at));"),
        ("Leading(gain, LOWEST, row_start(tile, at), at)", "Leading(gain, LOWEST, at, at)"),
        ("gain.x + rounding * gain.y >= floor", "gain.x > HIGHEST"),
        ("tile.group == 0u || differ", "true || differ"),
        ("tile.group == 0u || differ", "differ"),
        ("if any(stored_quad", "if false && any(stored_quad"),
        ("[number * p.size + picked] = best;", "[number * p.size + picked] = best / 2u;"),
        ("picks[number * p.size] = NONE;", ""),
        ("let base = number * p.size * p.quads;", "let base = 0u;"),
    ] {
        let Some(gpu) = patched(Precision::F32, from, to) else { return };
        noticed(&format!("{from} → {to}"), || conform(&gpu, &problems(), doubts(Precision::F32)));
    }
}

/// Bindings, dispatches and the memory for rows may be small.
#[test]
fn however_work_is_cut() {
    let options = |precision| GpuOptions::default().with_precision(precision);
    for precision in PRECISIONS {
        let whole = open(&options(precision), "whole");
        // A card is taken to be faster than a software driver, so more requests in less time are cut.
        let is_software = summaries().iter().all(|adapter| adapter.is_software);
        let (longest, requests) = if is_software { (4_000, 200) } else { (700, 600) };
        let short = open(&options(precision).with_longest_dispatch(Duration::from_micros(longest)), "short");
        let cut = options(precision).with_largest_binding(CHUNK);
        let streamed = open(&cut.clone().with_row_memory(CHUNK), "streamed");
        let (Some(whole), Some(short), Some(cut), Some(streamed)) =
            (whole, short, open(&cut, "chunks"), streamed)
        else {
            return;
        };
        assert!(left(&whole, &in_chunks()) <= 3);
        conform(&short, &[service(requests)], doubts(precision));
        assert!(short.traffic().dispatches > 2, "{:?}", short.traffic());
        for gpu in [&cut, &streamed] {
            conform(gpu, &[in_chunks(), copies()], 1.0);
            // Requests with items from everywhere, and requests with neighbours in two chunks.
            let left = left(gpu, &in_chunks());
            assert!((20..60).contains(&left), "{left} in {precision}");
        }
    }
}

#[test]
fn a_block_of_requests_is_one_submission_and_one_wait() {
    for precision in PRECISIONS {
        // Breaks for a watchdog are only for slower devices.
        let options =
            GpuOptions::default().with_precision(precision).with_longest_dispatch(Duration::from_secs(100));
        let Some(gpu) = open(&options, "traffic") else { return };
        let (width, count) = (if precision == Precision::F32 { 4 } else { 8 }, 100);
        service(count).solved(|slates, requests| {
            let slates = slates.clone().with_engine(&gpu.engine());
            let before = gpu.traffic();
            drop(slates.solve_many(&requests[..1]));
            let rows = (gpu.traffic() - before).uploaded;
            let before = gpu.traffic();
            drop(slates.solve_many(requests));
            let added = gpu.traffic() - before;
            println!("{precision}: {added:?}, rows {rows}");
            // The rows in their stored type, and one request.
            assert!((192_000..200_000).contains(&rows), "{rows}");
            assert!(added.waits == 1 && added.submissions == 1 && added.dispatches == 1, "{added:?}");
            // Item, part and weight of every candidate, a tile per request, the quota, and parameters.
            let most = count as u64 * (16 + 200 * (8 + width)) + 140 + gpu.parameter_bytes();
            assert!(added.uploaded <= most, "{added:?}, at most {most}");
            assert!(added.downloaded <= 48 * count as u64 + 4, "{added:?}");
        });
    }
}

#[test]
fn watches_end_batches_and_count_them() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    service(100).solved(|slates, requests| {
        let on_device = slates.clone().with_engine(&gpu.engine());
        let stop = Arc::new(AtomicBool::new(true));
        let watch = Watch::default().stopped_by(&stop);
        let none = on_device.solve_watched(requests, &watch);
        assert!(none.iter().all(|one| matches!(one, Err(Error::Ended(Ended::Interrupted)))));
        assert_eq!(gpu.dispatches().iter().find(|(verb, _)| *verb == "slates").unwrap().1, 0);
        let (watch, reports) = reported();
        let all = on_device.solve_watched(requests, &watch);
        assert!(all.iter().all(Result::is_ok));
        let reached = reports.lock().unwrap().iter().map(|report| (report.steps, report.total)).max();
        assert_eq!(reached, Some((100, Some(100))));
        // Windows are not for devices. Clones share their counts.
        let windows = on_device.clone().with_window(3).unwrap().solve_many(requests);
        assert_eq!(
            windows.iter().map(text).collect::<Vec<_>>(),
            slates.clone().with_window(3).unwrap().solve_many(requests).iter().map(text).collect::<Vec<_>>()
        );
        assert_eq!(on_device.batched_requests().unwrap().asked, 100);
        assert!(slates.batched_requests().is_none());
    });
}

#[test]
fn sets_are_found_without_a_device() {
    let Some(gpu) = gpu(Precision::F64) else { return };
    gpu.fake(Fault::Reset);
    assert_eq!(left(&gpu, &service(50)), 50);
    conform(&gpu, &[service(50)], 1.0);
}
