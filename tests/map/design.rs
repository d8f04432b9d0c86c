//! D-optimal designs against enumeration.

use std::ops::RangeInclusive;

use approx::assert_abs_diff_eq;
use partition_dpp::{
    Engine, Error, Features, Partition, Quota, Subset, Watch,
    map::{Bound, BranchAndBound, Design, LocalSearch, Restarts, Solution, Solver, Termination},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns ln det(AᵀA) of some rows, by elimination with full pivoting.
fn log_det(rows: &[&[f64]]) -> f64 {
    let columns = rows[0].len();
    let mut matrix = vec![vec![0.0; columns]; columns];
    for row in rows {
        for i in 0..columns {
            for j in 0..columns {
                matrix[i][j] += row[i] * row[j];
            }
        }
    }
    let mut sum = 0.0;
    for step in 0..columns {
        let pivot = (step..columns).max_by(|&i, &j| matrix[i][i].total_cmp(&matrix[j][j])).unwrap();
        matrix.swap(step, pivot);
        matrix.iter_mut().for_each(|row| row.swap(step, pivot));
        if matrix[step][step] <= 1e-12 {
            return f64::NEG_INFINITY;
        }
        sum += matrix[step][step].ln();
        for i in step + 1..columns {
            let factor = matrix[i][step] / matrix[step][step];
            let pivot = matrix[step].clone();
            matrix[i].iter_mut().zip(&pivot).skip(step).for_each(|(entry, own)| *entry -= factor * own);
        }
    }
    sum
}

/// Returns the largest ln det of any design that `allowed` accepts.
fn best(values: &[f64], columns: usize, allowed: impl Fn(&[usize]) -> bool) -> f64 {
    let rows: Vec<&[f64]> = values.chunks_exact(columns).collect();
    let sets = (0_u32..1 << rows.len())
        .map(|mask| (0..rows.len()).filter(|i| mask >> i & 1 == 1).collect::<Vec<_>>());
    let worth = |set: Vec<usize>| log_det(&set.iter().map(|&i| rows[i]).collect::<Vec<_>>());
    sets.filter(|set| set.len() >= columns && allowed(set)).map(worth).fold(f64::NEG_INFINITY, f64::max)
}

fn proven(design: &Design) -> Solution {
    BranchAndBound::default().solve(design, &Engine::cpu()).unwrap()
}

fn check(design: &Design, best: f64) {
    let solution = proven(design);
    assert_eq!(solution.termination, Termination::Optimal, "{best}");
    assert_abs_diff_eq!(solution.log_det, best, epsilon = 1e-9);
    let bound = solution.upper_bound.unwrap();
    assert!(bound >= best - 1e-12 && bound <= best + 1e-8, "{bound} {best}");
    let certificate = design.certify(&Engine::cpu()).unwrap();
    assert!(certificate.bounds.iter().all(|(_, bound)| *bound >= best - 1e-12));
    let [distinct, repeated] = design.efficiency(&certificate, solution.log_det);
    assert!(distinct > 0.0 && repeated > 0.0 && distinct <= 1.0 && repeated <= 1.0);
    let found = LocalSearch::default().solve(design, &Engine::cpu()).unwrap();
    assert!(found.log_det <= best + 1e-9 && found.upper_bound.unwrap() >= best - 1e-12);
}

#[test]
fn designs_are_the_best_of_all() {
    for seed in 0..12 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (rows, columns) = (12, 1 + seed as usize % 4);
        let values: Vec<f64> = (0..rows * columns).map(|_| random.random_range(-1.0..1.0)).collect();
        let features = Features::from_rows(rows, columns, values.clone()).unwrap();
        for k in columns..=2 * columns + 2 {
            let design = Design::new(&features, k).unwrap();
            check(&design, best(&values, columns, |set| set.len() == k));
            let given = design.including(&[3]).unwrap().excluding(&[0, 7]).unwrap();
            let allowed =
                |set: &[usize]| set.len() == k && set.contains(&3) && !set.contains(&0) && !set.contains(&7);
            check(&given, best(&values, columns, allowed));
        }
    }
}

