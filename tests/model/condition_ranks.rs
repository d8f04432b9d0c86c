//! Conditions on parts that share subspaces: ranks decide which are refused.

use oracles::{
    assert_error, conditioned,
    conditions::Condition,
    oracle::{self, Determinants},
    random::normals,
};
use partition_dpp::{Engine, Error, Features, Partition, PartitionDpp, Quota};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const ITEMS: usize = 11;
const DIMS: usize = 6;
const PARTS: usize = 3;

/// Returns parts whose rows lie in the span of one to four of five directions, and a quota of one or two per part.
fn random_subspaces(seed: u64) -> (Vec<Vec<f64>>, Vec<usize>, Vec<usize>) {
    let mut rng = StdRng::seed_from_u64(seed);
    let directions = normals(5 * DIMS, seed + 1000);
    let axes = |rng: &mut StdRng| -> Vec<usize> {
        (0..rng.random_range(1..=4)).map(|_| rng.random_range(0..5)).collect()
    };
    let spaces: Vec<Vec<usize>> = (0..PARTS).map(|_| axes(&mut rng)).collect();
    let labels: Vec<usize> = (0..ITEMS).map(|item| item % PARTS).collect();
    let row = |&label: &usize| {
        let mut row = vec![0.0; DIMS];
        for &axis in &spaces[label] {
            let along: f64 = rng.random_range(-1.0..1.0);
            row.iter_mut().zip(&directions[axis * DIMS..]).for_each(|(x, d)| *x += along * d);
        }
        row
    };
    let rows = labels.iter().map(row).collect();
    let quota = (0..PARTS).map(|_| rng.random_range(1..=2)).collect();
    (rows, labels, quota)
}

/// Returns conditions with one or two items included, and one or none excluded.
fn conditions() -> impl Iterator<Item = Condition> {
    let pairs = (0..ITEMS).flat_map(|i| (i..ITEMS).map(move |j| [i, j]));
    pairs.flat_map(|pair| {
        let included = if pair[0] == pair[1] { &pair[..1] } else { &pair };
        let free = (0..ITEMS).step_by(3).filter(move |item| !pair.contains(item));
        let excluded = free.map(|item| vec![item]).chain([Vec::new()]);
        excluded.map(|excluded| Condition::new(included, &excluded)).collect::<Vec<_>>()
    })
}

#[test]
fn a_condition_is_refused_where_ranks_do_not_allow_it() {
    let (mut infeasible, mut refused, mut met, mut worst) = (0, 0, 0, 0.0);
    for seed in 0..150 {
        let (rows, labels, counts) = random_subspaces(seed);
        let features = Features::from_rows(ITEMS, DIMS, rows.concat()).unwrap();
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = Quota::new(&partition, &counts).unwrap();
        let (law, log_z) = Determinants::of_features(rows).partition_dpp(&labels, &counts);
        let free = PartitionDpp::new(&features, &partition, &quota);
        assert_eq!(free.is_ok(), !law.is_empty(), "seed {seed}: {:?}", free.err());
        let Ok(free) = free else {
            infeasible += 1;
            continue;
        };
        for condition in conditions() {
            let what = format!("seed {seed}, {condition:?}");
            let possible = law.keys().any(|set| condition.allows(set));
            let given = conditioned!(free.clone(), condition);
            assert_eq!(given.is_ok(), possible, "{what}: {:?}", given.err());
            let Ok(given) = given else {
                refused += 1;
                continue;
            };
            met += 1;
            if condition.excluded != [0] {
                continue;
            }
            let (law, log_share) = condition.apply(&law);
            let inference = given.inference(&Engine::cpu()).unwrap();
            let log_z_off = inference.log_partition_function().value - log_z - log_share;
            let found = inference.inclusion_probabilities().unwrap().value;
            let expected = oracle::marginals(&law, ITEMS);
            let off = found.iter().zip(&expected).map(|(f, e)| (f - e).abs()).fold(log_z_off.abs(), f64::max);
            assert!(off <= 1e-10, "{what}: off by {off:e}");
            worst = f64::max(worst, off);
        }
    }
    println!("{infeasible} quotas and {refused} conditions refused, {met} met; off by {worst:.1e}");
    assert!(infeasible > 10 && refused > 1000 && met > 1000);
}

#[test]
fn an_infeasible_condition_names_the_parts() {
    // Items 0 to 3 share a plane. With item 3 included, parts x and y share a line.
    let rows = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]];
    let features = Features::from_rows(5, 3, rows.concat()).unwrap();
    let partition = Partition::from_labels(&["x", "x", "y", "z", "z"]).unwrap();
    let quota = Quota::each(&partition, 1).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    assert_error!(
        dpp.including(&[3]),
        Error::InfeasibleBeyondIncluded { ref parts, rank: 1, quota: 2 } if parts == &["x", "y"],
        ["beyond the included items parts {x, y} together have rank 1", "2 more items"]
    );
}
