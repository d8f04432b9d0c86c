//! Quotas that no set meets, and quotas that are too expensive.

use oracles::{assert_error, random::normals};
use partition_dpp::{
    Engine, Error, Features, IndependentKDpps, Method, Partition, PartitionDpp, Quota, SamplerOptions,
    sample::{Algorithm, DEFAULT_PROPOSAL_BUDGET, expected_proposals},
};

/// Returns the rows of Σ_l m_l unit vectors: `axes[l]` lists the axes of part l's items.
fn axis_model(dims: usize, axes: &[Vec<usize>]) -> (Features, Partition) {
    let items: Vec<(usize, usize)> =
        axes.iter().enumerate().flat_map(|(l, axes)| axes.iter().map(move |&axis| (l, axis))).collect();
    let value = |axis: usize, j: usize| f64::from(u8::from(axis == j));
    let values: Vec<f64> =
        items.iter().flat_map(|&(_, axis)| (0..dims).map(move |j| value(axis, j))).collect();
    let labels: Vec<usize> = items.iter().map(|&(l, _)| l).collect();
    (Features::from_rows(items.len(), dims, values).unwrap(), Partition::from_labels(&labels).unwrap())
}

#[test]
fn an_infeasible_quota_names_one_part() {
    // The rows of part 1 lie on a line: duplicates, and then multiples.
    let (features, partition) = axis_model(4, &[vec![0, 1], vec![2, 2, 2], vec![3]]);
    let quota = Quota::new(&partition, [1, 2, 1]).unwrap();
    let texts = ["part 1 has rank 1", "2 items"];
    assert_error!(
        PartitionDpp::new(&features, &partition, &quota),
        Error::Infeasible { ref parts, rank: 1, quota: 2 } if parts == &["1"],
        [texts[0], texts[1]]
    );
    assert_error!(
        IndependentKDpps::new(&features, &partition, &quota),
        Error::Infeasible { ref parts, rank: 1, quota: 2 } if parts == &["1"],
        [texts[0], texts[1]]
    );
}

#[test]
fn an_infeasible_quota_names_a_part_of_zero_rows() {
    // An axis outside the space is a zero row.
    let (features, partition) = axis_model(3, &[vec![0, 1, 2], vec![9, 9]]);
    let quota = Quota::new(&partition, [1, 1]).unwrap();
    assert_error!(
        PartitionDpp::new(&features, &partition, &quota),
        Error::Infeasible { ref parts, rank: 0, quota: 1 } if parts == &["1"],
        ["part 1 has rank 0", "1 item there"]
    );
}

#[test]
fn an_infeasible_quota_names_the_parts_that_share_a_plane() {
    let (features, partition) = axis_model(5, &[vec![0, 1], vec![2, 3, 4], vec![0, 1]]);
    let quota = Quota::new(&partition, [2, 1, 1]).unwrap();
    assert_error!(
        PartitionDpp::new(&features, &partition, &quota),
        Error::Infeasible { ref parts, rank: 2, quota: 3 } if parts == &["0", "2"],
        ["parts {0, 2} together have rank 2", "3 items"]
    );
}

#[test]
fn an_infeasible_quota_names_five_of_fifteen_parts() {
    // Part l has axes l and l + 1, part 13 only axis 0, part 14 only axis 3.
    let mut axes: Vec<Vec<usize>> = (0..13).map(|l| vec![l, l + 1]).collect();
    axes.extend([vec![0], vec![3]]);
    let (features, partition) = axis_model(15, &axes);
    let quota = Quota::each(&partition, 1).unwrap();
    assert_error!(
        PartitionDpp::new(&features, &partition, &quota),
        Error::Infeasible { ref parts, rank: 4, quota: 5 } if parts == &["0", "1", "2", "13", "14"],
        ["parts {0, 1, 2, 13, 14} together have rank 4", "5 items"]
    );
}

#[test]
fn an_infeasible_quota_names_all_parts_where_no_fewer_are_at_fault() {
    // Fourteen parts in general position share thirteen dimensions, since the last two columns are equal.
    let labels: Vec<usize> = (0..42).map(|i| i % 14).collect();
    let rows = normals(42 * 13, 5);
    let rows = rows.chunks_exact(13).flat_map(|row| row.iter().chain(row.last()).copied());
    let features = Features::from_rows(42, 14, rows.collect::<Vec<f64>>()).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::each(&partition, 1).unwrap();
    assert_error!(
        PartitionDpp::new(&features, &partition, &quota),
        Error::Infeasible { ref parts, rank: 13, quota: 14 } if parts == partition.names(),
        ["parts {0, 1, 2,", "rank 13", "14 items"]
    );
}

