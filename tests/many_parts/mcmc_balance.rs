//! Exchange chains on tiny kernels: the whole transition matrix, from the proposal probabilities and the acceptance
//! that the chains use, against the enumerated law.

use std::collections::{BTreeMap, BTreeSet};

use approx::abs_diff_eq;
use oracles::{
    assert_error, enumerable_cases,
    oracle::{Determinants, Law},
    random::normals,
};
use partition_dpp::{
    Engine, Features, Partition, PartitionDpp, Quota,
    mcmc::{Chains, McmcOptions},
};

/// Rows, labels, quota.
struct Data {
    rows: Vec<Vec<f64>>,
    labels: Vec<usize>,
    quota: Vec<usize>,
}

impl Data {
    fn random(sizes: &[usize], quota: &[usize], dims: usize, seed: u64) -> Self {
        let labels: Vec<usize> = sizes.iter().enumerate().flat_map(|(l, &size)| vec![l; size]).collect();
        let values = normals(labels.len() * dims, seed);
        let rows = values.chunks_exact(dims).map(<[f64]>::to_vec).collect();
        Self { rows, labels, quota: quota.to_vec() }
    }

    /// Makes rows that are multiples of one axis each, with a quota of one item per part.
    fn axes(parts: &[&[(usize, f64)]], dims: usize) -> Self {
        let row =
            |&(axis, size): &(usize, f64)| (0..dims).map(|j| if j == axis { size } else { 0.0 }).collect();
        let rows = parts.iter().flat_map(|part| part.iter().map(row)).collect();
        let labels = parts.iter().enumerate().flat_map(|(l, part)| vec![l; part.len()]).collect();
        Self { rows, labels, quota: vec![1; parts.len()] }
    }

    fn law(&self) -> Law {
        Determinants::of_features(self.rows.clone()).partition_dpp(&self.labels, &self.quota).0
    }

    /// Calls `body` with the chains of the law conditioned on items.
    fn with_chains<T>(&self, included: &[usize], excluded: &[usize], body: impl FnOnce(&Chains) -> T) -> T {
        let values = self.rows.concat();
        let features = Features::from_rows(self.rows.len(), self.rows[0].len(), values).unwrap();
        let partition = Partition::from_labels(&self.labels).unwrap();
        let quota = Quota::new(&partition, &self.quota).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let dpp = dpp.including(included).unwrap().excluding(excluded).unwrap();
        body(&dpp.chains(&McmcOptions::default(), &Engine::cpu()).unwrap())
    }
}

/// Asserts detailed balance for moves of every size. Returns the number of classes of sets that moves of sizes up to
/// `largest` connect.
fn assert_balance(what: &str, chains: &Chains, law: &Law, largest: usize) -> usize {
    let slots = law.keys().next().unwrap().len();
    let mut edges: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for replaced in 1..=slots {
        let from = |set: &Vec<usize>| (set.clone(), chains.transitions(set, replaced));
        let matrix: BTreeMap<Vec<usize>, BTreeMap<Vec<usize>, f64>> = law.keys().map(from).collect();
        for (set, row) in &matrix {
            assert!(
                abs_diff_eq!(row.values().sum::<f64>(), 1.0, epsilon = 1e-12),
                "{what}: {set:?} does not sum to 1"
            );
            for (other, &there) in row {
                let Some(&p) = law.get(other) else {
                    panic!("{what}: {set:?} leads to {other:?}, which has probability zero");
                };
                let back = matrix[other].get(set).copied().unwrap_or(0.0);
                let (there, back) = (law[set] * there, p * back);
                let gap = (there - back).abs();
                assert!(
                    gap <= 1e-9 * there.max(back),
                    "{what}, {replaced}: {set:?} ⇄ {other:?}: {there:e} {back:e}"
                );
                if there > 0.0 && replaced <= largest {
                    edges.push((set.clone(), other.clone()));
                }
            }
        }
    }
    classes(law.keys().cloned().collect(), &edges)
}

fn classes(mut left: BTreeSet<Vec<usize>>, edges: &[(Vec<usize>, Vec<usize>)]) -> usize {
    let mut count = 0;
    while let Some(first) = left.pop_first() {
        count += 1;
        let mut reached = vec![first];
        while let Some(set) = reached.pop() {
            let next = edges.iter().filter(|(from, _)| *from == set).map(|(_, to)| to);
            reached.extend(next.filter(|to| left.remove(*to)).cloned().collect::<Vec<_>>());
        }
    }
    count
}

fn check(what: &str, data: &Data) {
    let law = data.law();
    let slots = data.quota.iter().sum();
    let found = data.with_chains(&[], &[], |chains| assert_balance(what, chains, &law, slots));
    assert_eq!(found, 1, "{what}: not irreducible");
}

#[test]
fn random_rows() {
    check("two parts", &Data::random(&[4, 5], &[2, 1], 4, 1));
    check("three parts", &Data::random(&[3, 3, 3], &[1, 1, 1], 5, 2));
    check("as many items as dimensions", &Data::random(&[4, 4], &[2, 1], 3, 3));
}

