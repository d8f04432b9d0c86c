//! Lazy greedy gives the same sets and gains as plain greedy, to the last bit, at any scale and on any threads.
#![allow(clippy::cast_possible_wrap, reason = "small numbers")]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use oracles::{
    random::normals,
    solvers::{parts, solve},
    with_threads,
};
use partition_dpp::{
    Dpp, Features, KDpp, PartitionDpp,
    map::{Solution, Termination},
};

/// Returns the subset and gains for a quota over ten parts.
fn ten_parts(features: &Features, items: usize) -> Solution {
    let labels: Vec<usize> = (0..items).map(|i| (i + i / 10) % 10).collect();
    let (partition, quota) = parts(&labels, &[2, 1, 0, 1, 3, 1, 1, 1, 1, 1]);
    solve(&PartitionDpp::new(features, &partition, &quota).unwrap(), &format!("{items} items"))
}

#[test]
fn lazy_is_plain_at_every_edge() {
    // Blocks have 16 items, tasks 4096, chunks 8 values; rows of a matrix are All or listed.
    for (items, dims) in
        [(15, 12), (16, 15), (17, 16), (33, 17), (4095, 12), (4096, 64), (4097, 13), (9000, 65)]
    {
        let values = normals(items * dims, items as u64);
        let narrow: Vec<f32> = values.iter().map(|&x| x as f32).collect();
        let (f64s, f32s) =
            (Features::from_rows(items, dims, &values), Features::from_rows(items, dims, &narrow));
        for features in [f64s.unwrap(), f32s.unwrap()] {
            for k in [1, 2, dims / 2, dims.min(items)] {
                let k_dpp = KDpp::new(&features, k).unwrap();
                assert_eq!(solve(&k_dpp, &format!("{items}×{dims}, k = {k}")).subset.len(), k);
                let conditioned = k_dpp.excluding(&[0, items - 1]);
                if let Ok(conditioned) = conditioned {
                    solve(&conditioned, &format!("{items}×{dims}, k = {k}, conditioned"));
                }
            }
            solve(&Dpp::new(&features).unwrap(), &format!("{items}×{dims}"));
            if items > 33 {
                ten_parts(&features, items);
            }
        }
    }
}

#[test]
fn lazy_is_plain_on_awkward_rows() {
    let (items, dims) = (6000, 20);
    let change = |f: &dyn Fn(usize, &mut [f64])| {
        let mut values = normals(items * dims, 77);
        values.chunks_mut(dims).enumerate().for_each(|(i, row)| f(i, row));
        Features::from_rows(items, dims, values).unwrap()
    };
    let scale = |row: &mut [f64], factor: f64| row.iter_mut().for_each(|x| *x *= factor);
    let first = normals(dims, 77);
    let zoo: [(&str, Features); 7] = [
        ("zero rows", change(&|i, row| scale(row, if i % 3 == 0 { 0.0 } else { 1.0 }))),
        (
            "copies",
            change(&|i, row| {
                if i % 2 == 0 {
                    row.copy_from_slice(&first);
                }
            }),
        ),
        (
            "parallel rows",
            change(&|i, row| {
                if i % 11 > 0 {
                    row[1..].fill(0.0);
                }
            }),
        ),
        ("badly scaled rows", change(&|i, row| scale(row, 10.0_f64.powi((i * 37 % 120) as i32 - 60)))),
        ("badly scaled parts", change(&|i, row| scale(row, [1e150, 1e-150, 1.0][(i + i / 10) % 10 % 3]))),
        (
            "badly scaled columns",
            change(&|_, row| (0..dims).for_each(|j| row[j] *= 10.0_f64.powi(-(j as i32)))),
        ),
        ("nearly parallel", change(&|_, row| (1..dims).for_each(|j| row[j] = row[0] + 1e-7 * row[j]))),
    ];
    for (what, features) in &zoo {
        let solution = ten_parts(features, items);
        assert_eq!((solution.subset.len(), solution.termination), (12, Termination::QuotaMet), "{what}");
        assert!(solution.log_det.is_finite(), "{what}");
        for k in [5, dims - 1] {
            if let Ok(dpp) = KDpp::new(features, k) {
                assert_eq!(solve(&dpp, what).subset.len(), k, "{what}");
            }
        }
    }
}

#[cfg(feature = "npy")]
#[test]
fn lazy_is_plain_on_a_mapped_file() {
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
    let solution = solve(&KDpp::new(&features, dims).unwrap(), "graded axes");
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
        (ten_parts(&features, items), solve(&KDpp::new(&features, 9).unwrap(), "k-DPP"))
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
