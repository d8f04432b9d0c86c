//! The most probable set under ranges of part counts: parts that need room, conditions, and many items.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use oracles::{
    exact::{Minors, Set, set_of},
    random::normals,
    solvers,
    truth::{Truth, check, exact, restarted},
};
use partition_dpp::{
    Engine, Features, Partition, PartitionDpp, Quota,
    map::{Bound, Greedy, LocalSearch, Solver, Termination, UpperBound},
};

#[test]
fn what_a_part_needs_is_made_room_for() {
    // Greedy takes both axes of part 0, but part 1 has only the first of them.
    let rows = [[2.0, 0.0, 0.0], [0.0, 1.5, 0.0], [1.2, 0.0, 0.0], [1.1, 0.0, 0.0], [0.0, 0.0, 1.05]];
    let labels = [0, 0, 1, 1, 2];
    let features = Features::from_rows(5, 3, rows.concat()).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let minors = Minors::of_features(&rows.map(|row| row.to_vec()));
    let quota = Quota::new(&partition, &[0..=2, 1..=2, 0..=1]).unwrap();
    for quota in [quota.clone(), quota.clone().with_total(2).unwrap(), quota.with_total(3).unwrap()] {
        let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let truth = Truth::new(minors.clone(), &labels, &quota);
        let greedy = solvers::greedy(&model);
        assert_eq!(truth.fault(&greedy), "");
        // With two items in total, room for part 1 is kept: the second pick is from part 1, and depends on the first.
        assert_eq!(greedy.stats.repairs, 1, "{quota:?}");
        check("repair", &model, &truth);
    }
}

#[test]
fn with_items_in_and_out() {
    for seed in 0..12 {
        let (items, dims) = (11, 6);
        let rows: Vec<Vec<f64>> = normals(items * dims, seed)
            .chunks(dims)
            .map(|row| row.iter().map(|x| 0.7 * x).collect())
            .collect();
        let labels: Vec<usize> = (0..items).map(|item| item % 3).collect();
        let features = Features::from_rows(items, dims, rows.concat()).unwrap();
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = Quota::new(&partition, &[1..=2, 1..=3, 0..=2]).unwrap();
        for quota in [quota.clone(), quota.with_total(4).unwrap()] {
            let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let model = model.including(&[1, 6]).unwrap().excluding(&[0, 4]).unwrap();
            let allowed = |set: Set| set & 0b101_0011 == 0b100_0010;
            let truth = Truth::new(Minors::of_features(&rows), &labels, &quota);
            let best = truth.minors.optimum(|set| truth.allows(set) && allowed(set));
            let truth = Truth { best, ..truth };
            for solution in
                [Greedy::default().solve(&model, &Engine::cpu()).unwrap(), restarted(&model), exact(&model)]
            {
                assert_eq!(truth.fault(&solution), "");
                assert!(allowed(set_of(solution.subset.iter())));
            }
            assert_eq!(truth.fault_of_proof(&exact(&model)), "");
            let certificate = UpperBound::default().certify(&model, &Engine::cpu()).unwrap();
            assert_eq!(truth.violations(&certificate), []);
        }
    }
}

#[test]
fn many_items() {
    // Bounds from small groups of items, and of few items at once: one more item is useless to any set. The weights
    // of parts
    // come from other items.
    let (items, dims) = (400, 9);
    let mut values = normals(items * dims, 21);
    // One part has short rows.
    for row in values.chunks_mut(dims).skip(2).step_by(3) {
        row.iter_mut().for_each(|x| *x *= 0.1);
    }
    let gamma = |model: &PartitionDpp| {
        let certificate = UpperBound::default().certify(model, &Engine::cpu()).unwrap();
        certificate.bounds.iter().find(|(bound, _)| *bound == Bound::Gamma).unwrap().1
    };
    for (ranges, total) in [([1..=2, 0..=3, 2..=9], None), ([0..=2, 1..=4, 0..=3], Some(5))] {
        let bounds = [0, 1].map(|more| {
            let values = [values.clone(), vec![1e-3; more * dims]].concat();
            let features = Features::from_rows(items + more, dims, values).unwrap();
            let labels: Vec<usize> = (0..items + more).map(|item| item % 3).collect();
            let partition = Partition::from_labels(&labels).unwrap();
            let quota = Quota::new(&partition, &ranges).unwrap();
            let quota = total.map_or(quota.clone(), |total| quota.with_total(total).unwrap());
            let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let found = LocalSearch::default().solve(&model, &Engine::cpu()).unwrap();
            assert!(quota.allows(&found.subset.part_counts(&partition)) && found.missing == 0);
            (gamma(&model), found.log_det)
        });
        println!("{bounds:?}");
        assert!(abs_diff_eq!(bounds[0].0, bounds[1].0, epsilon = 0.1), "{bounds:?}");
        assert!(bounds.iter().all(|(bound, found)| bound > found), "{bounds:?}");
    }
}