#[test]
fn rows_of_very_different_size() {
    let mut data = Data::random(&[4, 5], &[1, 2], 4, 4);
    for (i, row) in data.rows.iter_mut().enumerate() {
        row.iter_mut().for_each(|x| *x *= 10_f64.powf((i % 5) as f64 - 2.0));
    }
    check("sizes 1e4 apart", &data);
}

#[test]
fn zero_rows_and_copies() {
    let mut data = Data::random(&[5, 4], &[2, 1], 4, 5);
    data.rows[2].fill(0.0);
    data.rows[3] = data.rows[0].iter().map(|x| -2.0 * x).collect();
    data.rows[7] = data.rows[5].clone();
    check("zero rows and copies", &data);
}

#[test]
fn known_answers() {
    let mut checked = 0;
    for case in enumerable_cases() {
        let slots: usize = case.quota.iter().sum();
        let law = case.oracle().partition_dpp(&case.labels, &case.quota).0;
        let features = case.features();
        let partition = Partition::from_labels(&case.labels).unwrap();
        let quota = Quota::new(&partition, &case.quota).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        // Parts that are taken whole are included, so their chains have only the other items.
        let sizes =
            oracles::oracle::counts(&(0..case.items()).collect::<Vec<_>>(), &case.labels, case.quota.len());
        let whole = case.quota.iter().zip(&sizes).any(|(&quota, &size)| quota > 0 && quota == size);
        let largest = sizes.iter().max().unwrap() + 1;
        if whole || law.len() * largest.pow(slots as u32) > 3_000_000 {
            println!("{}: {slots} slots, {} sets; left out", case.name, law.len());
            continue;
        }
        let chains = dpp.chains(&McmcOptions::default(), &Engine::cpu()).unwrap();
        assert_eq!(assert_balance(&case.name, &chains, &law, slots), 1, "{}: not irreducible", case.name);
        checked += 1;
    }
    assert!(checked >= 4, "only {checked} cases are small enough");
}

#[test]
fn given_items_in_and_out() {
    let data = Data::random(&[4, 5], &[2, 2], 5, 6);
    let (included, excluded) = (6, 1);
    let law = data.law();
    let allowed = law.iter().filter(|(set, _)| set.contains(&included) && !set.contains(&excluded));
    let mut law: Law = allowed
        .map(|(set, p)| (set.iter().copied().filter(|&item| item != included).collect(), *p))
        .collect();
    let total: f64 = law.values().sum();
    law.values_mut().for_each(|p| *p /= total);
    let found = data.with_chains(&[included], &[excluded], |chains| assert_balance("given", chains, &law, 3));
    assert_eq!(found, 1);
}

#[test]
fn where_two_parts_must_move_together() {
    let data = Data::axes(&[&[(0, 1.0), (1, 2.0), (0, 0.5)], &[(0, 1.0), (1, 3.0), (1, 1.0)]], 2);
    let law = data.law();
    let classes = |largest| data.with_chains(&[], &[], |chains| assert_balance("two", chains, &law, largest));
    assert_eq!(classes(1), 2, "single exchanges must be confined here");
    assert_eq!(classes(2), 1);
}

#[test]
fn where_three_parts_must_move_together() {
    let data = Data::axes(&[&[(0, 1.0), (1, 2.0)], &[(1, 1.0), (2, 0.5)], &[(2, 1.0), (0, 3.0)]], 3);
    let law = data.law();
    assert_eq!(law.len(), 2);
    let classes =
        |largest| data.with_chains(&[], &[], |chains| assert_balance("three", chains, &law, largest));
    assert_eq!(classes(2), 2, "moves of two items must be confined here");
    assert_eq!(classes(3), 1);
}

#[test]
fn what_cannot_run_is_refused() {
    let data = Data::random(&[3, 3], &[1, 1], 4, 7);
    let features = Features::from_rows(6, 4, data.rows.concat()).unwrap();
    let partition = Partition::from_labels(&data.labels).unwrap();
    let quota = Quota::new(&partition, &data.quota).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let chains = |options: McmcOptions| dpp.chains(&options, &Engine::cpu()).map(|_| ());
    let options = McmcOptions::default();
    assert_error!(
        chains(options.with_chains(1 << 40)),
        partition_dpp::Error::Estimate(partition_dpp::error::EstimateProblem::TooManyChains { .. }),
        ["1099511627776 chains", "65536"]
    );
    assert_error!(chains(options.with_chains(0)), partition_dpp::Error::NotPositive { .. }, ["chains"]);
    let never = partition_dpp::mcmc::Thinning::Sweeps(0);
    assert_error!(chains(options.with_thin(never)), partition_dpp::Error::NotPositive { .. }, ["sweeps"]);
    let never = partition_dpp::mcmc::OtherSetMoves::Every(0);
    assert_error!(
        chains(options.with_other_sets(never)),
        partition_dpp::Error::NotPositive { .. },
        ["other sets"]
    );
    let settled = dpp.clone().including(&[0, 3]).unwrap();
    let settled = settled.chains(&options, &Engine::cpu()).map(|_| ());
    assert_error!(settled, partition_dpp::Error::Nothing { .. }, ["nothing to choose"]);
}
