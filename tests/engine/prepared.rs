//! One pass over the rows answers many requests.

use std::collections::BTreeMap;

use approx::assert_abs_diff_eq;
use oracles::{
    Constraint, Problem, assert_error,
    checked::draws::p_values,
    exact::{Set, set_of},
    random::normals,
    stats,
    watches::reported,
};
use partition_dpp::{
    Engine, Error, Features, KDpp, Method, Partition, PartitionDpp, Projection, Quota, RidgeDpp, Sampler,
    SamplerOptions, watch::Step,
};

const ITEMS: usize = 12;
const DIMS: usize = 5;

fn data() -> (Features, Partition) {
    let features = Features::from_rows(ITEMS, DIMS, normals(ITEMS * DIMS, 3)).unwrap();
    (features, Partition::from_labels(&labels()).unwrap())
}

fn labels() -> Vec<usize> {
    (0..ITEMS).map(|item| item * item % 3).collect()
}

fn problem(constraint: Constraint, include: &[usize], exclude: &[usize]) -> Problem {
    let rows = normals(ITEMS * DIMS, 3).chunks(DIMS).map(<[f64]>::to_vec).collect();
    let (include, exclude) = (include.to_vec(), exclude.to_vec());
    Problem { include, exclude, ..Problem::new(rows, labels(), constraint) }
}

fn assert_law(sampler: &Sampler, problem: &Problem) {
    let law = problem.minors().law(|set| problem.allows(set)).unwrap();
    let mut counts: BTreeMap<Set, usize> = BTreeMap::new();
    let draws = 20_000;
    for subset in sampler.sample_many(draws, 5).subsets() {
        *counts.entry(set_of(subset.iter())).or_default() += 1;
    }
    let (p, rare) = p_values(&counts, &law, draws as usize, 1e-9);
    assert!(p.unwrap() > stats::ALPHA / 100.0 && rare > 1e-9, "p = {p:?}, {rare:e}\n{problem}");
}

/// Uses trials by leverage, whose table comes from bounds.
fn by_leverage() -> SamplerOptions {
    SamplerOptions::default().with_method(Method::Rejection).with_projection(Projection::Leverage)
}

#[test]
fn other_questions_without_another_pass() {
    let (features, partition) = data();
    let (watch, reports) = reported();
    let rows = || {
        let reports = reports.lock().unwrap();
        reports
            .iter()
            .filter(|report| report.step == Step::Row)
            .map(|report| report.steps)
            .max()
            .unwrap_or_default()
    };
    let engine = Engine::cpu().watched(&watch).prepared(&features, &partition).unwrap();
    assert_eq!(rows(), 2 * ITEMS as u64);
    reports.lock().unwrap().clear();
    for (constraint, include, exclude) in [
        (Constraint::Quota(vec![1, 2]), vec![], vec![]),
        (Constraint::Quota(vec![2, 1]), vec![], vec![4]),
        (Constraint::Quota(vec![2, 2]), vec![1], vec![0]),
        (Constraint::Ranges(vec![0..=2, 1..=3], None), vec![], vec![7, 9]),
    ] {
        let problem = problem(constraint.clone(), &include, &exclude);
        let quota = match &constraint {
            Constraint::Quota(counts) => Quota::new(&partition, counts),
            Constraint::Ranges(ranges, _) => Quota::new(&partition, ranges),
            other => panic!("{other:?}"),
        };
        let dpp = PartitionDpp::new(&features, &partition, &quota.unwrap()).unwrap();
        let dpp = dpp.including(&include).unwrap().excluding(&exclude).unwrap();
        let sampler = dpp.sampler(by_leverage(), &engine).unwrap();
        let log_z = |engine: &Engine| dpp.log_partition_function(engine).map(|log_z| log_z.value).unwrap();
        assert_abs_diff_eq!(log_z(&engine), log_z(&Engine::cpu()), epsilon = 1e-11);
        assert_eq!(rows(), 0, "{problem}");
        assert_law(&sampler, &problem);
    }
    let of_size = KDpp::new(&features, 3).unwrap().excluding(&[2]).unwrap();
    assert_law(&of_size.sampler(by_leverage(), &engine).unwrap(), &problem(Constraint::Size(3), &[], &[2]));
    let quota = Quota::new(&partition, [3, 4]).unwrap();
    let ridge = RidgeDpp::new(&features, 0.3, &partition, &quota).unwrap();
    let with_ridge = problem(Constraint::Quota(vec![3, 4]), &[], &[]).with_ridge(0.3);
    assert_law(&ridge.sampler(by_leverage(), &engine).unwrap(), &with_ridge);
    assert_eq!(rows(), 0);
}

