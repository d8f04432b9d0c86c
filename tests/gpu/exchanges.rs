//! Local search on devices that ends with, or continues after, exchanges between two parts.

use oracles::{
    engines::{self, Tested},
    on_every_engine,
    random::normals,
};
use partition_dpp::{
    Engine, Features, Partition, PartitionDpp, Quota,
    map::{LocalSearch, Restarts, Solution, Solver},
};

pub(crate) fn search(
    features: &Features,
    labels: &[usize],
    quota: &[usize],
    restarts: Restarts,
    engine: &Engine,
) -> Solution {
    let partition = Partition::from_labels(labels).unwrap();
    let quota = Quota::new(&partition, quota.to_vec()).unwrap();
    let dpp = PartitionDpp::new(features, &partition, &quota).unwrap();
    LocalSearch::default().with_restarts(restarts).solve(&dpp, engine).unwrap()
}

const FEW: Restarts = Restarts::Count(4);

/// Returns two axes per pair of parts: a part prefers the first axis, which its partner needs.
pub(crate) fn traps(parts: usize, each: usize) -> (Features, Vec<usize>) {
    let dims = 3 * parts / 2;
    let mut values = Vec::new();
    let mut labels = Vec::new();
    let noise = normals(parts * each * dims, 17);
    for part in 0..parts {
        for item in 0..each {
            let at = (part * each + item) * dims;
            let mut row: Vec<f64> = noise[at..at + dims].iter().map(|x| 0.02 * x).collect();
            let axis = 3 * (part / 2);
            let own: &[f64] = match (part % 2, item) {
                (0, 0) => &[1.0, 0.0, 0.9],
                (0, 1) => &[0.0, 1.3, 0.0],
                (1, 0) => &[0.0, 1.0, 0.9],
                (1, 1) => &[1.3, 0.0, 0.0],
                _ => &[],
            };
            row[axis..].iter_mut().zip(own).for_each(|(x, own)| *x += own);
            values.extend(row);
            labels.push(part);
        }
    }
    (Features::from_rows(parts * each, dims, values).unwrap(), labels)
}

fn same_exchanges(tested: &Tested) {
    for (parts, each) in [(2, 3), (4, 40), (6, 300)] {
        let (features, labels) = traps(parts, each);
        let quota = vec![1; parts];
        let expected = search(&features, &labels, &quota, FEW, &Engine::cpu());
        let found = search(&features, &labels, &quota, FEW, &tested.engine);
        assert!(expected.stats.exchanges > 0, "no trap");
        assert_eq!(found.subset, expected.subset, "{parts} parts of {each}");
        assert_eq!(found.stats.exchanges, expected.stats.exchanges);
        assert_eq!(found.stats.evaluations, expected.stats.evaluations);
        assert!((found.log_det - expected.log_det).abs() < 1e-9);
    }
}

fn same_sets(tested: &Tested) {
    for (items, dims, quota) in [(600, 10, &[3, 3][..]), (900, 20, &[5, 4, 6]), (900, 12, &[4, 4, 4])] {
        let features = Features::from_rows(items, dims, normals(items * dims, 23)).unwrap();
        let labels: Vec<usize> = (0..items).map(|item| (item + item / 5) % quota.len()).collect();
        let expected = search(&features, &labels, quota, FEW, &Engine::cpu());
        let found = search(&features, &labels, quota, FEW, &tested.engine);
        assert_eq!(found.subset, expected.subset, "{items}×{dims}");
        assert_eq!(found.stats.swaps, expected.stats.swaps, "{items}×{dims}");
        assert_eq!(found.stats.exchanges, expected.stats.exchanges, "{items}×{dims}");
    }
}

on_every_engine!(same_exchanges, same_sets);

#[test]
fn planted_faults_are_noticed() {
    engines::assert_noticed(&[
        (("entrants", "bound > least", "bound > 2.0 * least"), same_exchanges),
        (("entrants", "let range = ranges[tiles[4u * number]]", "let range = ranges[0]"), same_exchanges),
    ]);
}
