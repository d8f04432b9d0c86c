//! Nyström features against the dense kernel, and landmarks against their law.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicBool},
};

use nalgebra::DMatrix;
use oracles::{assert_error, watches::stopped_when};
use partition_dpp::{
    Engine, Error, Features, Watch,
    error::KernelProblem,
    similarity::{Bandwidth, Rbf, RbfFeatures},
    watch::Ended,
};

use super::{features, gaussian};

/// Returns F, m×R.
fn factor(found: &RbfFeatures) -> DMatrix<f64> {
    let features = found.features();
    let rows: Vec<f64> = (0..features.items()).flat_map(|item| features.row(item)).collect();
    DMatrix::from_row_slice(features.items(), features.dims(), &rows)
}

fn dense(features: &Features, bandwidth: f64) -> DMatrix<f64> {
    let kernel = gaussian(features, bandwidth);
    DMatrix::from_fn(kernel.len(), kernel.len(), |i, j| kernel[i][j])
}

#[test]
fn all_landmarks_give_the_whole_kernel() {
    // Rows 0 to 19 appear twice.
    let some = features(280, 4, 1);
    let rows = (0..300).flat_map(|item| some.row(item % 280));
    let given = Features::from_rows(300, 4, rows.collect::<Vec<f64>>()).unwrap();
    for (bandwidth, least) in [(0.3, 280), (1.0, 200), (4.0, 30)] {
        let rbf = Rbf::new(Bandwidth::Exactly(bandwidth)).with_landmarks(300);
        let kernel = dense(&given, bandwidth);
        let double = rbf.features_in::<f64>(&given, &Engine::cpu()).unwrap();
        let f = factor(&double);
        let off = (&f * f.transpose() - &kernel).amax();
        println!("bandwidth {bandwidth}: {} landmarks, off by {off:.1e}", double.landmarks().len());
        assert!(off < 1e-8 && double.landmarks().len() >= least);
        assert!((f.row(0) - f.row(280)).amax() < 1e-12, "equal rows have equal features");
        let single = factor(&rbf.features(&given, &Engine::cpu()).unwrap());
        // If f32 leaves only rounding errors, fewer landmarks are chosen.
        assert!((&single * single.transpose() - &kernel).amax() < 1e-4);
    }
}

/// Returns tr(K − K_XZ K_ZZ⁻¹ K_ZX) / m.
fn trace_error(kernel: &DMatrix<f64>, landmarks: &[usize]) -> f64 {
    let columns = kernel.select_columns(landmarks);
    let within = columns.select_rows(landmarks).cholesky().unwrap();
    let images = within.l().solve_lower_triangular(&columns.transpose()).unwrap();
    1.0 - images.norm_squared() / kernel.nrows() as f64
}

#[test]
fn the_stated_error_is_that_of_all_items() {
    let given = features(3000, 6, 2);
    let bandwidth = Bandwidth::Median.of(&given).unwrap();
    let kernel = dense(&given, bandwidth);
    for landmarks in [1, 40, 200] {
        let rbf = Rbf::default().with_landmarks(landmarks).with_seed(5);
        let single = rbf.features(&given, &Engine::cpu()).unwrap();
        let double = rbf.features_in::<f64>(&given, &Engine::cpu()).unwrap();
        assert_eq!(single.landmarks(), double.landmarks());
        let expected = trace_error(&kernel, single.landmarks());
        println!("{landmarks} landmarks: {expected:.6} of the trace is missed");
        assert!((double.kernel_error() - expected).abs() < 1e-11);
        assert!((single.kernel_error() - expected).abs() < 1e-6);
        // The stated error for f32 is the error of the features as they are stored, with their rounding.
        let f = factor(&single);
        let own = 1.0 - f.norm_squared() / 3000.0;
        let rounding = single.kernel_error() - own;
        assert!(0.0 < rounding && rounding < 4.1 * f64::from(f32::EPSILON), "{rounding:e}");
        assert!((0..3000).all(|i| f.row(i).norm_squared() <= 1.0), "no row is longer than 1");
        let rest = (&f * f.transpose() - &kernel).abs();
        let some = rest.column(7).sum() / 3000.0;
        assert!(some < expected.sqrt(), "entries are off by no more than the residuals allow: {some}");
        // A planted fault: without the features of the last landmarks, the error differs.
        let kept = f.columns(0, landmarks - 1 - landmarks / 20);
        assert!((1.0 - kept.norm_squared() / 3000.0 - expected).abs() > 1e-4);
    }
    let errors = [1, 40, 200]
        .map(|r| Rbf::default().with_landmarks(r).features(&given, &Engine::cpu()).unwrap().kernel_error());
    assert!(errors[0] > errors[1] && errors[1] > errors[2]);
}