/// Weights of whole parts only scale Gram matrices; other weights give different matrices.
#[test]
fn scores_of_parts_are_known() {
    let (features, partition) = data();
    let engine = Engine::cpu().prepared(&features, &partition).unwrap();
    let of_parts: Vec<f64> = (0..ITEMS).map(|item| [0.7, -1.1][partition.part_of(item)]).collect();
    let of_items: Vec<f64> = (0..ITEMS).map(|item| (item as f64).sin()).collect();
    let quota = Quota::new(&partition, [0..=2, 0..=3]).unwrap();
    for logs in [of_parts, of_items] {
        let weighted = features.with_log_quality(&logs).unwrap();
        let dpp = PartitionDpp::new(&weighted, &partition, &quota).unwrap();
        let mut problem = problem(Constraint::Ranges(vec![0..=2, 0..=3], None), &[], &[]);
        problem.log_weights = logs;
        assert_law(&dpp.sampler(by_leverage(), &engine).unwrap(), &problem);
        let log_z = |engine: &Engine| dpp.log_partition_function(engine).map(|log_z| log_z.value).unwrap();
        assert_abs_diff_eq!(log_z(&engine), log_z(&Engine::cpu()), epsilon = 1e-11);
    }
}

#[test]
fn rows_that_come_later() {
    let (features, partition) = data();
    let some: Vec<u32> = (0..8).collect();
    let part_of =
        |items: &[u32]| -> Vec<usize> { items.iter().map(|&item| labels()[item as usize]).collect() };
    let first = Features::from_rows(8, DIMS, normals(ITEMS * DIMS, 3)[..8 * DIMS].to_vec()).unwrap();
    let first_parts = Partition::from_labels(&part_of(&some)).unwrap();
    let quota = Quota::new(&partition, [2, 1]).unwrap();
    let problem = problem(Constraint::Quota(vec![2, 1]), &[], &[]);
    let (watch, reports) = reported();
    let prepared = |features: &Features, partition: &Partition| {
        let known = Engine::cpu().prepared(&first, &first_parts).unwrap();
        known.watched(&watch).prepared(features, partition).unwrap()
    };
    let read = || reports.lock().unwrap().drain(..).map(|report| report.steps).max();
    let engine = prepared(&features, &partition);
    assert_eq!(read(), Some(2 * (ITEMS - 8) as u64), "the new rows");
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let log_z = |engine: &Engine| dpp.log_partition_function(engine).map(|log_z| log_z.value).unwrap();
    assert_abs_diff_eq!(log_z(&engine), log_z(&Engine::cpu()), epsilon = 1e-12);
    assert_law(&dpp.sampler(by_leverage(), &engine).unwrap(), &problem);

    // The known matrices do not belong to these features.
    let other = Features::from_rows(ITEMS, DIMS, normals(ITEMS * DIMS, 4)).unwrap();
    let renamed =
        Partition::from_labels(&labels().iter().map(|label| label + 1).collect::<Vec<_>>()).unwrap();
    for (features, partition) in [(&other, &partition), (&features, &renamed)] {
        prepared(features, partition);
        assert_eq!(read(), Some(2 * ITEMS as u64), "all rows");
    }
    let few = Features::from_rows(2, DIMS, normals(2 * DIMS, 3)).unwrap();
    prepared(&few, &Partition::from_labels(&[0, 1]).unwrap());
    assert_error!(
        Engine::cpu().prepared(&few, &partition),
        Error::LabelCount { items: 2, labels: ITEMS },
        ["2", "12"]
    );
}

/// If subtraction would leave too few digits, rows are read.
#[test]
fn what_is_not_known_well_enough_is_computed() {
    let mut values = normals(ITEMS * DIMS, 8);
    // One row is nearly all of its part.
    values[..DIMS].iter_mut().for_each(|x| *x *= 1e9);
    let features = Features::from_rows(ITEMS, DIMS, values).unwrap();
    let partition = Partition::from_labels(&labels()).unwrap();
    let engine = Engine::cpu().prepared(&features, &partition).unwrap();
    let quota = Quota::new(&partition, [2, 1]).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap().excluding(&[0]).unwrap();
    let log_z = |engine: &Engine| dpp.log_partition_function(engine).unwrap().value;
    assert_abs_diff_eq!(log_z(&engine), log_z(&Engine::cpu()), epsilon = 1e-12);
    assert!(dpp.sampler(by_leverage(), &engine).unwrap().law_error() < 1e-10);
}
