//! Far more parts than dimensions.

use oracles::{assert_error, oracle::dot, random::normals};
use partition_dpp::{
    Engine, Error, Features, Method, Partition, PartitionDpp, Quota,
    map::{Greedy, Solver},
};

const PARTS: usize = 1200;
const DIMS: usize = 6;

fn parts_of_two() -> (Vec<f64>, Features, Partition) {
    let rows = normals(2 * PARTS * DIMS, 5);
    let features = Features::from_rows(2 * PARTS, DIMS, rows.clone()).unwrap();
    let partition = Partition::from_labels(&(0..2 * PARTS).map(|i| i / 2).collect::<Vec<_>>()).unwrap();
    (rows, features, partition)
}

/// Returns ln of the sum of det(K_S) over pairs of items from two parts: ½ (tr² K − tr K²) minus the pairs within a
/// part.
fn log_z_of_pairs(rows: &[f64]) -> f64 {
    let rows: Vec<&[f64]> = rows.chunks_exact(DIMS).collect();
    let trace: f64 = rows.iter().map(|row| dot(row, row)).sum();
    let gram = |i: usize, j: usize| rows.iter().map(|row| row[i] * row[j]).sum::<f64>();
    let square: f64 =
        (0..DIMS).flat_map(|i| (0..DIMS).map(move |j| (i, j))).map(|(i, j)| gram(i, j).powi(2)).sum();
    let within: f64 = rows
        .chunks_exact(2)
        .map(|pair| dot(pair[0], pair[0]) * dot(pair[1], pair[1]) - dot(pair[0], pair[1]).powi(2))
        .sum();
    (0.5 * (trace * trace - square) - within).ln()
}

#[test]
fn thousands_of_parts_are_answered() {
    let (rows, features, partition) = parts_of_two();
    let quota = Quota::new(&partition, vec![..=1; PARTS]).unwrap().with_total(2).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.sampler(Method::Auto, &Engine::cpu()).unwrap();
    let samples = sampler.sample_many(200, 1);
    assert!(samples.subsets().iter().all(|set| quota.allows(&set.part_counts(&partition))));
    assert!(sampler.predicted_proposals() < 10.0, "{}", sampler.predicted_proposals());
    let weighted = dpp.importance_sampler(&Engine::cpu()).unwrap();
    let (found, exact) = (weighted.sample_many(2000, 1).statistics().log_z, log_z_of_pairs(&rows));
    let off = (found.value - exact).abs();
    assert!(off < 5.0 * found.standard_error + 1e-9, "{} ± {}, {exact}", found.value, found.standard_error);
    assert!(weighted.log_upper_bound() >= exact - 1e-9);
    let best = Greedy::default().solve(&dpp, &Engine::cpu()).unwrap();
    assert!(quota.allows(&best.subset.part_counts(&partition)));
}

/// Costs beyond f64 are refused with a clear message.
#[test]
fn costs_beyond_f64_are_refused_in_words() {
    let (_, features, partition) = parts_of_two();
    let quota = Quota::new(&partition, vec![..=1; PARTS]).unwrap();
    for quota in [quota.clone(), quota.with_total(3).unwrap()] {
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let refused = dpp.inference(&Engine::cpu()).map(|_| ());
        assert_error!(
            refused,
            Error::NodeBudget { nodes: f64::INFINITY, .. },
            ["needs more than 1e300 nodes"]
        );
    }
    let quota = Quota::each(&partition, 1).unwrap();
    let refused = PartitionDpp::new(&features, &partition, &quota).map(|_| ());
    assert_error!(refused, Error::SizeAboveRank { k: PARTS, rank: DIMS }, ["k = 1200 is above"]);
}
