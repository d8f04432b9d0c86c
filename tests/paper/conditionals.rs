//! Algorithm 2 of the paper, step by step, without drawing: both evaluations against enumeration, and late steps of
//! large
//! quotas against laws conditioned on the picks.

use oracles::{Case, assert_error, enumerable_cases, oracle::Law, random::normals};
use partition_dpp::{Engine, Error, Features, Method, Partition, PartitionDpp, Quota, sample::Conditionals};

const METHODS: [Method; 2] = [Method::Interpolation, Method::PerCandidate];

fn model(case: &Case) -> (Features, Partition, Quota) {
    let partition = Partition::from_labels(&case.labels).unwrap();
    let quota = Quota::new(&partition, &case.quota).unwrap();
    (case.features(), partition, quota)
}

/// Returns Pr(next = i | picks): the probability of all sets that hold the picks and i, divided among the items of
/// each
/// set that are still to be picked.
fn next_by_enumeration(law: &Law, settled: &[usize], picks: &[usize], items: usize) -> Vec<f64> {
    let mut next = vec![0.0; items];
    for (set, p) in law.iter().filter(|(set, _)| picks.iter().all(|item| set.contains(item))) {
        for &item in set.iter().filter(|item| !picks.contains(item) && !settled.contains(item)) {
            next[item] += p;
        }
    }
    let total: f64 = next.iter().sum();
    next.iter_mut().for_each(|p| *p /= total);
    next
}

/// Returns the largest gap to enumeration over all steps of a chain that takes the items in this order.
fn worst_gap(mut chain: Conditionals, law: &Law, settled: &[usize], picks: &[usize], items: usize) -> f64 {
    let mut worst: f64 = 0.0;
    for step in 0..picks.len() {
        let expected = next_by_enumeration(law, settled, &picks[..step], items);
        let found = chain.probabilities().unwrap();
        worst = found.iter().zip(&expected).map(|(f, e)| (f - e).abs()).fold(worst, f64::max);
        chain.pick(picks[step]).unwrap();
    }
    assert_eq!((chain.remaining(), chain.picks()), (0, picks));
    assert!(chain.probabilities().unwrap().iter().all(|p| p.abs() < 1e-300));
    worst
}

/// Returns a few sets, likely and unlikely, each in ascending, descending and mixed order.
fn orders(law: &Law, settled: &[usize]) -> Vec<Vec<usize>> {
    let mut by_probability: Vec<(&Vec<usize>, &f64)> = law.iter().filter(|(_, p)| **p > 1e-6).collect();
    by_probability.sort_by(|a, b| b.1.total_cmp(a.1));
    let chosen = [0, by_probability.len() / 2, by_probability.len() - 1];
    let free = |set: &[usize]| set.iter().copied().filter(|item| !settled.contains(item)).collect::<Vec<_>>();
    chosen
        .iter()
        .flat_map(|&at| {
            let ascending = free(by_probability[at].0);
            let descending: Vec<usize> = ascending.iter().rev().copied().collect();
            let mixed =
                ascending.iter().step_by(2).chain(ascending.iter().skip(1).step_by(2)).copied().collect();
            [ascending, descending, mixed]
        })
        .collect()
}

#[test]
fn both_evaluations_follow_enumeration_at_every_step() {
    for case in enumerable_cases() {
        let (features, partition, quota) = model(&case);
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
        // Parts that are needed whole are settled: nothing is picked from them.
        let full = |part: usize| partition.size(part) == case.quota[part];
        let settled: Vec<usize> = (0..case.items()).filter(|&item| full(case.labels[item])).collect();
        for method in METHODS {
            let chain = dpp.conditionals(method, &Engine::cpu()).unwrap();
            let mut worst: f64 = 0.0;
            for picks in orders(&law, &settled) {
                worst = worst.max(worst_gap(chain.clone(), &law, &settled, &picks, case.items()));
            }
            println!("{:30} {method:14} {worst:.1e}", case.name);
            assert!(worst <= 1e-12, "{} by {method}: off by {worst:e}", case.name);
        }
    }
}

#[test]
fn a_chain_of_another_law_is_not_mistaken_for_this_one() {
    let case = enumerable_cases().remove(0);
    let (features, partition, quota) = model(&case);
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    // Fault: the conditionals of a law untilted in one part, whose items are ten times as long.
    let longer = |i: usize| if case.labels[i] == 0 { 10.0 } else { 1.0 + 1e-9 * i as f64 };
    let rows: Vec<f64> = (0..case.items())
        .flat_map(|i| case.rows[i].iter().map(move |x| (i, x)))
        .map(|(i, x)| x * longer(i))
        .collect();
    let other = Features::from_rows(case.items(), case.rows[0].len(), rows).unwrap();
    let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
    let picks = orders(&law, &[]).remove(0);
    let right = worst_gap(
        dpp.conditionals(Method::Interpolation, &Engine::cpu()).unwrap(),
        &law,
        &[],
        &picks,
        case.items(),
    );
    let dpp = PartitionDpp::new(&other, &partition, &quota).unwrap();
    let wrong = worst_gap(
        dpp.conditionals(Method::Interpolation, &Engine::cpu()).unwrap(),
        &law,
        &[],
        &picks,
        case.items(),
    );
    // The length of a part is a constant factor of every set: only the differences of 1e-9 remain visible.
    assert!(right < 1e-13 && wrong > 1e-11 && wrong < 1e-7, "{right:e} {wrong:e}");
}

