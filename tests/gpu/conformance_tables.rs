//! Tables of exchanges on every engine, against naive loops.
#![allow(clippy::cast_possible_wrap, reason = "small numbers")]

use faer::{Mat, MatRef};
use half::f16;
use oracles::{
    engines::{self, Tested},
    on_every_engine,
    oracle::dot,
    random::normals,
};
use partition_dpp::{
    Features,
    engine::low_level::{BestSwap, Items, Rows, SwapTable, SwapUpdate},
};

/// A table with arbitrary duals, and an arbitrary exchange.
struct Exchange {
    features: Features,
    groups: [Vec<u32>; 3],
    duals: Vec<Mat<f64>>,
    residuals: Vec<f64>,
    weights: Vec<Vec<f64>>,
    vectors: [Vec<f64>; 2],
    factors: Vec<Vec<[f64; 2]>>,
}

impl Exchange {
    /// Makes three groups with these numbers of slots, and a chosen item in each group that has any.
    fn new(features: Features, slots: [usize; 3]) -> Self {
        let (items, dims) = (features.items(), features.dims());
        let of = |l: u32| (0..items as u32).filter(|i| i % 3 == l).collect::<Vec<u32>>();
        let groups = [of(0), of(1), of(2)];
        let duals = slots.map(|slots| {
            let values = normals(dims * slots, 8 + slots as u64);
            Mat::from_fn(dims, slots, |i, j| values[i * slots + j])
        });
        let mut residuals: Vec<f64> = normals(items, 4).iter().map(|x| x.abs()).collect();
        let mut start = 0;
        for group in &groups {
            residuals[start + group.len() / 2] = f64::NEG_INFINITY;
            start += group.len();
        }
        Self {
            features,
            groups,
            duals: duals.into(),
            residuals,
            weights: slots.map(|slots| normals(slots, 5).iter().map(|x| x.abs()).collect()).into(),
            vectors: [normals(dims, 6), normals(dims, 7)],
            factors: slots.map(|slots| normals(2 * slots, 9).as_chunks().0.to_vec()).into(),
        }
    }

    fn rows(&self) -> Rows<'_> {
        Rows::scaled(&self.features, self.groups.iter().map(|items| Items::Listed(items)).collect())
    }

    /// Returns an exchange: the chosen item of the first group leaves, and the group's first item enters.
    fn update(&self) -> SwapUpdate<'_> {
        SwapUpdate {
            group: 0,
            leaving_position: self.groups[0].len() / 2,
            entering_position: 0,
            leaving: &self.vectors[0],
            entering: &self.vectors[1],
            factors: &self.factors,
            residual_gain: 0.3,
            residual_loss: 0.01,
        }
    }

    /// Returns C and d of a group, before or after the update.
    fn naive(&self, l: usize, updated: bool) -> (Mat<f64>, Vec<f64>) {
        let scale = self.rows().groups()[l].scale;
        let start: usize = self.groups[..l].iter().map(Vec::len).sum();
        let (mut c, mut d) = (Mat::zeros(self.duals[l].ncols(), self.groups[l].len()), Vec::new());
        for (position, &item) in self.groups[l].iter().enumerate() {
            let row: Vec<f64> = self.features.row(item as usize).iter().map(|x| x * scale).collect();
            let [along, against] = [0, 1].map(|v| dot(&row, &self.vectors[v]));
            for slot in 0..c.nrows() {
                let dual: Vec<f64> = (0..row.len()).map(|i| self.duals[l][(i, slot)]).collect();
                let [alpha, gamma] = self.factors[l][slot];
                let change = if updated { alpha * along + gamma * against } else { 0.0 };
                c[(slot, position)] = dot(&row, &dual) - change;
            }
            let mut residual = self.residuals[start + position];
            let update = self.update();
            if updated && l == 0 && position == update.leaving_position {
                residual = 0.0;
            }
            if updated && l == 0 && position == update.entering_position {
                residual = f64::NEG_INFINITY;
            }
            let change = update.residual_gain * along * along - update.residual_loss * against * against;
            d.push(if updated { residual + change } else { residual });
        }
        (c, d)
    }

    /// Returns the magnitudes of the terms that add up to C and to d of a group.
    fn sizes(&self, l: usize) -> (f64, f64) {
        let scale = self.rows().groups()[l].scale;
        let norm = |x: &[f64]| dot(x, x).sqrt();
        let rows = self.groups[l].iter().map(|&item| scale * norm(&self.features.row(item as usize)));
        let row = rows.fold(0.0, f64::max);
        let duals = (0..self.duals[l].ncols()).map(|slot| self.duals[l].col(slot).norm_l2());
        let largest =
            |at: usize| self.factors[l].iter().fold(0.0, |max, factors| f64::max(max, factors[at].abs()));
        let [w, g] = [0, 1].map(|v| norm(&self.vectors[v]));
        let coefficient = row * (duals.fold(0.0, f64::max) + largest(0) * w + largest(1) * g);
        (coefficient, 4.0 + row * row * (0.3 * w * w + 0.01 * g * g))
    }

    fn check(
        &self,
        tested: &Tested,
        table: &dyn SwapTable,
        found: &[Vec<BestSwap>],
        updated: bool,
        what: &str,
    ) {
        let numbers = table.read().unwrap();
        for l in 0..3 {
            if self.weights[l].is_empty() {
                assert!(found[l].is_empty(), "{what}");
                continue;
            }
            let (c, d) = self.naive(l, updated);
            let (terms, (size, residual_size)) = (self.features.dims(), self.sizes(l));
            let weight = self.weights[l].iter().copied().fold(0.0, f64::max);
            let ratio_size = weight * residual_size + size * size;
            let mut best = f64::NEG_INFINITY;
            let ratio = |slot: usize, at: usize| self.weights[l][slot] * d[at] + c[(slot, at)].powi(2);
            for at in 0..d.len() {
                let residual = numbers[l].residuals[at];
                assert_eq!(residual.is_finite(), d[at].is_finite(), "{what}, item {at} of {l}");
                if d[at].is_finite() {
                    tested.close(residual, d[at], terms, residual_size, what);
                }
                for slot in 0..c.nrows() {
                    tested.close(numbers[l].coefficients[(slot, at)], c[(slot, at)], terms, size, what);
                    best = best.max(ratio(slot, at));
                }
            }
            assert_eq!(found[l].is_empty(), best == f64::NEG_INFINITY, "{what}");
            if let Some(first) = found[l].first() {
                tested.close(first.ratio, best, terms, ratio_size, what);
                let reached = found[l]
                    .iter()
                    .map(|swap| ratio(swap.slot, swap.position))
                    .fold(f64::NEG_INFINITY, f64::max);
                assert!(reached >= best - 1e-12 * ratio_size, "{what}: {reached} {best}");
            }
        }
    }
}

