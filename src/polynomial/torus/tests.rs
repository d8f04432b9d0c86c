//! Planted faults change the partition function; every node appears once; the aliasing bound holds.

use approx::assert_abs_diff_eq;

use super::*;
use crate::{
    Features, Partition, PartitionDpp, Quota, Subset,
    engine::{Engine, Precision},
    model::log_determinant,
    polynomial::{generating_function::Reference, poisson_binomial::poisson_binomial},
};

const COUNTS: [usize; 2] = [2, 1];

/// Eight items in two parts, with ln Z_κ by enumeration.
fn small_case() -> (GeneratingFunction, Reference, Torus, f64) {
    let values: Vec<f64> = (0..40).map(|i| f64::sin(1.7 * f64::from(i) + 0.3) + 0.1).collect();
    let features = Features::from_rows(8, 5, values).unwrap();
    let partition = Partition::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1]).unwrap();
    let quota = Quota::new(&partition, COUNTS).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let rows = dpp.rows();
    let spectrum = dpp.spectrum(Engine::host(), &rows).unwrap();
    let (function, reference) = GeneratingFunction::of_size(&spectrum, &rows.scales(), 3).unwrap();
    let torus = Torus::new(TorusPlan::for_coefficient(&function, &COUNTS).unwrap());
    let sets = (0..4).flat_map(|a| (a + 1..4).flat_map(move |b| (4..8).map(move |c| vec![a, b, c])));
    let z: f64 = sets.map(|set| log_determinant(&features, &Subset::new(set, 8).unwrap()).exp()).sum();
    (function, reference, torus, z.ln())
}

fn log_z(torus: &Torus, values: &[c64], reference: &Reference) -> f64 {
    reference.log_coefficient(&COUNTS, torus.coefficient(values, &COUNTS, 5, Precision::F64).value.abs())
}

#[test]
fn planted_faults_change_the_partition_function() {
    let (function, reference, torus, truth) = small_case();
    let values = torus.values(Engine::host(), &function).unwrap();
    let gap = |found: f64| (found - truth).abs();
    assert!(gap(log_z(&torus, &values, &reference)) < 1e-13);

    // Phases with the opposite sign.
    let conjugates: Vec<c64> = values.iter().map(c64::conj).collect();
    assert!(gap(log_z(&torus, &conjugates, &reference)) > 0.1);
    // Every node counted once, although the conjugate half is missing.
    let mut half = torus.clone();
    let once = half.weights.iter().copied().fold(f64::INFINITY, f64::min);
    half.weights.fill(once);
    assert!(gap(log_z(&half, &values, &reference)) > 0.1);
    // One part at a radius unknown to the reference.
    let mut off = function.clone();
    off.shares[1] = &off.shares[1] * faer::Scale(1.001);
    assert!(gap(log_z(&torus, &torus.values(Engine::host(), &off).unwrap(), &reference)) > 1e-5);
    // Too few nodes: aliases stay within the bound.
    let sizes = torus.sizes.iter().map(|size| size - 1).collect();
    let few = Torus::new(TorusPlan { sizes, reference: torus.reference, ..TorusPlan::complete(&[]) });
    let found =
        few.coefficient(&few.values(Engine::host(), &function).unwrap(), &COUNTS, 5, Precision::F64).value;
    let whole = torus.coefficient(&values, &COUNTS, 5, Precision::F64).value;
    assert!((found / whole - 1.0).abs() > 1e-9, "{found} {whole}");
}

#[test]
fn kept_nodes_and_their_conjugates_are_all_nodes() {
    for sizes in [vec![1], vec![2], vec![5], vec![3, 4], vec![2, 1, 3], vec![2, 2, 2]] {
        let total: usize = sizes.iter().product();
        let torus = Torus::new(TorusPlan { sizes: sizes.clone(), ..TorusPlan::complete(&[]) });
        let mut seen = vec![0; total];
        for (at, partner) in torus.positions() {
            seen[at] += 1;
            if partner != at {
                seen[partner] += 1;
            }
        }
        assert_eq!(seen, vec![1; total], "{sizes:?}");
        assert_abs_diff_eq!(torus.weights.iter().sum::<f64>(), 1.0, epsilon = 1e-15);
    }
}

#[test]
fn the_aliasing_bound_holds() {
    let (function, _, _, _) = small_case();
    let exact = Torus::new(TorusPlan::complete(&[4, 4]));
    let exact = exact
        .coefficient(&exact.values(Engine::host(), &function).unwrap(), &COUNTS, 5, Precision::F64)
        .value;
    for sizes in [[1, 1], [2, 3], [3, 2], [3, 3]] {
        let mut aliasing = 0.0;
        for (group, &count) in COUNTS.iter().enumerate() {
            let law = poisson_binomial(&function.coins(group).unwrap());
            let aliases = |c: &usize| *c != count && c.abs_diff(count) % sizes[group] == 0;
            aliasing += (0..law.len()).filter(aliases).map(|c| law[c]).sum::<f64>();
        }
        let torus = Torus::new(TorusPlan { sizes: sizes.to_vec(), aliasing, ..TorusPlan::complete(&[]) });
        let found =
            torus.coefficient(&torus.values(Engine::host(), &function).unwrap(), &COUNTS, 5, Precision::F64);
        let error = (found.value - exact).abs();
        assert!(error > 0.0 && error <= found.error, "{sizes:?}: {error:e} {:e}", found.error);
    }
}

#[test]
fn nodes_between_avoid_minus_one() {
    let (function, reference, torus, truth) = small_case();
    let plans = [
        TorusPlan::complete(&[4, 4]),
        TorusPlan::complete(&[2, 5]),
        TorusPlan { sizes: torus.sizes.clone(), reference: torus.reference, ..TorusPlan::complete(&[]) },
        TorusPlan { sizes: vec![9, 3], reference: Some(0), ..TorusPlan::complete(&[]) },
    ];
    for plan in plans {
        let between = Torus::new(plan.clone().between());
        for node in 0..between.nodes() {
            for (phase, [size, digit, half]) in between.node(node).iter().zip(between.steps(node)) {
                let gap = (phase + c64::new(1.0, 0.0)).norm();
                assert!(gap > 1.0 / size as f64, "{plan:?}: {phase}");
                let angle = TAU * (digit as f64 + 0.5 * half as f64) / size as f64;
                assert!((phase - c64::new(angle.cos(), angle.sin())).norm() < 1e-14, "{plan:?}: {phase}");
            }
        }
        let total: usize = between.sizes.iter().product();
        assert_eq!(
            between.positions().map(|(at, partner)| 1 + usize::from(at != partner)).sum::<usize>(),
            total
        );
        let values = between.values(Engine::host(), &function).unwrap();
        assert_abs_diff_eq!(log_z(&between, &values, &reference), truth, epsilon = 1e-12);
    }
}