/// Returns the law of the first two pivots of randomly pivoted Cholesky.
fn law_of_pivots(kernel: &[Vec<f64>], uniform: bool) -> BTreeMap<Vec<usize>, f64> {
    let items = kernel.len();
    let mut law = BTreeMap::new();
    for first in 0..items {
        let residual = |j: usize| {
            if uniform { f64::from(u8::from(j != first)) } else { kernel[j][j] - kernel[first][j].powi(2) }
        };
        let total: f64 = (0..items).map(residual).sum();
        for second in (0..items).filter(|&second| second != first) {
            law.insert(vec![first, second], residual(second) / total / items as f64);
        }
    }
    law
}

#[test]
fn landmarks_have_the_law_of_random_pivots() {
    const DRAWS: u64 = 20_000;
    // Pairs of near points are rarely chosen together. In the second case all are near, and most proposals are
    // rejected.
    for points in [vec![0.0, 0.3, 1.0, 1.2, 3.0], vec![0.0, 0.01, 0.04, 0.05, 0.07]] {
        let given = Features::from_rows(5, 1, points).unwrap();
        let kernel = gaussian(&given, 1.0);
        let rbf = Rbf::new(Bandwidth::Exactly(1.0)).with_landmarks(2);
        let mut counts: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        for seed in 0..DRAWS {
            let found = rbf.with_seed(seed).features_in::<f64>(&given, &Engine::cpu()).unwrap();
            *counts.entry(found.landmarks().to_vec()).or_default() += 1.0;
        }
        let statistic = |law: &BTreeMap<Vec<usize>, f64>| {
            let term = |(pair, p): (&Vec<usize>, &f64)| {
                let expected = p * DRAWS as f64;
                (counts.get(pair).copied().unwrap_or_default() - expected).powi(2) / expected.max(1.0)
            };
            law.iter().map(term).sum::<f64>()
        };
        let (own, uniform) =
            (statistic(&law_of_pivots(&kernel, false)), statistic(&law_of_pivots(&kernel, true)));
        println!("χ² on 19 degrees of freedom: {own:.1}; of uniform pivots {uniform:.1}");
        // The quantile of 1 − 1e-4.
        assert!(own < 50.8 && uniform > 200.0);
    }
}

#[test]
fn far_rows_neither_stop_landmarks_nor_hide_distances() {
    // Five rows with a missing value, and a timestamp of 0 among timestamps in seconds.
    let near = features(40, 3, 9);
    let row = |item: usize| {
        let mut row = near.row(item);
        row.push(1.7e9 + item as f64);
        if item.is_multiple_of(8) {
            row[item / 8 % 3] = 1e8;
        }
        if item == 20 {
            row[3] = 0.0;
        }
        row
    };
    let given = Features::from_rows(40, 4, (0..40).flat_map(row).collect::<Vec<f64>>()).unwrap();
    let kernel = dense(&given, 2.0);
    for landmarks in [10, 39, 40] {
        let rbf = Rbf::new(Bandwidth::Exactly(2.0)).with_landmarks(landmarks);
        let found = rbf.features_in::<f64>(&given, &Engine::cpu()).unwrap();
        assert_eq!(found.landmarks().len(), landmarks);
        let expected = trace_error(&kernel, found.landmarks());
        assert!((found.kernel_error() - expected).abs() < 1e-11, "{landmarks}: {expected}");
    }
    let whole = Rbf::new(Bandwidth::Exactly(2.0)).features(&given, &Engine::cpu()).unwrap();
    let f = factor(&whole);
    assert!((&f * f.transpose() - &kernel).amax() < 1e-13 && whole.landmarks().is_empty());
}

#[test]
fn features_do_not_depend_on_threads() {
    let given = features(3000, 5, 3);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| factor(&Rbf::default().with_landmarks(50).features(&given, &Engine::cpu()).unwrap()))
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn a_watch_ends_the_set_up() {
    let stop = Arc::new(AtomicBool::new(true));
    let engine = Engine::cpu().watched(&Watch::default().stopped_by(&stop));
    let ended = Rbf::default().features(&features(50, 2, 8), &engine);
    assert_error!(ended, Error::Ended(Ended::Interrupted), ["interrupted"]);
    // The first report of rows stops the work within a pass.
    let (watch, reports) = stopped_when(|_| true);
    let engine = Engine::cpu().watched(&watch);
    let many = features(20_000, 2, 8);
    let ended = Rbf::default().with_landmarks(64).features(&many, &engine);
    assert_error!(ended, Error::Ended(Ended::Interrupted), ["interrupted"]);
    let most = 256 * rayon::current_num_threads() as u64;
    let rows = reports.lock().unwrap().iter().map(|report| report.steps).max().unwrap_or_default();
    assert!((1..=most).contains(&rows), "{rows}");
}