#[test]
fn designs_meet_quotas_and_ranges() {
    let labels = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 0];
    let partition = Partition::from_labels(&labels).unwrap();
    let cases: [([RangeInclusive<usize>; 3], Option<usize>); 4] = [
        ([2..=2, 1..=1, 2..=2], None),
        ([1..=2, 0..=4, 2..=3], Some(5)),
        ([0..=5, 3..=3, 0..=1], Some(6)),
        ([1..=2, 1..=2, 0..=1], None),
    ];
    for seed in 0..6 {
        let mut random = ChaCha8Rng::seed_from_u64(100 + seed);
        let values: Vec<f64> = (0..36).map(|_| random.random_range(-1.0..1.0)).collect();
        let features = Features::from_rows(12, 3, values.clone()).unwrap();
        for (ranges, total) in &cases {
            let quota = Quota::new(&partition, ranges).unwrap();
            let quota = total.map_or(Ok(quota.clone()), |total| quota.with_total(total)).unwrap();
            let allowed = |set: &[usize]| {
                let count = |part| set.iter().filter(|&&item| labels[item] == part).count();
                let within = (0..3).all(|part| ranges[part].contains(&count(part)));
                within && total.is_none_or(|total| set.len() == total)
            };
            let design = Design::under(&features, &partition, &quota).unwrap();
            check(&design, best(&values, 3, allowed));
        }
    }
}

/// Returns the largest determinant of XᵀX plus a matrix, over all sets of `left` rows from `next` on.
fn largest_det<const N: usize>(rows: &[[f64; N]], left: usize, matrix: &[[f64; N]; N]) -> f64 {
    if left == 0 {
        return det(*matrix);
    }
    let mut largest = 0.0;
    for next in 0..=rows.len() - left {
        let mut with = *matrix;
        for i in 0..N {
            for j in 0..=i {
                with[i][j] += rows[next][i] * rows[next][j];
            }
        }
        largest = f64::max(largest, largest_det(&rows[next + 1..], left - 1, &with));
    }
    largest
}

/// Returns the determinant, by elimination in the lower half.
fn det<const N: usize>(mut matrix: [[f64; N]; N]) -> f64 {
    let mut product = 1.0;
    for step in 0..N {
        let pivot = matrix[step][step];
        if pivot <= 1e-12 {
            return 0.0;
        }
        product *= pivot;
        for i in step + 1..N {
            let factor = matrix[i][step] / pivot;
            let column: [f64; N] = std::array::from_fn(|j| matrix[j][step]);
            let changed = matrix[i].iter_mut().zip(column).take(i + 1).skip(step + 1);
            changed.for_each(|(entry, other)| *entry -= factor * other);
        }
    }
    product
}

/// Returns all rows of a full quadratic model in three factors at three levels.
fn quadratic() -> Vec<[f64; 10]> {
    let levels = [-1.0, 0.0, 1.0];
    let points = levels.iter().flat_map(|a| levels.iter().flat_map(move |b| levels.map(|c| [*a, *b, c])));
    points.map(|[a, b, c]| [1.0, a, b, c, a * a, b * b, c * c, a * b, a * c, b * c]).collect()
}

/// Sizes of up to 20 of 27 rows. Those with fewer than 4 million sets are compared with enumeration, or all of them
/// with
/// `PDPP_DESIGNS=all`.
#[test]
fn quadratic_models_are_proven() {
    let all = std::env::var("PDPP_DESIGNS").is_ok_and(|which| which == "all");
    let rows = quadratic();
    let features = Features::from_rows(27, 10, rows.concat()).unwrap();
    for k in 10..=20 {
        let design = Design::new(&features, k).unwrap();
        let started = std::time::Instant::now();
        let solution = proven(&design);
        let seconds = started.elapsed().as_secs_f64();
        let certificate = design.certify(&Engine::cpu()).unwrap();
        let [distinct, repeated] = design.efficiency(&certificate, solution.log_det);
        let (found, nodes) = (solution.log_det, solution.stats.nodes);
        println!(
            "k = {k}: ln det {found:.9}, {nodes} nodes, {seconds:.2} s, efficiency {distinct:.4}, {repeated:.4}"
        );
        assert_eq!(solution.termination, Termination::Optimal);
        if all || k > 18 {
            let best = largest_det(&rows, k, &[[0.0; 10]; 10]).ln();
            assert_abs_diff_eq!(found, best, epsilon = 1e-9);
        }
    }
}

