//! Greedy sets at any scale, on any number of threads, and from a file.
#![allow(clippy::cast_possible_wrap, reason = "small numbers")]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use oracles::{
    random::normals,
    solvers::{greedy, parts},
    with_threads,
};
use partition_dpp::{Features, KDpp, PartitionDpp, map::Solution};

/// Returns the subset and gains for a quota over ten parts.
fn ten_parts(features: &Features, items: usize) -> Solution {
    let labels: Vec<usize> = (0..items).map(|i| (i + i / 10) % 10).collect();
    let (partition, quota) = parts(&labels, &[2, 1, 0, 1, 3, 1, 1, 1, 1, 1]);
    greedy(&PartitionDpp::new(features, &partition, &quota).unwrap())
}

#[cfg(feature = "npy")]
#[test]
fn a_mapped_file_has_the_same_set() {
    use oracles::npy;

    let (items, dims) = (5000, 24);
    let values = normals(items * dims, 41);
    let bytes = npy::npy("<f8", false, &[items as u64, dims as u64], &npy::f64s(&values));
    let file = npy::file(&bytes);
    let mapped = ten_parts(&Features::open_npy(file.path()).unwrap(), items);
    assert_eq!(mapped, ten_parts(&Features::from_rows(items, dims, &values).unwrap(), items));
}

#[test]
fn badly_scaled_rows_are_picked_by_their_gains() {
    // Gains of 1e0, 1e-40, 1e-80 …: each one is far below the rounding of the previous ones.
    let dims = 8;
    let mut values = normals(800 * dims, 13);
    for (i, row) in values.chunks_mut(dims).enumerate() {
        let axis = i % dims;
        (0..dims).for_each(|j| row[j] *= if j == axis { 10.0_f64.powi(-20 * axis as i32) } else { 0.0 });
    }
    let features = Features::from_rows(800, dims, &values).unwrap();
    let solution = greedy(&KDpp::new(&features, dims).unwrap());
    let largest = |axis: usize| {
        let entry = |i: &usize| values[i * dims + axis].abs();
        (axis..800).step_by(dims).max_by(|i, j| entry(i).total_cmp(&entry(j))).unwrap()
    };
    let mut expected: Vec<usize> = (0..dims).map(largest).collect();
    let log_det: f64 = expected.iter().enumerate().map(|(j, i)| 2.0 * values[i * dims + j].abs().ln()).sum();
    expected.sort_unstable();
    assert_eq!(solution.subset.as_slice(), expected);
    assert_abs_diff_eq!(solution.log_det, log_det, epsilon = 1e-9);
}

#[test]
fn scale_does_not_matter_and_threads_neither() {
    let (items, dims) = (20_000, 12);
    let values = normals(items * dims, 3);
    let at = |scale: f64| {
        let values: Vec<f64> = values.iter().map(|x| x * scale).collect();
        let features = Features::from_rows(items, dims, values).unwrap();
        (ten_parts(&features, items), greedy(&KDpp::new(&features, 9).unwrap()))
    };
    let one = with_threads(1, || at(1.0));
    for threads in [2, 4] {
        assert_eq!(one, with_threads(threads, || at(1.0)), "{threads} threads");
    }
    for scale in [2.0_f64.powi(-490), 1e-150, 3.0, 1e150] {
        let (quota, k) = at(scale);
        assert_eq!((&quota.subset, &k.subset), (&one.0.subset, &one.1.subset), "{scale:e}");
        let shift = quota.log_det - one.0.log_det;
        assert!(abs_diff_eq!(shift, 24.0 * scale.ln(), epsilon = 1e-9), "{scale:e}: {shift}");
    }
}