#[cfg(feature = "npy")]
#[test]
fn features_in_a_file_are_the_same() {
    let given = features(2500, 3, 4);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rbf.npy");
    let rbf = Rbf::default().with_landmarks(33);
    let (held, mapped) =
        (rbf.features(&given, &Engine::cpu()).unwrap(), rbf.to_npy(&given, &path, &Engine::cpu()).unwrap());
    assert_eq!(factor(&held), factor(&mapped));
    assert_eq!((held.landmarks(), held.bandwidth()), (mapped.landmarks(), mapped.bandwidth()));
    assert!((held.kernel_error() - mapped.kernel_error()).abs() < 1e-15);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    let missing = folder.path().join("none").join("rbf.npy");
    assert_error!(rbf.to_npy(&given, &missing, &Engine::cpu()), Error::Io { .. }, ["rbf.npy"]);
    // Interrupted work leaves no file.
    let stop = Arc::new(AtomicBool::new(true));
    let engine = Engine::cpu().watched(&Watch::default().stopped_by(&stop));
    let other = folder.path().join("other.npy");
    assert_error!(rbf.to_npy(&given, &other, &engine), Error::Ended(Ended::Interrupted), ["interrupted"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn far_from_the_origin_distances_keep_their_digits() {
    let near = features(40, 3, 6);
    // Multiples of 2⁻¹⁶, so that moving them rounds nothing.
    let grid: Vec<f64> =
        (0..40).flat_map(|item| near.row(item)).map(|x| (x * 65536.0).round() / 65536.0).collect();
    let kernel = |offset: f64, scale: f64| {
        let rows = grid.iter().map(|x| (x + offset) * scale).collect::<Vec<f64>>();
        let given = Features::from_rows(40, 3, rows).unwrap();
        let rbf = Rbf::new(Bandwidth::Exactly(1.5 * scale)).with_landmarks(40);
        let f = factor(&rbf.features_in::<f64>(&given, &Engine::cpu()).unwrap());
        &f * f.transpose()
    };
    let expected = kernel(0.0, 1.0);
    for (offset, scale) in [(1e6_f64.exp2().min(1_048_576.0), 1.0), (0.0, 1e-200_f64), (0.0, 1e200)] {
        assert!((kernel(offset, scale) - &expected).amax() < 1e-10, "offset {offset}, scale {scale}");
    }
}

#[test]
fn bandwidths_and_numbers_of_landmarks_are_checked() {
    let given = features(60, 2, 7);
    let median = Bandwidth::Median.of(&given).unwrap();
    let mut distances: Vec<f64> = (0..60)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| given.row(i).iter().zip(given.row(j)).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt())
        .collect();
    distances.sort_by(f64::total_cmp);
    let quantile = |q: usize| distances[distances.len() * q / 100];
    assert!((quantile(46)..quantile(54)).contains(&median));
    for h in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let rbf = Rbf::new(Bandwidth::Exactly(h)).features(&given, &Engine::cpu());
        assert_error!(rbf, Error::NotPositive { what: "the bandwidth", .. }, ["bandwidth"]);
    }
    let equal = Features::from_rows(50, 1, vec![3.0; 50]).unwrap();
    let refused = Rbf::default().features(&equal, &Engine::cpu());
    let problem = KernelProblem::NoMedianDistance { pairs: 4095, median: 0.0 };
    assert_error!(refused, Error::Kernel(ref found) if *found == problem, ["median distance", "set a bandwidth"]);
    let one = Features::from_rows(1, 1, vec![3.0]).unwrap();
    assert_error!(Rbf::default().features(&one, &Engine::cpu()), Error::Kernel(_), ["0 pairs"]);
    let single = Rbf::new(Bandwidth::Exactly(1.0)).features(&equal, &Engine::cpu()).unwrap();
    assert_eq!(single.features().dims(), 1);
    assert!(0.0 < single.kernel_error() && single.kernel_error() < 1e-13);
    let with = |landmarks: usize| Rbf::default().with_landmarks(landmarks).features(&given, &Engine::cpu());
    assert_error!(with(0), Error::Nothing { what: "the number of landmarks" }, ["landmarks"]);
    assert_error!(with(61), Error::SizeAboveItems { k: 61, items: 60 }, ["61", "60"]);
}