fn exchange(tested: &Tested, features: Features, slots: [usize; 3]) {
    let what = format!("{features:?}, slots {slots:?}");
    let exchange = Exchange::new(features, slots);
    let rows = exchange.rows();
    let duals: Vec<MatRef<'_, f64>> = exchange.duals.iter().map(Mat::as_ref).collect();
    let mut table = tested.engine.swap_table(&rows, &duals, &exchange.residuals).unwrap();
    let found = table.gains(None, &exchange.weights).unwrap();
    exchange.check(tested, &*table, &found, false, &what);
    let update = exchange.update();
    let found = table.gains(Some(&update), &exchange.weights).unwrap();
    exchange.check(tested, &*table, &found, true, &format!("{what}, updated"));
}

pub(crate) fn swap_table_and_gains(tested: &Tested) {
    for (items, dims) in [(3, 1), (12, 5), (190, 63), (769, 64), (800, 17), (6000, 9), (200, 257)] {
        let values = normals(items * dims, 3);
        for slots in [[3, 1, 0], [64, 65, 2], [1, 0, 17]] {
            exchange(tested, Features::from_rows(items, dims, values.clone()).unwrap(), slots);
        }
        // Rows in their stored type.
        let single: Vec<f32> = values.iter().map(|&x| x as f32).collect();
        exchange(tested, Features::from_rows(items, dims, single).unwrap(), [5, 1, 0]);
        let half: Vec<f16> = values.iter().map(|&x| f16::from_f64(x)).collect();
        exchange(tested, Features::from_rows(items, dims, half).unwrap(), [5, 1, 0]);
    }
}

on_every_engine!(swap_table_and_gains);

#[test]
fn planted_faults_are_noticed() {
    engines::assert_noticed(&[
        (("swap_table", "= values[c]", "= values[0]"), swap_table_and_gains),
        (("swap_gains", "s.x * c + s.y * g", "s.x * c - s.y * g"), swap_table_and_gains),
        (("swap_gains", "s.z * d + s.w * x * x", "s.z * d - s.w * x * x"), swap_table_and_gains),
        (("swap_gains", "c * c - change.y", "c * c + change.y"), swap_table_and_gains),
        (("swap_gains", "coefficients[at] = x;", "coefficients[at] = ZERO;"), swap_table_and_gains),
        (("swap_gains", "real(leading.slot)", "ZERO"), swap_table_and_gains),
    ]);
}