#[test]
fn random_designs_of_twenty_rows_are_the_best_of_all() {
    for seed in 0..6 {
        let mut random = ChaCha8Rng::seed_from_u64(100 + seed);
        let rows: Vec<[f64; 4]> =
            (0..20).map(|_| std::array::from_fn(|_| random.random_range(-1.0..1.0))).collect();
        let features = Features::from_rows(20, 4, rows.concat()).unwrap();
        for k in 4..=8 {
            check(&Design::new(&features, k).unwrap(), largest_det(&rows, k, &[[0.0; 4]; 4]).ln());
        }
    }
}

/// Columns with very different units, as in raw measurements.
#[test]
fn units_do_not_matter() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let values: Vec<f64> = (0..60).map(|_| random.random_range(-1.0..1.0)).collect();
    let scales = [1e-6, 1.0, 3e7];
    let raw: Vec<f64> = values.iter().enumerate().map(|(at, value)| value * scales[at % 3]).collect();
    let plain = Design::new(&Features::from_rows(20, 3, values).unwrap(), 6).unwrap();
    let scaled = Design::new(&Features::from_rows(20, 3, raw).unwrap(), 6).unwrap();
    let (plain, scaled) = (proven(&plain), proven(&scaled));
    assert_eq!(plain.subset, scaled.subset);
    let shift = 2.0 * scales.iter().map(|scale: &f64| scale.ln()).sum::<f64>();
    assert_abs_diff_eq!(scaled.log_det, plain.log_det + shift, epsilon = 1e-10);
    assert_eq!(scaled.termination, Termination::Optimal);
}

/// Exact values: the best designs for a line are its ends, and for an even number of trials repeats would be no
/// better.
#[test]
fn a_line_is_estimated_from_its_ends() {
    let values: Vec<f64> = (0..9).flat_map(|i| [1.0, f64::from(i) / 4.0 - 1.0]).collect();
    let design = Design::new(&Features::from_rows(9, 2, values).unwrap(), 2).unwrap();
    let solution = proven(&design);
    assert_eq!(solution.subset.as_slice(), [0, 8]);
    assert_abs_diff_eq!(solution.log_det, 4.0_f64.ln(), epsilon = 1e-14);
    let certificate = design.certify(&Engine::cpu()).unwrap();
    for (bound, value) in &certificate.bounds {
        assert!((4.0_f64.ln()..4.0_f64.ln() + 1e-5).contains(value), "{bound}: {value}");
    }
    // Four trials: both ends twice have determinant 16, which no design of distinct rows reaches.
    let four = Design::new(
        &Features::from_rows(9, 2, (0..9).flat_map(|i| [1.0, f64::from(i) / 4.0 - 1.0]).collect::<Vec<_>>())
            .unwrap(),
        4,
    )
    .unwrap();
    let certificate = four.certify(&Engine::cpu()).unwrap();
    let repeated = certificate.bounds.iter().find(|(bound, _)| *bound == Bound::Repeated).unwrap().1;
    assert_abs_diff_eq!(repeated, 16.0_f64.ln(), epsilon = 1e-5);
    assert!(certificate.upper_bound < repeated - 0.1);
}

