//! The verbs of local search against naive loops, and their gains against brute-force determinants.

use approx::assert_abs_diff_eq;
use faer::{Mat, MatRef};
use nalgebra::DMatrix;
use oracles::{random::normals, with_threads};
use partition_dpp::{
    Features,
    engine::low_level::{BestSwap, Cpu, Items, Rows, SwapTable, SwapUpdate, Verbs},
};

/// Tiles have 8 items, blocks 256, tasks 8192.
const ITEMS: [usize; 9] = [3, 7, 8, 9, 255, 256, 257, 8192, 8200];
const DIMS: [usize; 5] = [1, 3, 16, 17, 64];

/// Rows in two interleaved groups and a third in which nothing is chosen, with arbitrary numbers for everything else.
struct Zoo {
    features: Features,
    groups: Vec<Vec<u32>>,
    scales: Vec<f64>,
    duals: Vec<Mat<f64>>,
    residuals: Vec<f64>,
    weights: Vec<Vec<f64>>,
    leaving: Vec<f64>,
    entering: Vec<f64>,
    factors: Vec<Vec<[f64; 2]>>,
}

impl Zoo {
    fn new(items: usize, dims: usize, slots: [usize; 3]) -> Self {
        let values = normals(items * dims, 3);
        let features = Features::from_rows(items, dims, values).unwrap();
        let member = |group: u32| (0..items as u32).filter(move |item| item % 3 == group).collect();
        let dual = |(group, &slots): (usize, &usize)| {
            let values = normals(dims * slots, 50 + group as u64);
            Mat::from_fn(dims, slots, |i, j| values[i * slots + j])
        };
        let numbers = |count: usize, seed| normals(count, seed).into_iter().map(f64::abs).collect::<Vec<_>>();
        let factors =
            |&slots: &usize| normals(2 * slots, 9).chunks(2).map(|pair| [pair[0], pair[1]]).collect();
        let groups: Vec<Vec<u32>> = (0..3).map(member).collect();
        let listed = groups.iter().map(|items| Items::Listed(items)).collect();
        let scales = Rows::scaled(&features, listed).groups().iter().map(|group| group.scale).collect();
        Self {
            features,
            groups,
            scales,
            duals: slots.iter().enumerate().map(dual).collect(),
            residuals: numbers(items, 5),
            weights: slots.iter().map(|&slots| numbers(slots, 6)).collect(),
            leaving: normals(dims, 7),
            entering: normals(dims, 8),
            factors: slots.iter().map(factors).collect(),
        }
    }

    fn rows(&self) -> Rows<'_> {
        Rows::scaled(&self.features, self.groups.iter().map(|items| Items::Listed(items)).collect())
    }

    fn table(&self) -> Box<dyn SwapTable + '_> {
        let duals: Vec<MatRef<'_, f64>> = self.duals.iter().map(Mat::as_ref).collect();
        Cpu.swap_table(&self.rows(), &duals, &self.residuals).unwrap()
    }

    fn update(&self) -> SwapUpdate<'_> {
        SwapUpdate {
            group: 0,
            leaving_position: 0,
            entering_position: self.groups[0].len() - 1,
            leaving: &self.leaving,
            entering: &self.entering,
            factors: &self.factors,
            residual_gain: 0.7,
            residual_loss: 0.3,
        }
    }

    /// Returns C and d of an item, before or after the update.
    fn naive(&self, group: usize, position: usize, updated: bool) -> (Vec<f64>, f64) {
        let scale = self.scales[group];
        let item = self.groups[group][position] as usize;
        let row: Vec<f64> = self.features.row(item).iter().map(|x| x * scale).collect();
        let along = |w: &[f64]| row.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        let duals = &self.duals[group];
        let column = |j: usize| (0..duals.nrows()).map(|i| duals[(i, j)]).collect::<Vec<_>>();
        let mut coefficients: Vec<f64> = (0..duals.ncols()).map(|j| along(&column(j))).collect();
        let before: usize = self.groups[..group].iter().map(Vec::len).sum();
        let mut residual = self.residuals[before + position];
        if updated {
            let (c, g, update) = (along(&self.leaving), along(&self.entering), self.update());
            for (x, [alpha, gamma]) in coefficients.iter_mut().zip(&self.factors[group]) {
                *x -= alpha * c + gamma * g;
            }
            if group == update.group && position == update.leaving_position {
                residual = 0.0;
            }
            residual += 0.7 * c * c - 0.3 * g * g;
            if group == update.group && position == update.entering_position {
                residual = f64::NEG_INFINITY;
            }
        }
        (coefficients, residual)
    }

    fn naive_best(&self, group: usize, updated: bool) -> Option<BestSwap> {
        let mut best: Option<BestSwap> = None;
        for position in 0..self.groups[group].len() {
            let (coefficients, residual) = self.naive(group, position, updated);
            for (slot, (weight, x)) in self.weights[group].iter().zip(coefficients).enumerate() {
                let ratio = weight * residual + x * x;
                if ratio > best.map_or(f64::NEG_INFINITY, |best| best.ratio) {
                    best = Some(BestSwap { slot, position, ratio });
                }
            }
        }
        best
    }

    /// Returns the largest deviation of a table from the naive numbers. Groups without slots are skipped.
    fn deviation(&self, table: &dyn SwapTable, updated: bool) -> f64 {
        let numbers = table.read().unwrap();
        let mut worst = 0.0_f64;
        for group in (0..3).filter(|&group| self.duals[group].ncols() > 0) {
            for position in 0..self.groups[group].len() {
                let (coefficients, residual) = self.naive(group, position, updated);
                for (slot, x) in coefficients.into_iter().enumerate() {
                    worst = worst
                        .max((numbers[group].coefficients[(slot, position)] - x).abs() / (1.0 + x.abs()));
                }
                let found = numbers[group].residuals[position];
                if residual.is_finite() || found.is_finite() {
                    worst = worst.max((found - residual).abs() / (1.0 + residual.abs()));
                }
            }
        }
        worst
    }
}

