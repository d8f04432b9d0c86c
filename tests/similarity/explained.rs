//! How well sets stand for all rows, by the definition.

use oracles::random::normals;
use partition_dpp::{Engine, Error, Features, Partition, Subset, similarity::Representation};

#[test]
fn sets_explain_their_span() {
    let (items, dims) = (40, 6);
    let features = Features::from_rows(items, dims, normals(items * dims, 4)).unwrap();
    let labels: Vec<usize> = (0..items).map(|item| item % 3).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let representation = Representation::new(&features, &partition, &Engine::cpu()).unwrap();
    for set in [vec![], vec![7], vec![0, 3, 9], vec![1, 2, 20, 39], (0..9).collect()] {
        // What Gram–Schmidt leaves of every row.
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
            for part in 0..3 {
                let expected = share(&|item| labels[item] == part);
                assert!((found.by_part[part] - expected).abs() < 1e-13, "{found:?}");
            }
        }
        assert!((representation.explained(&subset).unwrap() - by_rows.total).abs() < 1e-14);
    }
    let beyond = Subset::new(vec![50], 60).unwrap();
    assert!(matches!(representation.explained(&beyond), Err(Error::ItemOutOfRange { item: 50, items: 40 })));
}
