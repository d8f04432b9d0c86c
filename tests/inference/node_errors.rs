//! Budgets of nodes, and systems of nodes, broken once: the variant, its fields and its message.

use approx::{assert_abs_diff_eq, relative_eq};
use oracles::{assert_error, random::normals, watches::reported};
use partition_dpp::{
    Dpp, Engine, Error, Features, KDpp, Method, Partition, PartitionDpp, Quota, SamplerOptions, engine::c64,
    polynomial::CircleVandermonde, watch::Step,
};

/// Returns parts of two generic items each.
fn pairs(parts: usize, dims: usize) -> (Features, Partition) {
    let labels: Vec<usize> = (0..2 * parts).map(|item| item / 2).collect();
    let features = Features::from_rows(labels.len(), dims, normals(labels.len() * dims, 4)).unwrap();
    (features, Partition::from_labels(&labels).unwrap())
}

#[test]
fn too_many_nodes_are_refused_with_their_number() {
    let (features, partition) = pairs(4, 6);
    let quota = Quota::each(&partition, 1).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap().with_node_budget(12.0);
    // Five phases for the total, two for every other part, conjugates counted once.
    let text = "interpolation needs 2.000e1 nodes, more than the budget of 1.200e1";
    assert_error!(dpp.inference(&Engine::cpu()), Error::NodeBudget { nodes: 20.0, budget: 12.0 }, [text]);
    assert_error!(dpp.log_partition_function(&Engine::cpu()), Error::NodeBudget { nodes: 20.0, .. }, [text]);
    assert_error!(
        dpp.clone().with_node_budget(3.0).log_partition_function_by_phases(&Engine::cpu()),
        Error::NodeBudget { nodes: 4.0, budget: 3.0 },
        ["4.000e0 nodes"]
    );
    assert_error!(
        dpp.sampler(Method::Interpolation, &Engine::cpu()),
        Error::NodeBudget { budget: 12.0, .. },
        ["1.200e1"]
    );
    assert_error!(
        dpp.conditionals(Method::Auto, &Engine::cpu()),
        Error::NodeBudget { budget: 12.0, .. },
        ["1.200e1"]
    );
    let hurried = SamplerOptions::default().with_proposal_budget(1.0);
    assert_error!(
        dpp.sampler(hurried, &Engine::cpu()),
        Error::ProposalBudget { expected, budget: 1.0, nodes, node_budget: 12.0 }
            if expected > 1.0 && nodes >= 20.0,
        ["proposals", "budget of 1.000e0", "nodes, more than the budget of 1.200e1"]
    );
    // From sizes alone, 4^4 / 4! proposals.
    assert_abs_diff_eq!(dpp.plan(hurried).unwrap().unwrap().proposals, 32.0 / 3.0, epsilon = 1e-12);
    assert!(dpp.with_node_budget(20.0).inference(&Engine::cpu()).is_ok());
}

#[test]
fn a_law_of_too_many_parts_is_refused_at_once() {
    // 3^24 and more vectors of counts.
    let (features, partition) = pairs(25, 50);
    let (dpp, k_dpp) = (Dpp::new(&features).unwrap(), KDpp::new(&features, 10).unwrap());
    let quota = Quota::each(&partition, 1).unwrap();
    let (watch, reports) = reported();
    let watched = Engine::cpu().watched(&watch);
    let right = |nodes: f64| relative_eq!(nodes, 3_f64.powi(25) / 2.0, epsilon = 0.0, max_relative = 1e-9);
    let text = "more than the budget of 1.000e6";
    assert_error!(
        dpp.part_counts(&partition, &watched),
        Error::NodeBudget { nodes, budget: 1e6 } if right(nodes),
        ["4.236e11 nodes", text]
    );
    assert_error!(
        k_dpp.part_counts(&partition, &watched),
        // Half of 3⁹ for every ten of the 25 parts.
        Error::NodeBudget { nodes: 32_171_135_920.0, budget: 2e4 },
        ["3.217e10 nodes", "more than the budget of 2.000e4"]
    );
    assert_error!(
        dpp.probability_of(&partition, &quota, &watched),
        // Two phases for all parts except one, 26 for the total, conjugates counted once.
        Error::NodeBudget { nodes: 218_103_808.0, budget: 1e6 },
        ["2.181e8 nodes", text]
    );
    assert!(reports.lock().unwrap().iter().all(|report| report.step == Step::Row));
}

#[test]
fn nodes_on_circles_are_as_many_as_radii_and_values() {
    let empty = "the list of nodes is empty";
    assert_error!(CircleVandermonde::new(&[], &[]), Error::Empty { what: "the list of nodes" }, [empty]);
    assert_error!(CircleVandermonde::new(&[2, 0], &[1.0, 1.0]), Error::Empty { .. }, [empty]);
    assert_error!(
        CircleVandermonde::new(&[2, 3], &[1.0]),
        Error::Shape { what: "the list of radii", expected: 2, found: 1 },
        ["the list of radii has 1 value; 2 are needed"]
    );
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let same = |value: f64| value.to_string() == bad.to_string();
        assert_error!(
            CircleVandermonde::new(&[2, 3], &[1.0, bad]),
            Error::NotPositive { what: "a radius", value } if same(value),
            ["a radius is", &*bad.to_string()]
        );
    }
    let system = CircleVandermonde::new(&[2, 3], &[1.0, 2.0]).unwrap();
    assert_eq!(system.nodes(), 6);
    assert_error!(
        system.solve(&[c64::new(1.0, 0.0); 5]),
        Error::Shape { what: "the list of values", expected: 6, found: 5 },
        ["the list of values has 5 values; 6 are needed"]
    );
}