#[test]
fn tables_and_updates_against_naive_loops() {
    for items in ITEMS {
        for dims in DIMS {
            if items > 1000 && dims > 17 {
                continue;
            }
            let zoo = Zoo::new(items, dims, [5, 1, 0]);
            let mut table = zoo.table();
            assert!(zoo.deviation(&*table, false) < 1e-13, "table of {items}×{dims}");
            for updated in [false, true] {
                let update = zoo.update();
                let update = updated.then_some(&update);
                let found = table.gains(update, &zoo.weights).unwrap();
                assert!(zoo.deviation(&*table, updated) < 1e-13, "{items}×{dims}, updated: {updated}");
                for (group, found) in found.into_iter().enumerate() {
                    let found = found.first();
                    let best = zoo.naive_best(group, updated);
                    assert_eq!(found.is_some(), best.is_some(), "{items}×{dims}, group {group}");
                    let (Some(found), Some(best)) = (found, best) else { continue };
                    assert_eq!((found.slot, found.position), (best.slot, best.position), "{items}×{dims}");
                    assert_abs_diff_eq!(found.ratio, best.ratio, epsilon = 1e-12 * (1.0 + best.ratio));
                }
            }
            // The negative control: without the update, the numbers differ.
            assert!(zoo.deviation(&*zoo.table(), true) > 1e-3);
        }
    }
}

