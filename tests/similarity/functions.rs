//! Kernel functions against their definitions.

use oracles::{assert_error, oracle::dot};
use partition_dpp::{
    Error, Features,
    similarity::{Bandwidth, DotKernel, KernelFn, KernelFunction, RbfKernel},
};

use super::{features, gaussian};
/// Returns all entries, column by column, and the diagonal.
fn entries(kernel: &dyn KernelFunction) -> (Vec<Vec<f64>>, Vec<f64>) {
    let all: Vec<u32> = (0..kernel.items() as u32).collect();
    let column = |item: usize| {
        let mut column = vec![0.0; all.len()];
        kernel.column(item, &all, &mut column);
        column
    };
    let mut diagonal = vec![0.0; all.len()];
    kernel.diagonal(&mut diagonal);
    ((0..all.len()).map(column).collect(), diagonal)
}

fn assert_same(kernel: &dyn KernelFunction, expected: &[Vec<f64>], tolerance: f64) {
    let (found, diagonal) = entries(kernel);
    for i in 0..expected.len() {
        assert!((diagonal[i] - expected[i][i]).abs() <= tolerance, "{kernel:?}: diagonal of {i}");
        for j in 0..expected.len() {
            let off = (found[i][j] - expected[i][j]).abs();
            assert!(off <= tolerance, "{kernel:?} at {i}, {j}: off by {off}");
        }
    }
}

#[test]
fn ready_made_kernels_are_what_they_say() {
    for dims in [1, 3, 8, 13, 64] {
        let given = features(37, dims, dims as u64);
        let rows: Vec<Vec<f64>> = (0..37).map(|item| given.row(item)).collect();
        let mut inner: Vec<Vec<f64>> =
            rows.iter().map(|x| rows.iter().map(|y| dot(x, y)).collect()).collect();
        assert_same(&DotKernel::new(&given), &inner, 1e-12);
        let of_rows = KernelFn::new(37, |i, j| dot(&rows[i], &rows[j])).unwrap();
        assert_same(&of_rows, &inner, 1e-13);
        (0..37).for_each(|i| inner[i][i] += 0.25);
        assert_same(&DotKernel::new(&given).with_ridge(0.25).unwrap(), &inner, 1e-12);
        assert_same(&of_rows.with_ridge(0.25).unwrap(), &inner, 1e-12);
        for bandwidth in [0.1, 1.0, 30.0] {
            let kernel = RbfKernel::new(&given, Bandwidth::Exactly(bandwidth)).unwrap();
            assert!((kernel.bandwidth() - bandwidth).abs() <= 0.0);
            assert_same(&kernel, &gaussian(&given, bandwidth), 1e-13 * (1.0 + 1.0 / (bandwidth * bandwidth)));
        }
    }
}

#[test]
fn halves_and_singles_are_read_as_they_are() {
    let given = features(20, 11, 9);
    let single: Vec<f32> = (0..20).flat_map(|item| given.row(item)).map(|x| x as f32).collect();
    let single = Features::from_rows(20, 11, single).unwrap();
    let kernel = RbfKernel::new(&single, Bandwidth::Median).unwrap();
    assert_same(&kernel, &gaussian(&single, kernel.bandwidth()), 1e-13);
}

#[test]
fn equal_rows_are_at_distance_zero() {
    let row = features(1, 29, 10).row(0);
    for factor in [1.0, 1e100, 1e-100] {
        let rows: Vec<f64> =
            [&row[..], &row[..], &vec![0.0; 29]].concat().iter().map(|x| x * factor).collect();
        let given = Features::from_rows(3, 29, rows).unwrap();
        for bandwidth in [1e-300, 1e-9, 1.0, 1e300] {
            let (found, _) = entries(&RbfKernel::new(&given, Bandwidth::Exactly(bandwidth)).unwrap());
            assert!(
                (found[0][1] - 1.0).abs() <= 0.0,
                "factor {factor}, bandwidth {bandwidth}: {}",
                found[0][1]
            );
            assert!(found.iter().flatten().all(|x| (0.0..=1.0).contains(x)));
        }
    }
}

#[test]
fn ridges_must_be_positive() {
    let given = features(3, 2, 1);
    for delta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = DotKernel::new(&given).with_ridge(delta);
        assert_error!(refused, Error::NotPositive { what: "the ridge", .. }, ["ridge"]);
    }
    assert_error!(KernelFn::new(0, |_, _| 1.0), Error::Empty { what: "the kernel" }, ["kernel"]);
}
