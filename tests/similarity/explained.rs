//! How well sets represent all rows, by the definition.

use oracles::random::normals;
use partition_dpp::{
    Engine, Error, Features, Partition, Subset,
    map::KernelModel,
    similarity::{Bandwidth, DotKernel, KernelFunction, Rbf, RbfKernel, Representation},
};

#[test]
fn sets_explain_their_span() {
    let (items, dims) = (40, 6);
    let features = Features::from_rows(items, dims, normals(items * dims, 4)).unwrap();
    // The last two parts have fewer rows than dimensions.
    let part = |item| if item >= 32 { 2 + (item / 2) % 2 } else { item % 2 };
    let labels: Vec<usize> = (0..items).map(part).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let representation = Representation::new(&features, &partition, &Engine::cpu()).unwrap();
    for set in [vec![], vec![7], vec![0, 3, 9], vec![1, 2, 20, 39], (0..9).collect()] {
        // The Gram–Schmidt residual of every row.
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let left = |basis: &[Vec<f64>], item: usize| {
            let mut row = features.row(item);
            for direction in basis.iter().chain(basis) {
                let along = dot(&row, direction);
                row.iter_mut().zip(direction).for_each(|(x, q)| *x -= along * q);
            }
            row
        };
        for &item in set.iter().take(dims) {
            let row = left(&basis, item);
            let length = dot(&row, &row).sqrt();
            basis.push(row.into_iter().map(|x| x / length).collect());
        }
        let share = |of: &dyn Fn(usize) -> bool| {
            let items = || (0..items).filter(|&item| of(item));
            let square = |row: Vec<f64>| dot(&row, &row);
            let whole: f64 = items().map(|item| square(features.row(item))).sum();
            1.0 - items().map(|item| square(left(&basis, item))).sum::<f64>() / whole
        };
        let subset = Subset::new(set, items).unwrap();
        let by_grams = representation.explained_by_part(&subset).unwrap();
        let by_rows = features.explained(&subset, &partition, &Engine::cpu()).unwrap();
        for found in [&by_grams, &by_rows] {
            assert!((found.total - share(&|_| true)).abs() < 1e-13, "{found:?}");
            for part in 0..4 {
                let expected = share(&|item| labels[item] == part);
                assert!((found.by_part[part] - expected).abs() < 1e-13, "{found:?}");
            }
        }
        assert!((representation.explained(&subset).unwrap() - by_rows.total).abs() < 1e-14);
    }
    let beyond = Subset::new(vec![50], 60).unwrap();
    assert!(matches!(representation.explained(&beyond), Err(Error::ItemOutOfRange { item: 50, items: 40 })));
}

/// Kernels computed from pairs, against features of the same kernel.
#[test]
fn kernels_of_pairs_explain_as_much() {
    let (items, engine) = (1200, Engine::cpu());
    let features = Features::from_rows(items, 4, normals(items * 4, 5)).unwrap();
    let partition = Partition::of((0..items).map(|item| item % 3)).unwrap();
    let few = features.restricted_to(&(0..300).collect::<Vec<_>>()).unwrap();
    let rbf = Rbf::new(Bandwidth::Exactly(1.5)).features(&few, &engine).unwrap();
    let pairs = RbfKernel::new(&few, Bandwidth::Exactly(1.5)).unwrap();
    let few_parts = Partition::of((0..300).map(|item| item / 150)).unwrap();
    let dot = DotKernel::new(&features);
    let cases: [(&dyn KernelFunction, &Features, &Partition, &[usize]); 3] = [
        (&dot, &features, &partition, &[0, 600, 1199]),
        (&pairs, rbf.features(), &few_parts, &[1, 2, 3, 50, 299]),
        // A dependent set that is larger than the rank.
        (&dot, &features, &partition, &[0, 1, 2, 3, 4, 5, 6]),
    ];
    for (kernel, features, partition, set) in cases {
        let subset = Subset::new(set.to_vec(), features.items()).unwrap();
        let model = KernelModel::of_any_size(kernel).unwrap();
        let found = model.explained(&subset, partition, &engine).unwrap();
        let expected = features.explained(&subset, partition, &engine).unwrap();
        let pairs = found.by_part.iter().zip(&expected.by_part).chain([(&found.total, &expected.total)]);
        pairs.for_each(|(found, expected)| assert!((found - expected).abs() < 1e-9, "{found}, {expected}"));
    }
    let model = KernelModel::of_any_size(&dot).unwrap();
    let set = Subset::new(vec![3], items).unwrap();
    assert!(matches!(model.explained(&set, &few_parts, &engine), Err(Error::LabelCount { .. })));
    let beyond = Subset::new(vec![items], items + 1).unwrap();
    assert!(matches!(model.explained(&beyond, &partition, &engine), Err(Error::ItemOutOfRange { .. })));
}

#[test]
fn distances_are_to_the_nearest() {
    let items = 1300;
    let engine = Engine::cpu();
    for scale in [1.0, 1e-200, 1e200] {
        let values: Vec<f64> = normals(items * 3, 6).into_iter().map(|value| scale * value).collect();
        let features = Features::from_rows(items, 3, values).unwrap();
        let set = [4, 77, 1299];
        let distance = |i: usize, j: usize| {
            let pairs = features.row(i).into_iter().zip(features.row(j));
            pairs.map(|(x, y)| ((x - y) / scale).powi(2)).sum::<f64>().sqrt()
        };
        let nearest = |i: usize| set.iter().map(|&j| distance(i, j)).fold(f64::INFINITY, f64::min);
        let expected = (0..items).map(nearest).sum::<f64>() / items as f64;
        let found = features.mean_distance_to(&Subset::new(set.to_vec(), items).unwrap(), &engine).unwrap();
        assert!((found / scale - expected).abs() < 1e-12 * expected, "{found}, {expected}");
    }
    let features = Features::from_rows(2, 1, vec![0.0, 1.0]).unwrap();
    let none = Subset::new(vec![], 2).unwrap();
    assert!(matches!(features.mean_distance_to(&none, &engine), Err(Error::Nothing { .. })));
    let beyond = Subset::new(vec![2], 3).unwrap();
    assert!(matches!(features.mean_distance_to(&beyond, &engine), Err(Error::ItemOutOfRange { .. })));
}
