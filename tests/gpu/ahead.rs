//! Greedy picks and local search swaps that the device makes without the host.

use oracles::{
    engines::{self, Tested},
    on_every_engine,
    random::normals,
};
use partition_dpp::{
    Engine, Features, KDpp, Partition, PartitionDpp, Quota,
    engine::{
        Precision,
        gpu::{Gpu, GpuOptions},
    },
    map::{Greedy, LocalSearch, Solution, Solver},
};

use crate::traffic::{apart, corners};

pub(crate) fn labels(items: usize, parts: usize) -> Partition {
    Partition::from_labels(&(0..items).map(|item| item * item % parts).collect::<Vec<_>>()).unwrap()
}

/// Returns the greedy set of an engine.
fn greedy(features: &Features, partition: &Partition, quota: &Quota, engine: &Engine) -> Solution {
    let dpp = PartitionDpp::new(features, partition, quota).unwrap();
    Greedy::default().solve(&dpp, engine).unwrap()
}

/// Returns rows of several lengths, some equal to others, in parts of several sizes.
pub(crate) fn problems() -> Vec<(Features, usize, Vec<usize>)> {
    let gaussian = |items: usize, dims: usize| {
        Features::from_rows(items, dims, normals(items * dims, (items + dims) as u64)).unwrap()
    };
    let small: Vec<f64> = normals(900 * 6, 8).iter().map(|x| x.round()).collect();
    let apart: Vec<f64> = normals(600 * 9, 4)
        .chunks_exact(9)
        .enumerate()
        .flat_map(|(item, row)| {
            let size = if item * item % 3 == 0 { 1e-8 } else { 1.0 };
            row.iter().map(move |x| x * size)
        })
        .collect();
    // Ten copies of each, which single precision cannot distinguish.
    let alike: Vec<f64> = normals(40 * 8, 3)
        .chunks_exact(8)
        .flat_map(|row| {
            (0..10).flat_map(move |copy| row.iter().map(move |x| x * (1.0 + 1e-10 * f64::from(copy))))
        })
        .collect();
    // Singular values of 1, 10⁻¹, …, along directions other than the axes.
    let graded: Vec<f64> = normals(500 * 8, 6)
        .chunks_exact(8)
        .flat_map(|row| {
            let own: Vec<f64> = row.iter().zip(0..).map(|(x, j)| x * 0.1_f64.powi(j)).collect();
            // A reflection.
            let mean = own.iter().sum::<f64>() / 4.0;
            own.into_iter().map(move |x| x - mean)
        })
        .collect();
    vec![
        (Features::from_rows(500, 8, graded).unwrap(), 3, vec![3, 4]),
        (gaussian(3, 2), 1, vec![2]),
        (gaussian(1300, 13), 3, vec![4, 5]),
        (gaussian(2000, 40), 5, vec![6, 7, 8]),
        (Features::from_rows(400, 8, alike).unwrap(), 3, vec![3, 4]),
        (Features::from_rows(900, 6, small).unwrap(), 3, vec![2, 3]),
        (Features::from_rows(600, 9, apart).unwrap(), 3, vec![3, 3]),
    ]
}

fn same_sets(tested: &Tested) {
    same_sets_of(tested, problems());
}

/// More picks than a workgroup has threads.
fn many_picks(tested: &Tested) {
    let features = Features::from_rows(300, 300, normals(90_000, 600)).unwrap();
    same_sets_of(tested, vec![(features, 1, vec![270])]);
}

fn same_sets_of(tested: &Tested, problems: Vec<(Features, usize, Vec<usize>)>) {
    for (features, parts, counts) in problems {
        let partition = labels(features.items(), parts);
        let quota = Quota::new(&partition, counts).unwrap();
        let expected = greedy(&features, &partition, &quota, &Engine::cpu());
        let found = greedy(&features, &partition, &quota, &tested.engine);
        assert_eq!(found.subset, expected.subset, "{features:?}");
        assert!((found.log_det - expected.log_det).abs() <= 1e-9 * expected.log_det.abs(), "{features:?}");
        for (found, expected) in found.stats.gains.iter().zip(&expected.stats.gains) {
            assert!((found - expected).abs() < 1e-9, "{features:?}: {found} {expected}");
        }
    }
}

fn single_part(tested: &Tested) {
    let features = Features::from_rows(2_000, 24, normals(48_000, 5)).unwrap();
    let dpp = KDpp::new(&features, 20).unwrap().including(&[3, 77]).unwrap();
    let expected = Greedy::default().solve(&dpp, &Engine::cpu()).unwrap();
    assert_eq!(Greedy::default().solve(&dpp, &tested.engine).unwrap().subset, expected.subset);
}