#[test]
fn f32_rows_have_the_same_numbers() {
    let values: Vec<f32> = normals(300 * 17, 4).into_iter().map(|x| x as f32).collect();
    let wide: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    let tables = [Features::from_rows(300, 17, values).unwrap(), Features::from_rows(300, 17, wide).unwrap()]
        .map(|features| {
            let zoo = Zoo { features, ..Zoo::new(300, 17, [4, 3, 2]) };
            let mut table = zoo.table();
            let found = table.gains(Some(&zoo.update()), &zoo.weights).unwrap();
            (format!("{:?}", table.read().unwrap()), found)
        });
    assert_eq!(tables[0], tables[1]);
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let zoo = Zoo::new(40_000, 9, [4, 3, 2]);
    let run = |threads| {
        with_threads(threads, || {
            let mut table = zoo.table();
            let found = table.gains(Some(&zoo.update()), &zoo.weights).unwrap();
            let numbers = table.read().unwrap();
            let bits = |position: usize| numbers[1].coefficients[(2, position)].to_bits();
            (found, (0..zoo.groups[1].len()).map(bits).collect::<Vec<_>>())
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(4));
}

#[test]
fn the_first_of_equals() {
    // Every row appears nine times: the first of the best is taken, within a tile and across tiles.
    let rows: Vec<f64> = (0..9).flat_map(|_| [1.0, 0.0, 0.0, 2.0, 2.0, 0.0]).collect();
    let features = Features::from_rows(27, 2, rows).unwrap();
    let rows = Rows::scaled(&features, vec![Items::All(27)]);
    let dual = Mat::from_fn(2, 1, |_, _| 1.0);
    let mut table = Cpu.swap_table(&rows, &[dual.as_ref()], &[0.0; 27]).unwrap();
    let found = table.gains(None, &[vec![1.0]]).unwrap();
    assert_eq!(found[0].first().map(|swap| (swap.slot, swap.position)), Some((0, 1)));
}

/// A fault to plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The table does not learn about exchanges.
    StaleTable,
    /// d is not updated.
    StaleResiduals,
    /// The changes of two slots are swapped.
    WrongSlot,
}

/// W = B (BᵀB)⁻¹ and M = (BᵀB)⁻¹, where the columns of B are the rows of a set, and the squared distances of all
/// rows.
struct Fresh {
    duals: DMatrix<f64>,
    inverse: DMatrix<f64>,
    residuals: Vec<f64>,
}

impl Fresh {
    fn new(rows: &DMatrix<f64>, set: &[usize]) -> Self {
        let chosen = DMatrix::from_fn(rows.ncols(), set.len(), |i, j| rows[(set[j], i)]);
        let inverse = (chosen.transpose() * &chosen).try_inverse().unwrap();
        let duals = &chosen * &inverse;
        let residual = |item: usize| {
            let row = rows.row(item).transpose();
            (&row - &duals * (chosen.transpose() * &row)).norm_squared()
        };
        let mut residuals: Vec<f64> = (0..rows.nrows()).map(residual).collect();
        set.iter().for_each(|&item| residuals[item] = f64::NEG_INFINITY);
        Self { duals, inverse, residuals }
    }
}

fn determinant(rows: &DMatrix<f64>, set: &[usize]) -> f64 {
    let chosen = DMatrix::from_fn(set.len(), rows.ncols(), |i, j| rows[(set[i], j)]);
    (&chosen * chosen.transpose()).determinant()
}

/// Returns the worst relative error of M_ii d_j + C_ij² against determinants, over all pairs, after each of four
/// exchanges. Duals are recomputed here, since only the table is tested.
fn worst_gain(fault: Fault) -> f64 {
    let (items, dims, k) = (40, 9, 5);
    let values = normals(items * dims, 11);
    let features = Features::from_rows(items, dims, values).unwrap();
    let engine_rows = Rows::scaled(&features, vec![Items::All(items)]);
    let scale = engine_rows.groups()[0].scale;
    let rows = DMatrix::from_fn(items, dims, |i, j| scale * features.row(i)[j]);
    let mut set: Vec<usize> = (0..k).collect();
    let mut fresh = Fresh::new(&rows, &set);
    let duals = Mat::from_fn(dims, k, |i, j| fresh.duals[(i, j)]);
    let mut table = Cpu.swap_table(&engine_rows, &[duals.as_ref()], &fresh.residuals).unwrap();
    let mut worst = 0.0_f64;
    for (slot, entering) in [(0, 20), (3, 31), (0, 0), (4, 39)] {
        let leaving = std::mem::replace(&mut set[slot], entering);
        let next = Fresh::new(&rows, &set);
        let weight = fresh.inverse[(slot, slot)];
        let along = |l: usize| fresh.duals.column(l).dot(&rows.row(entering).transpose());
        let ratio = weight * fresh.residuals[entering] + along(slot).powi(2);
        let factor = |l: usize| {
            let alpha = fresh.inverse[(l, slot)] / weight;
            if l == slot { [1.0, -1.0] } else { [alpha, along(l) - alpha * along(slot)] }
        };
        let mut factors: Vec<[f64; 2]> = (0..k).map(factor).collect();
        if fault == Fault::WrongSlot {
            factors.swap(1, 2);
        }
        let keep = if fault == Fault::StaleResiduals { 0.0 } else { 1.0 };
        let update = SwapUpdate {
            group: 0,
            leaving_position: leaving,
            entering_position: entering,
            leaving: &fresh.duals.column(slot).iter().copied().collect::<Vec<_>>(),
            entering: &next.duals.column(slot).iter().copied().collect::<Vec<_>>(),
            factors: &[factors],
            residual_gain: keep / weight,
            residual_loss: keep * ratio / weight,
        };
        let update = (fault != Fault::StaleTable).then_some(&update);
        let weights: Vec<f64> = (0..k).map(|l| next.inverse[(l, l)]).collect();
        let best = table.gains(update, std::slice::from_ref(&weights)).unwrap();
        let now = determinant(&rows, &set);
        let numbers = &table.read().unwrap()[0];
        let mut largest = 0.0_f64;
        for slot in 0..k {
            for item in (0..items).filter(|item| !set.contains(item)) {
                let mut other = set.clone();
                other[slot] = item;
                let expected = determinant(&rows, &other) / now;
                let found =
                    weights[slot] * numbers.residuals[item] + numbers.coefficients[(slot, item)].powi(2);
                worst = worst.max((found - expected).abs() / (expected + 1e-3));
                largest = largest.max(expected);
            }
        }
        worst = worst.max((best[0][0].ratio - largest).abs() / largest);
        fresh = next;
    }
    worst
}

#[test]
fn gains_of_all_pairs_after_several_exchanges() {
    let worst = worst_gain(Fault::None);
    assert!(worst < 1e-9, "{worst:e}");
}

#[test]
fn planted_faults_are_seen() {
    for fault in [Fault::StaleTable, Fault::StaleResiduals, Fault::WrongSlot] {
        let worst = worst_gain(fault);
        assert!(worst > 1e-2 || worst.is_nan(), "{fault:?}: {worst:e}");
    }
}