/// Returns two parts of random rows, n = m.
fn two_parts(size: usize, seed: u64) -> (Features, Partition) {
    let items = 2 * size;
    let labels: Vec<usize> = (0..items).map(|i| i / size).collect();
    let features = Features::from_rows(items, items, normals(items * items, seed)).unwrap();
    (features, Partition::from_labels(&labels).unwrap())
}

#[test]
fn late_steps_of_large_quotas_agree_with_conditioned_laws() {
    for quota in [10, 20, 30] {
        let (features, partition) = two_parts(quota + 10, 7);
        let quota = Quota::each(&partition, quota).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let mut chain = dpp.conditionals(Method::Interpolation, &Engine::cpu()).unwrap();
        let size = partition.size(0);
        let picks = (0..quota.low()[0]).flat_map(|i| [i, size + i]);
        let mut worst: f64 = 0.0;
        for (step, item) in picks.enumerate() {
            if step % 3 == 0 || step + 6 > 2 * quota.low()[0] {
                // A law conditioned on the picks starts again from the rows, with its own tilt.
                let fresh = dpp.clone().including(chain.picks()).unwrap();
                let fresh = fresh.conditionals(Method::Interpolation, &Engine::cpu()).unwrap();
                let (found, expected) = (chain.probabilities().unwrap(), fresh.probabilities().unwrap());
                worst = found.iter().zip(&expected).map(|(f, e)| (f - e).abs()).fold(worst, f64::max);
            }
            chain.pick(item).unwrap();
        }
        println!("quota {:?}: {worst:.1e}", quota.low());
        assert!(worst <= 1e-10, "{:?}: {worst:e}", quota.low());
    }
}

#[test]
fn per_candidate_takes_one_determinant_per_candidate_and_node() {
    let (features, partition) = two_parts(6, 3);
    let quota = Quota::new(&partition, [2, 3]).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let mut chain = dpp.conditionals(Method::PerCandidate, &Engine::cpu()).unwrap();
    let mut shared = dpp.conditionals(Method::Interpolation, &Engine::cpu()).unwrap();
    let mut expected = 12 * chain.nodes() as u64;
    assert_eq!(chain.candidate_determinants(), expected);
    // Remaining candidates: 11 after the first pick, and 10 − 4 once the first part has its two.
    for (item, candidates) in [(0, 11), (1, 6), (6, 5), (7, 4), (8, 0)] {
        let nodes_before = chain.nodes();
        chain.pick(item).unwrap();
        shared.pick(item).unwrap();
        expected += candidates * chain.nodes() as u64;
        assert_eq!(chain.candidate_determinants(), expected, "after {item}: {nodes_before} nodes before");
    }
    assert_eq!(shared.candidate_determinants(), 0);
}

#[test]
fn one_part_is_the_papers_algorithm_1() {
    let features = Features::from_rows(9, 5, normals(45, 11)).unwrap();
    let partition = Partition::from_labels(&[0; 9]).unwrap();
    let quota = Quota::new(&partition, [3]).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let k_dpp = partition_dpp::KDpp::new(&features, 3).unwrap().inference(&Engine::cpu()).unwrap();
    let marginals = k_dpp.inclusion_probabilities().unwrap().value;
    for method in METHODS {
        let first = dpp.conditionals(method, &Engine::cpu()).unwrap().probabilities().unwrap();
        // The first of three picks in random order.
        let gap = first.iter().zip(&marginals).map(|(p, m)| (p - m / 3.0).abs()).fold(0.0, f64::max);
        assert!(gap < 1e-13, "{method}: {gap:e}");
    }
}

#[test]
fn impossible_picks_are_refused() {
    let case =
        enumerable_cases().into_iter().find(|case| case.name == "duplicate-and-parallel-rows").unwrap();
    let (features, partition, quota) = model(&case);
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    for method in METHODS {
        let mut chain = dpp.conditionals(method, &Engine::cpu()).unwrap();
        assert_error!(chain.pick(99), Error::ItemOutOfRange { item: 99, items: 10 }, ["item 99"]);
        let item = chain.probabilities().unwrap().iter().position(|&p| p > 0.0).unwrap();
        chain.pick(item).unwrap();
        assert_error!(chain.pick(item), Error::ImpossiblePick { .. }, ["cannot be picked next"]);
        assert_eq!(chain.picks(), [item]);
    }
}