#[test]
fn many_rows_are_bounded_and_searched() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let values: Vec<f64> = (0..20_000 * 5).map(|_| random.random_range(-1.0..1.0)).collect();
    let features = Features::from_rows(20_000, 5, values).unwrap();
    let labels: Vec<usize> = (0..20_000).map(|item| item % 3).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, [4, 4, 4]).unwrap();
    let design = Design::under(&features, &partition, &quota).unwrap();
    let found = LocalSearch::default().solve(&design, &Engine::cpu()).unwrap();
    assert!(found.gap().unwrap() < 0.2, "{:?}", found.gap());
    let again =
        LocalSearch::default().with_restarts(Restarts::Count(5)).solve(&design, &Engine::cpu()).unwrap();
    assert!(again.log_det >= found.log_det);
    for part in 0..3 {
        assert_eq!(found.subset.iter().filter(|&item| labels[item] == part).count(), 4);
    }
}

#[test]
fn a_stopped_search_has_a_set_and_a_bound() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let values: Vec<f64> = (0..300 * 8).map(|_| random.random_range(-1.0..1.0)).collect();
    let design = Design::new(&Features::from_rows(300, 8, values).unwrap(), 20).unwrap();
    let watch = Watch::default().within(std::time::Duration::ZERO);
    let solution = BranchAndBound::default().solve(&design, &Engine::cpu().watched(&watch)).unwrap();
    assert_eq!((solution.termination, solution.subset.len()), (Termination::TimeLimit, 20));
    assert!(solution.upper_bound.unwrap() >= solution.log_det);
}

#[test]
fn what_cannot_be_estimated_is_refused() {
    let features = Features::from_rows(4, 2, vec![1.0, 2.0, 2.0, 4.0, -1.0, -2.0, 3.0, 6.0]).unwrap();
    assert!(matches!(Design::new(&features, 3), Err(Error::DesignRank { rank: 1, columns: 2 })));
    assert!(matches!(Design::new(&features, 1), Err(Error::DesignRank { rank: 1, columns: 2 })));
    assert!(matches!(Design::new(&features, 5), Err(Error::SizeAboveItems { k: 5, items: 4 })));
    let weighted = features.with_log_quality(&[0.0, 1.0, 0.0, 0.0]).unwrap();
    assert!(matches!(Design::new(&weighted, 3), Err(Error::NotForLaw(_))));
    // Rows of a part with a quota of zero do not count.
    let features = Features::from_rows(3, 2, vec![1.0, 0.0, 2.0, 0.0, 0.0, 1.0]).unwrap();
    let partition = Partition::from_labels(&["a", "a", "b"]).unwrap();
    let quota = Quota::new(&partition, [2, 0]).unwrap();
    let refused = Design::under(&features, &partition, &quota);
    assert!(matches!(refused, Err(Error::DesignRank { rank: 1, columns: 2 })));
    // The parts together have the rank, but the rows that the quota takes do not.
    let features =
        Features::from_rows(5, 3, vec![1., 0., 0., 2., 0., 0., 3., 0., 0., 0., 1., 0., 0., 0., 1.]).unwrap();
    let partition = Partition::from_labels(&["a", "a", "a", "b", "b"]).unwrap();
    let design = Design::under(&features, &partition, &Quota::new(&partition, [2, 1]).unwrap()).unwrap();
    let solution = proven(&design);
    assert_eq!((solution.termination, solution.subset.len()), (Termination::RankExhausted, 3));
    assert!(solution.log_det.is_infinite());
    // An included row far longer than all others.
    let features = Features::from_rows(3, 1, vec![1e-80, 2e-80, 1e80]).unwrap();
    let solution = proven(&Design::new(&features, 2).unwrap().including(&[2]).unwrap());
    assert_eq!(solution.subset.len(), 2);
    let fine = Features::from_rows(3, 1, vec![1.0, 2.0, 3.0]).unwrap();
    let design = Design::new(&fine, 2).unwrap();
    assert!(matches!(design.log_det(&Subset::new(vec![3], 4).unwrap()), Err(Error::ItemOutOfRange { .. })));
    assert!(matches!(design.excluding(&[0, 1]), Err(Error::SizeAboveItems { .. })));
}