#[test]
fn many_items_are_left_out_by_bounds() {
    let (items, dims) = (900, 5);
    let features = Features::from_rows(items, dims, normals(items * dims, 5)).unwrap();
    let labels: Vec<usize> = (0..items).map(|item| item % 3).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, &[0..=2, 1..=2, 0..=1]).unwrap().with_total(3).unwrap();
    let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let found = exact(&model);
    assert_eq!(found.termination, Termination::Optimal);
    // The best over all quotas that the ranges allow.
    let quotas = [[0, 2, 1], [1, 1, 1], [1, 2, 0], [2, 1, 0]];
    let best = quotas.map(|counts| {
        let (partition, quota) = solvers::parts(&labels, &counts);
        exact(&PartitionDpp::new(&features, &partition, &quota).unwrap()).log_det
    });
    let best = best.into_iter().fold(f64::NEG_INFINITY, f64::max);
    assert_abs_diff_eq!(found.log_det, best, epsilon = 1e-6);
}

#[test]
fn bounds_know_what_parts_need() {
    // Two of the short rows are required, and no third long row is allowed.
    let rows: Vec<Vec<f64>> = (0..12)
        .map(|item| {
            let (first, length) = if item < 6 { (0, 0.1) } else { (3, 2.0) };
            let noise = &normals(12 * 6, 9)[6 * item..6 * item + 6];
            (0..6).map(|j| if (first..first + 3).contains(&j) { length * noise[j] } else { 0.0 }).collect()
        })
        .collect();
    let labels: Vec<usize> = (0..12).map(|item| item / 6).collect();
    let features = Features::from_rows(12, 6, rows.concat()).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, &[2..=3, 0..=2]).unwrap();
    let truth = Truth::new(Minors::of_features(&rows), &labels, &quota);
    let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let certificate = UpperBound::default().certify(&model, &Engine::cpu()).unwrap();
    assert_eq!(truth.violations(&certificate), []);
    for (bound, value) in certificate.bounds {
        println!("{bound}: {:.3} above", value - truth.best);
        assert!(
            matches!(bound, Bound::Spectral | Bound::Hadamard) || value < truth.best + 1.0,
            "{bound}: {value} {}",
            truth.best
        );
    }
}

/// Rows of part 0 are 16384 times as long as others, and differ by as much as the length of those: only the scales of
/// both
/// parts show the worth of an exchange between them.
#[test]
fn parts_of_other_magnitudes() {
    let (items, dims) = (12, 4);
    for seed in 0..40 {
        let mut rows: Vec<Vec<f64>> = normals(items * dims, seed).chunks(dims).map(<[f64]>::to_vec).collect();
        rows.iter_mut().step_by(2).for_each(|row| row[0] += 16384.0);
        let labels: Vec<usize> = (0..items).map(|item| item % 2).collect();
        let features = Features::from_rows(items, dims, rows.concat()).unwrap();
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = Quota::new(&partition, &[0..=3, 1..=3]).unwrap();
        for quota in [quota.clone(), quota.with_total(4).unwrap()] {
            let truth = Truth::new(Minors::of_features(&rows), &labels, &quota);
            check("magnitudes", &PartitionDpp::new(&features, &partition, &quota).unwrap(), &truth);
        }
    }
}