/// Returns the locally optimal set of an engine.
fn climbed(features: &Features, partition: &Partition, quota: &[usize], engine: &Engine) -> Solution {
    let quota = Quota::new(partition, quota.to_vec()).unwrap();
    let dpp = PartitionDpp::new(features, partition, &quota).unwrap();
    LocalSearch::default().solve(&dpp, engine).unwrap()
}

fn same_climbs(tested: &Tested) {
    let mut swaps = 0;
    let climbs = problems().into_iter().map(|(features, parts, counts)| {
        let partition = labels(features.items(), parts);
        (features, partition, counts)
    });
    let (features, partition) = corners(300, 12, apart);
    for (features, partition, counts) in climbs.chain([(features, partition, vec![2; 12])]) {
        let expected = climbed(&features, &partition, &counts, &Engine::cpu());
        let found = climbed(&features, &partition, &counts, &tested.engine);
        assert_eq!(found.subset, expected.subset, "{features:?}");
        assert_eq!(found.stats.swaps, expected.stats.swaps, "{features:?}");
        assert_eq!(found.stats.evaluations, expected.stats.evaluations, "{features:?}");
        assert!((found.log_det - expected.log_det).abs() <= 1e-9 * expected.log_det.abs(), "{features:?}");
        swaps += found.stats.swaps;
    }
    assert!(swaps > 15, "{swaps}");
}

/// Included items take part in every projection, and never leave.
fn climbs_around_included_items(tested: &Tested) {
    let features = Features::from_rows(2_000, 24, normals(48_000, 5)).unwrap();
    let dpp = KDpp::new(&features, 20).unwrap().including(&[3, 77]).unwrap();
    let expected = LocalSearch::default().solve(&dpp, &Engine::cpu()).unwrap();
    let found = LocalSearch::default().solve(&dpp, &tested.engine).unwrap();
    assert_eq!(found.subset, expected.subset);
    assert_eq!(found.stats.swaps, expected.stats.swaps);
}

on_every_engine!(same_sets, many_picks, single_part, same_climbs, climbs_around_included_items);

/// The host makes no swap if the rows give a different ratio.
#[test]
fn a_device_that_swaps_by_wrong_numbers_does_not_change_the_set() {
    let (features, partition) = corners(300, 12, apart);
    let expected = climbed(&features, &partition, &[2; 12], &Engine::cpu());
    let patches = [
        ("swap_duals", "swap[at + 1u] = loss", "swap[at + 1u] = 2.0 * gain"),
        ("swap_vectors", "+ along * own", "- along * own"),
        ("swap_row", "to + 3u] = x.w", "to + 3u] = x.z"),
        ("choose_swap", "real4(best.value,", "real4(1.5 * best.value,"),
    ];
    for precision in [Precision::F32, Precision::F64] {
        let waits = |options: GpuOptions| {
            let gpu: Gpu = engines::open(&options.with_precision(precision), "graphics device")?;
            let found = climbed(&features, &partition, &[2; 12], &gpu.engine());
            assert_eq!(found.subset, expected.subset, "{precision}");
            Some(gpu.traffic().waits)
        };
        let Some(right) = waits(GpuOptions::default()) else { return };
        for (verb, from, to) in patches {
            let wrong = waits(GpuOptions::default().with_patch(verb, from, to)).unwrap();
            assert!(wrong > right, "{precision}, {verb}: {to} goes unnoticed: {wrong} waits");
        }
    }
}

#[test]
fn planted_faults_are_noticed() {
    engines::assert_noticed(&[
        (("choose_pick", "counts[group].x -= 1u", "counts[group].x -= 0u"), same_sets),
        (("choose_pick", "gain * numbers[group].x", "gain"), same_sets),
        (("choose_pick", "rival.value < at_least", "rival.value < HIGHEST"), same_sets),
        (("pick_direction", "x -= sh_along[j]", "x += sh_along[j]"), same_sets),
        (("pick_direction", "directions[own + quad] *= unit", "directions[own + quad] *= ONE"), same_sets),
        (("pick_direction", "if at < count", "if at + 1u < count"), same_sets),
        (("pick_direction", "gains[tile.start + row] = LOWEST", "gains[tile.start] = LOWEST"), same_sets),
        (("pick_direction", "first += 256u", "first += 512u"), many_picks),
    ]);
}