#[test]
fn more_items_than_features_are_refused_by_arithmetic() {
    // Zero rows: if any of them were read, the error would name a part.
    let features = Features::from_rows(40, 3, vec![0.0; 120]).unwrap();
    let partition = Partition::from_labels(&(0..40).map(|i| i % 2).collect::<Vec<_>>()).unwrap();
    let refused = |quota: Quota| PartitionDpp::new(&features, &partition, &quota);
    let counts = Quota::new(&partition, [2, 2]).unwrap();
    assert_error!(
        refused(counts),
        Error::SizeAboveRank { k: 4, rank: 3 },
        ["k = 4", "rank of the kernel, which is at most 3"]
    );
    let total = Quota::new(&partition, [0..=9, 0..=9]).unwrap().with_total(5).unwrap();
    assert_error!(refused(total), Error::SizeAboveRank { k: 5, rank: 3 }, ["k = 5"]);
    let least = Quota::new(&partition, [1..=9, 3..=9]).unwrap();
    assert_error!(refused(least), Error::SizeAboveRank { k: 4, rank: 3 }, ["k = 4"]);
}

#[test]
fn a_rank_does_not_depend_on_the_scale_of_rows() {
    // One part of tiny rows, one of huge ones, in the same plane.
    let (tiny, huge) = (1e-150, 1e150);
    let values = vec![tiny, 0., 0., 0., tiny, 0., huge, 0., 0., 0., huge, 0.];
    let features = Features::from_rows(4, 3, values).unwrap();
    let partition = Partition::from_labels(&["a", "a", "b", "b"]).unwrap();
    let quota = Quota::new(&partition, [2, 1]).unwrap();
    assert_error!(
        PartitionDpp::new(&features, &partition, &quota),
        Error::Infeasible { ref parts, rank: 2, quota: 3 } if parts == &["a", "b"],
        ["parts {a, b} together have rank 2"]
    );
    let quota = Quota::new(&partition, [1, 1]).unwrap();
    assert!(PartitionDpp::new(&features, &partition, &quota).is_ok());
}

#[test]
fn a_quota_that_needs_too_many_proposals_is_refused_with_their_number() {
    // Two of the 2³⁰ choices have a positive determinant, and every bound counts all of them.
    let axes: Vec<Vec<usize>> = (0..30).map(|l| vec![l, (l + 1) % 30]).collect();
    let (features, partition) = axis_model(30, &axes);
    let quota = Quota::each(&partition, 1).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    assert_error!(
        dpp.sampler(Method::Auto, &Engine::cpu()),
        Error::ProposalBudget { expected, budget: DEFAULT_PROPOSAL_BUDGET, .. }
            if expected > 1e8,
        ["proposals", "budget of 1.000e7"]
    );
    assert!(dpp.sampler(Method::Rejection, &Engine::cpu()).is_ok(), "whoever insists gets a sampler");
    let patient = SamplerOptions::default().with_proposal_budget(f64::INFINITY);
    assert!(dpp.sampler(patient, &Engine::cpu()).is_ok(), "whoever can wait gets a sampler");
}

#[test]
fn a_budget_of_ones_own_is_kept() {
    let labels = [0, 0, 0, 1, 1, 1, 2, 2, 2];
    let features = Features::from_rows(9, 6, normals(54, 3)).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::each(&partition, 2).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let dpp = dpp.with_node_budget(3.0);
    let options = SamplerOptions::default().with_proposal_budget(1.0);
    // 7 × 3 × 3 nodes, conjugates counted once
    assert_error!(
        dpp.sampler(options, &Engine::cpu()),
        Error::ProposalBudget { expected, budget: 1.0, nodes: 32.0, node_budget: 3.0 } if (1.0..8.11).contains(&expected),
        ["1.000e0", "3.200e1 nodes", "3.000e0"]
    );
    assert_error!(
        dpp.sampler(Method::Interpolation, &Engine::cpu()),
        // The total equals the rank, so two phases find it.
        Error::NodeBudget { nodes: 9.0, budget: 3.0 },
        ["interpolation needs 9.000e0 nodes", "budget of 3.000e0"]
    );
    let on_nodes = dpp.clone().with_node_budget(100.0).sampler(options, &Engine::cpu()).unwrap();
    assert_eq!(on_nodes.algorithm(), Algorithm::Interpolation);
    let patient = options.with_proposal_budget(1.01 * expected_proposals(quota.low()));
    assert!(dpp.sampler(patient, &Engine::cpu()).is_ok());
}
