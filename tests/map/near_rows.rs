//! Bounds of rows that agree to ten digits: what rounding takes from the items that are in counts, too.

use oracles::random::normals;
use partition_dpp::{
    Dpp, Engine, Features, KDpp,
    map::{BranchAndBound, Solver, UpperBound},
};

const ITEMS: usize = 9;
const SIZE: usize = 4;

/// Rows b + x of integers, all x small beside b: they agree in all digits but the last ones.
struct Near {
    rows: Vec<[i64; SIZE]>,
}

impl Near {
    /// b of about 2^exponent.
    fn new(exponent: i32, seed: u64) -> Self {
        let numbers = normals((ITEMS + 1) * SIZE, seed);
        let (x, base) = numbers.split_at(ITEMS * SIZE);
        let entry = |(j, x): (usize, &f64)| {
            (x * 7.0).round() as i64 + (base[j % SIZE] * 2_f64.powi(exponent)).round() as i64
        };
        let values: Vec<i64> = x.iter().enumerate().map(entry).collect();
        Self { rows: values.as_chunks().0.to_vec() }
    }

    fn features(&self) -> Features {
        let values: Vec<f64> = self.rows.iter().flatten().map(|&x| x as f64).collect();
        Features::from_rows(ITEMS, SIZE, values).unwrap()
    }

    /// ln det K_S, from an integer: the determinant of the first row and what the others are beyond it.
    fn log_det(&self, set: [usize; SIZE]) -> f64 {
        let first = self.rows[set[0]];
        let [a, b, c] = [1, 2, 3].map(|at| std::array::from_fn(|j| self.rows[set[at]][j] - first[j]));
        let cofactor = |j: usize| {
            let [p, q, r] = [1, 2, 3].map(|by| (j + by) % SIZE);
            let minor = |u: &[i64; SIZE], v: &[i64; SIZE], i: usize, j: usize| u[i] * v[j] - u[j] * v[i];
            a[p] * minor(&b, &c, q, r) - a[q] * minor(&b, &c, p, r) + a[r] * minor(&b, &c, p, q)
        };
        let sign = |j: usize| if j.is_multiple_of(2) { 1 } else { -1 };
        let det: i128 = (0..SIZE).map(|j| sign(j) * i128::from(first[j]) * i128::from(cofactor(j))).sum();
        2.0 * (det.unsigned_abs() as f64).ln()
    }

    /// The largest of all sets that hold these items.
    fn optimum(&self, included: &[usize]) -> f64 {
        let sets = (0_u32..1 << ITEMS).filter(|mask| mask.count_ones() as usize == SIZE);
        let sets = sets.map(|mask| (0..ITEMS).filter(|i| mask >> i & 1 == 1).collect::<Vec<_>>());
        sets.filter(|set| included.iter().all(|item| set.contains(item)))
            .map(|set| self.log_det([set[0], set[1], set[2], set[3]]))
            .fold(f64::NEG_INFINITY, f64::max)
    }
}

#[test]
fn bounds_hold_where_included_rows_almost_agree() {
    let mut worst: f64 = 0.0;
    for (exponent, seed) in
        [20, 28, 32, 35].into_iter().flat_map(|exponent| (1..25).map(move |seed| (exponent, seed)))
    {
        let near = Near::new(exponent, seed);
        let features = near.features();
        for included in [&[][..], &[0], &[3, 5], &[1, 4, 7]] {
            let best = near.optimum(included);
            let Ok(model) = KDpp::new(&features, SIZE).unwrap().including(included) else { continue };
            if best == f64::NEG_INFINITY {
                continue;
            }
            let certificate = UpperBound::default().certify(&model, &Engine::cpu()).unwrap();
            let solution = BranchAndBound::default().solve(&model, &Engine::cpu()).unwrap();
            for bound in [certificate.upper_bound, solution.upper_bound.unwrap()] {
                worst = worst.max(best - bound);
            }
        }
    }
    println!("largest violation {worst:e}");
    assert!(worst < 1e-12, "{worst}");
}

#[test]
fn bounds_stay_close_where_included_rows_almost_agree() {
    // Items 0 and 2 agree to eleven digits; the others are as near, and add nothing.
    let base = normals(5, 3);
    let noise = normals(15, 4);
    let values: Vec<f64> = (0..15).map(|at| base[at % 5] + 1e-11 * noise[at]).collect();
    let features = Features::from_rows(3, 5, values).unwrap();
    let model = Dpp::new(&features).unwrap().including(&[0, 2]).unwrap();
    let solution = BranchAndBound::default().solve(&model, &Engine::cpu()).unwrap();
    assert_eq!(solution.subset.as_slice(), [0, 2]);
    assert!(solution.gap().unwrap() < 1e-2, "{:?}", solution.gap());
}

#[test]
fn rows_that_vanish_when_squared_still_have_a_bound() {
    let scales = [1e100, 1e-90, 1e-95, 1e-100];
    let values: Vec<f64> = normals(20, 5).iter().enumerate().map(|(at, x)| x * scales[at / 5]).collect();
    let features = Features::from_rows(4, 5, values).unwrap();
    for size in 2..=3 {
        let model = KDpp::new(&features, size).unwrap();
        let certificate = UpperBound::default().certify(&model, &Engine::cpu()).unwrap();
        let best = 2.0 * scales[..size].iter().map(|scale| scale.ln()).sum::<f64>();
        assert!(certificate.upper_bound > best, "{} {best}", certificate.upper_bound);
    }
}
