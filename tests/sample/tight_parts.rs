//! Parts whose rank equals their quota, against enumeration.

use oracles::{
    conditions::Condition,
    oracle::{Determinants, Law},
    stats,
};
use partition_dpp::{
    Engine, Features, Method, Partition, PartitionDpp, Quota, Sampler, Subset, sample::Algorithm,
};

const DRAWS: u64 = 20_000;

fn model(rows: &[Vec<f64>], labels: &[usize], quota: &[usize]) -> PartitionDpp {
    let features = Features::from_rows(rows.len(), rows[0].len(), rows.concat()).unwrap();
    let partition = Partition::from_labels(labels).unwrap();
    PartitionDpp::new(&features, &partition, &Quota::new(&partition, quota).unwrap()).unwrap()
}

fn p_value(sampler: &Sampler, law: &Law) -> f64 {
    let samples = sampler.sample_many(DRAWS, 5);
    stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), law)
}

/// Returns four rows in a plane, four in general position, three along a line, and four more: the first and the third
/// part
/// are tight.
fn planes() -> (Vec<Vec<f64>>, Vec<usize>) {
    let (one, other) = ([1.0, 2.0, 0.0, -1.0, 3.0, 0.0], [0.0, 1.0, 1.0, 2.0, 0.0, 1.0]);
    let combine = |a: f64, b: f64| one.iter().zip(other).map(|(x, y)| a * x + b * y).collect::<Vec<f64>>();
    let mut rows = vec![combine(1.0, 0.0), combine(2.0, 1.0), combine(1.0, -3.0), combine(0.0, 2.0)];
    let free = |seed: i32| -> Vec<f64> {
        (0..6).map(|j| f64::from((7 * seed * (j + 3) + j * j) % 11 - 5)).collect()
    };
    rows.extend((1..5).map(free));
    rows.extend([1.0, -2.0, 3.0].map(|size| free(5).into_iter().map(|value| size * value).collect()));
    rows.extend((6..10).map(free));
    let labels = [vec![0; 4], vec![1; 4], vec![2; 3], vec![3; 4]].concat();
    (rows, labels)
}

#[test]
fn tight_parts_are_drawn_by_themselves() {
    let (rows, labels) = planes();
    let oracle = Determinants::of_features(rows.clone());
    for quota in [[2, 1, 1, 2], [2, 0, 1, 1], [1, 1, 1, 2], [2, 2, 1, 0]] {
        let (law, _) = oracle.partition_dpp(&labels, &quota);
        let dpp = model(&rows, &labels, &quota);
        for method in [Method::Auto, Method::Rejection, Method::Interpolation] {
            let sampler = dpp.sampler(method, &Engine::cpu()).unwrap();
            assert!(sampler.law_error() < 1e-10, "{}", sampler.law_error());
            let p = p_value(&sampler, &law);
            assert!(p > stats::ALPHA / 100.0, "{quota:?} by {method:?}: {p:e}");
        }
    }
}

#[test]
fn conditions_leave_parts_tight_or_make_them_so() {
    let (rows, labels) = planes();
    let (law, _) = Determinants::of_features(rows.clone()).partition_dpp(&labels, &[2, 1, 1, 2]);
    for condition in [
        Condition::new(&[1], &[]),
        Condition::new(&[5, 12], &[0]),
        Condition::new(&[9], &[2, 11]),
        Condition::new(&[], &[8, 9]),
    ] {
        let dpp = model(&rows, &labels, &[2, 1, 1, 2]);
        let dpp = dpp.including(&condition.included).unwrap().excluding(&condition.excluded).unwrap();
        let p = p_value(&dpp.sampler(Method::Auto, &Engine::cpu()).unwrap(), &condition.apply(&law).0);
        assert!(p > stats::ALPHA / 100.0, "{condition:?}: {p:e}");
    }
}

/// Part l has rows along axes l and l + 1, and the last part along axis 0 only: one part after another becomes tight.
#[test]
fn one_tight_part_makes_the_next() {
    let parts = 5;
    let axis =
        |at: usize, size: f64| (0..parts).map(|j| if j == at { size } else { 0.0 }).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = (0..parts)
        .flat_map(|l| {
            let second = if l + 1 < parts { l + 1 } else { 0 };
            let first = if l + 1 < parts { l } else { 0 };
            [axis(first, 3.0), axis(second, 1.0), axis(second, 2.0)]
        })
        .collect();
    let labels: Vec<usize> = (0..3 * parts).map(|item| item / 3).collect();
    let (law, _) = Determinants::of_features(rows.clone()).partition_dpp(&labels, &vec![1; parts]);
    let sampler = model(&rows, &labels, &vec![1; parts]).sampler(Method::Auto, &Engine::cpu()).unwrap();
    assert_eq!((sampler.algorithm(), sampler.bound()), (Algorithm::Spectral, None));
    assert!(sampler.acceptance_bound() >= 1.0);
    assert!(p_value(&sampler, &law) > stats::ALPHA / 100.0);
}

/// Ranks are decided exactly: parts that are nearly tight are not tight.
#[test]
fn nearly_tight_is_not_tight() {
    let rows = [vec![1.0, 0.0, 0.0], vec![2.0, 1e-9, 0.0], vec![0.0, 1.0, 1.0], vec![0.0, 1.0, -1.0]];
    let near = model(&rows, &[0, 0, 1, 1], &[1, 1]).sampler(Method::Rejection, &Engine::cpu()).unwrap();
    assert_eq!(near.algorithm(), Algorithm::Rejection);
    let rows = [vec![1.0, 0.0, 0.0], vec![2.0, 0.0, 0.0], vec![0.0, 1.0, 1.0], vec![0.0, 1.0, -1.0]];
    let tight = model(&rows, &[0, 0, 1, 1], &[1, 1]).sampler(Method::Rejection, &Engine::cpu()).unwrap();
    // Nearly dependent rows span the part like others, but are not taken for its basis.
    let near = [
        vec![1.0, 0.0, 0.0],
        vec![1.0, 1e-10, 0.0],
        vec![0.0, 1.0, 0.0],
        vec![1.0, 1.0, 2.0],
        vec![2.0, 1.0, -1.0],
    ];
    let sampler = model(&near, &[0, 0, 0, 1, 1], &[2, 1]).sampler(Method::Auto, &Engine::cpu()).unwrap();
    assert!(sampler.law_error() < 1e-12, "{}", sampler.law_error());
    // One part is left: a single item is drawn by its length.
    assert!(tight.acceptance_bound() > 0.999, "{}", tight.acceptance_bound());
}
