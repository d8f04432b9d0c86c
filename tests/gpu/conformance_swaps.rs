//! Swaps that a device makes without the host, against naive loops.

use faer::{Mat, MatRef};
use half::f16;
use nalgebra::DMatrix;
use oracles::{
    engines::{self, Tested},
    on_every_engine,
    oracle::dot,
    random::normals,
};
use partition_dpp::{
    Features,
    engine::{
        Precision,
        low_level::{Items, Rows, SwapAhead, SwapTable, SwapUpdate, SwapsAhead, SwapsEnd},
    },
};

use crate::conformance::{norm, scaled};

/// The least improvement of a swap.
const LEAST: f64 = 1e-9;

/// A chosen set, for which everything is recomputed.
#[derive(Clone)]
struct Naive {
    /// The scaled rows of every group.
    rows: Vec<Vec<Vec<f64>>>,
    /// Rows that never leave.
    kept: Vec<Vec<f64>>,
    chosen: Vec<Vec<usize>>,
}

/// The best swap and the second best ratio, by group, slot and position.
struct Best {
    place: (usize, usize, usize),
    ratio: f64,
    second: f64,
}

impl Naive {
    /// Returns kept rows and then the rows of every slot, as columns.
    fn basis(&self) -> DMatrix<f64> {
        let slots = self.chosen.iter().enumerate();
        let chosen = slots.flat_map(|(l, slots)| slots.iter().map(move |&at| &self.rows[l][at]));
        let columns: Vec<&Vec<f64>> = self.kept.iter().chain(chosen).collect();
        DMatrix::from_fn(columns[0].len(), columns.len(), |i, j| columns[j][i])
    }

    fn duals(&self) -> DMatrix<f64> {
        let qr = self.basis().qr();
        qr.q() * qr.r().try_inverse().unwrap().transpose()
    }

    fn column(&self, l: usize, slot: usize) -> usize {
        self.kept.len() + self.chosen[..l].iter().map(Vec::len).sum::<usize>() + slot
    }

    /// Returns ‖a − π(a)‖² of a row, or −∞ for chosen ones.
    fn residual(&self, basis: &DMatrix<f64>, duals: &DMatrix<f64>, l: usize, at: usize) -> f64 {
        if self.chosen[l].contains(&at) {
            return f64::NEG_INFINITY;
        }
        let row = DMatrix::from_column_slice(basis.nrows(), 1, &self.rows[l][at]);
        let rest = &row - basis * (duals.transpose() * &row);
        (&rest - basis * (duals.transpose() * &rest)).norm_squared()
    }

    fn residuals(&self) -> Vec<Vec<f64>> {
        let (basis, duals) = (self.basis(), self.duals());
        let of_group =
            |l: usize| (0..self.rows[l].len()).map(|at| self.residual(&basis, &duals, l, at)).collect();
        (0..self.rows.len()).map(of_group).collect()
    }

    fn best(&self) -> Best {
        let (duals, residuals) = (self.duals(), self.residuals());
        let mut best = Best { place: (0, 0, 0), ratio: f64::NEG_INFINITY, second: f64::NEG_INFINITY };
        for (l, rows) in self.rows.iter().enumerate() {
            for (at, row) in rows.iter().enumerate() {
                for slot in 0..self.chosen[l].len() {
                    let dual = duals.column(self.column(l, slot));
                    let ratio = dual.norm_squared() * residuals[l][at] + dot(dual.as_slice(), row).powi(2);
                    if residuals[l][at].is_finite() && ratio > best.ratio {
                        best = Best { place: (l, slot, at), ratio, second: best.ratio };
                    } else if residuals[l][at].is_finite() {
                        best.second = best.second.max(ratio);
                    }
                }
            }
        }
        best
    }

    /// Returns the ratio of a swap.
    fn ratio(&self, (l, slot, at): (usize, usize, usize)) -> f64 {
        let (basis, duals) = (self.basis(), self.duals());
        let dual = duals.column(self.column(l, slot));
        let residual = self.residual(&basis, &duals, l, at);
        dual.norm_squared() * residual + dot(dual.as_slice(), &self.rows[l][at]).powi(2)
    }

    /// Returns the largest ‖w_l‖ ‖a‖, and ‖a‖².
    fn sizes(&self) -> (f64, f64) {
        let row = self.rows.iter().flatten().map(|row| norm(row)).fold(0.0, f64::max);
        let dual = self.duals().column_iter().map(|dual| dual.norm()).fold(0.0, f64::max);
        (row * dual, row * row)
    }

    /// Returns Σ ‖w_l‖ ‖b_l‖: the factor by which rounding errors of rows are amplified in duals.
    fn amplification(&self) -> f64 {
        let (basis, duals) = (self.basis(), self.duals());
        basis.column_iter().zip(duals.column_iter()).map(|(row, dual)| row.norm() * dual.norm()).sum()
    }

    fn check(&self, tested: &Tested, table: &dyn SwapTable, updates: usize, what: &str) {
        let (duals, residuals) = (self.duals(), self.residuals());
        let (size, square) = self.sizes();
        let terms = duals.nrows() * (updates + 1);
        let enlarged = 1.0 + self.amplification() / 8.0;
        for (l, numbers) in table.read().unwrap().iter().enumerate() {
            for (at, row) in self.rows[l].iter().enumerate() {
                let (found, expected) = (numbers.residuals[at], residuals[l][at]);
                assert_eq!(
                    found.is_finite(),
                    expected.is_finite(),
                    "{what}, item {at} of {l}: {found} {expected}"
                );
                if expected.is_finite() && !self.chosen[l].is_empty() {
                    tested.close(found, expected, terms, square * enlarged, what);
                }
                for slot in 0..self.chosen[l].len() {
                    let expected = dot(duals.column(self.column(l, slot)).as_slice(), row);
                    tested.close(numbers.coefficients[(slot, at)], expected, terms, size * enlarged, what);
                }
            }
        }
    }
}

/// The effects of a swap, computed from everything before it.
struct Made {
    group: usize,
    leaving_position: usize,
    entering_position: usize,
    leaving: Vec<f64>,
    entering: Vec<f64>,
    factors: Vec<Vec<[f64; 2]>>,
    weight: f64,
    ratio: f64,
}

impl Made {
    fn new(before: &Naive, (l, slot, at): (usize, usize, usize)) -> (Self, Naive) {
        let mut after = before.clone();
        after.chosen[l][slot] = at;
        let (old, new, column) = (before.duals(), after.duals(), before.column(l, slot));
        let row = &before.rows[l][at];
        let own = old.column(column).into_owned();
        let weight = own.norm_squared();
        let factor = |other: usize| {
            let alpha = old.column(other).dot(&own) / weight;
            let gamma = dot(old.column(other).as_slice(), row) - alpha * dot(own.as_slice(), row);
            if other == column { [1.0, -1.0] } else { [alpha, gamma] }
        };
        let of_group =
            |l: usize| (0..before.chosen[l].len()).map(|slot| factor(before.column(l, slot))).collect();
        let made = Self {
            group: l,
            leaving_position: before.chosen[l][slot],
            entering_position: at,
            leaving: own.as_slice().to_vec(),
            entering: new.column(column).iter().copied().collect(),
            factors: (0..before.chosen.len()).map(of_group).collect(),
            weight,
            ratio: before.ratio((l, slot, at)),
        };
        (made, after)
    }

    fn update(&self) -> SwapUpdate<'_> {
        SwapUpdate {
            group: self.group,
            leaving_position: self.leaving_position,
            entering_position: self.entering_position,
            leaving: &self.leaving,
            entering: &self.entering,
            factors: &self.factors,
            residual_gain: self.weight.recip(),
            residual_loss: self.ratio / self.weight,
        }
    }
}

fn matrix(from: &DMatrix<f64>) -> Mat<f64> {
    Mat::from_fn(from.nrows(), from.ncols(), |i, j| from[(i, j)])
}

fn ahead(
    table: &mut dyn SwapTable,
    naive: &Naive,
    pending: Option<&Made>,
    most: usize,
) -> Option<SwapsAhead> {
    let (rows, duals, update) = (matrix(&naive.basis()), matrix(&naive.duals()), pending.map(Made::update));
    let request = SwapAhead {
        rows: rows.as_ref(),
        duals: duals.as_ref(),
        kept: naive.kept.len(),
        chosen: &naive.chosen,
        update: update.as_ref(),
        least: LEAST,
        most,
    };
    table.swap_ahead(&request).unwrap()
}

/// Lets an engine make a few swaps at a time until it has no more to make without the host. Returns their number.
fn climb(tested: &Tested, rows: &Rows<'_>, mut naive: Naive, what: &str) -> usize {
    let duals = matrix(&naive.duals());
    let of_group = |l: usize| duals.as_ref().subcols(naive.column(l, 0), naive.chosen[l].len());
    let offered: Vec<MatRef<'_, f64>> = (0..naive.rows.len()).map(of_group).collect();
    let residuals = naive.residuals().concat();
    let mut table = tested.engine.swap_table(rows, &offered, &residuals).unwrap();
    let (mut count, mut pending) = (0, None::<Made>);
    let precise = tested.engine.info().precision == Precision::F64;
    for most in [2, 3, 40, 40] {
        let Some(found) = ahead(&mut *table, &naive, pending.as_ref(), most) else { return count };
        assert!(found.swaps.len() <= most, "{what}: {found:?}");
        assert!(found.swaps.iter().all(|swap| (swap.error == 0.0) == precise), "{what}");
        pending = None;
        let mut before = naive.clone();
        for swap in &found.swaps {
            let place = (swap.group, swap.swap.slot, swap.swap.position);
            let (best, ratio) = (naive.best(), naive.ratio(place));
            assert!(
                ratio >= best.ratio * (1.0 - 1e-9),
                "{what}: {place:?}, not {:?}: {ratio} {}",
                best.place,
                best.ratio
            );
            assert!(ratio > 1.0 + LEAST / 2.0, "{what}: {ratio}");
            let off = (ratio - swap.swap.ratio).abs();
            assert!(off <= swap.error + 1e-7 * ratio, "{what}: {ratio} is off by {off:e}, {swap:?}");
            let (made, after) = Made::new(&naive, place);
            (before, naive) = (naive, after);
            pending = Some(made);
            count += 1;
        }
        let best = naive.best();
        match found.end {
            SwapsEnd::LongEnough => {
                assert!(!found.swaps.is_empty(), "{what}");
                before.check(tested, &*table, count, what);
                continue;
            }
            SwapsEnd::NoneLeft => assert!(best.ratio < 1.0 + LEAST, "{what}: {}", best.ratio),
            SwapsEnd::InDoubt => {
                let near = (best.ratio - best.second).min((best.ratio - 1.0).abs());
                let (size, _) = naive.sizes();
                let bound = tested.epsilon * size * size * (1e3 + 40.0 * naive.amplification());
                assert!(!precise && near < bound, "{what}: {} and {}, not {bound}", best.ratio, best.second);
            }
            SwapsEnd::Broken => panic!("{what}: {found:?}"),
        }
        naive.check(tested, &*table, count, what);
        return count;
    }
    count
}

/// Tests three groups with these numbers of chosen items.
fn problem(tested: &Tested, features: &Features, counts: [usize; 3], kept: usize) -> usize {
    let what = format!("{features:?}, {counts:?} and {kept}");
    let (items, dims) = (features.items(), features.dims());
    let of = |l: u32| (0..items as u32).filter(|i| i % 3 == l).collect::<Vec<u32>>();
    let groups = [of(0), of(1), of(2)];
    let rows = Rows::scaled(features, groups.iter().map(|items| Items::Listed(items)).collect());
    let place = |l: usize, i: usize| (i * groups[l].len() / counts[l] + 7 * l) % groups[l].len();
    let chosen = |l: usize| (0..counts[l]).map(|i| place(l, i)).collect();
    let naive = Naive {
        rows: scaled(&rows),
        kept: normals(kept * dims, 41).chunks_exact(dims).map(<[f64]>::to_vec).collect(),
        chosen: (0..3).map(chosen).collect(),
    };
    climb(tested, &rows, naive, &what)
}

/// Asserts that swaps were made if the table is in the memory of a device.
fn assert_made(tested: &Tested, count: usize) {
    let name = tested.engine.info().name;
    assert_eq!(count > 0, name != "cpu", "{count} swaps on {name}");
}

fn swaps_ahead(tested: &Tested) {
    let mut count = 0;
    for (items, dims, counts, kept) in [
        (9, 4, [1, 1, 0], 0),
        (60, 9, [3, 2, 1], 1),
        (300, 17, [5, 0, 4], 2),
        (800, 13, [0, 7, 0], 0),
        (240, 70, [20, 25, 20], 1),
        (90, 130, [22, 22, 22], 0),
    ] {
        let values = normals(items * dims, 3);
        count += problem(tested, &Features::from_rows(items, dims, values.clone()).unwrap(), counts, kept);
        // The other types of rows only differ in how they are read, which small problems show.
        if dims > 17 {
            continue;
        }
        let single: Vec<f32> = values.iter().map(|&x| (1e3 * x) as f32).collect();
        count += problem(tested, &Features::from_rows(items, dims, single).unwrap(), counts, kept);
        let half: Vec<f16> = values.iter().map(|&x| f16::from_f64(x)).collect();
        count += problem(tested, &Features::from_rows(items, dims, half).unwrap(), counts, kept);
    }
    assert_made(tested, count);
}

/// Copies of rows that single precision cannot distinguish. The last one is the best.
fn near_ties(tested: &Tested) {
    let dims = 6;
    let values: Vec<f64> = normals(40 * dims, 13)
        .chunks_exact(dims)
        .flat_map(|row| {
            (0..6).flat_map(move |copy| row.iter().map(move |x| x * (1.0 + 1e-8 * f64::from(copy / 3))))
        })
        .collect();
    problem(tested, &Features::from_rows(240, dims, values).unwrap(), [2, 2, 1], 0);
}

/// Nearly dependent rows: dual vectors are long, and so are their errors.
fn graded(tested: &Tested) {
    for base in [0.4_f64, 0.15] {
        let dims = 8;
        let values: Vec<f32> = normals(240 * dims, 6)
            .chunks_exact(dims)
            .flat_map(|row| {
                let own: Vec<f64> = row.iter().zip(0..).map(|(x, j)| x * base.powi(j)).collect();
                // A reflection, so that no axis is special.
                let mean = own.iter().sum::<f64>() / 4.0;
                own.into_iter().map(move |x| (x - mean) as f32)
            })
            .collect();
        problem(tested, &Features::from_rows(240, dims, values).unwrap(), [3, 2, 2], 0);
    }
}

on_every_engine!(swaps_ahead, near_ties, graded);

#[test]
fn planted_faults_are_noticed() {
    engines::assert_noticed(&[
        (("choose_swap", "rival.value < best.value - off", "rival.value < HIGHEST"), near_ties),
        (("choose_swap", "best.value - off - ONE > least", "best.value > least"), swaps_ahead),
        (("choose_swap", "leader.z, leader.w", "leader.z, ZERO"), swaps_ahead),
        (("choose_swap", "ratio = leaders[2u * span].y", "ratio = LOWEST"), near_ties),
        (("swap_row", "residuals[tile.start + row] = LOWEST", "residuals[tile.start] = LOWEST"), swaps_ahead),
        (("swap_row", ".start + places[at + 1u]] = ZERO", ".start] = ZERO"), swaps_ahead),
        (("swap_row", "to + 3u] = x.w", "to + 3u] = x.z"), swaps_ahead),
        (("swap_vectors", "+ along * own)", "+ weight * own)"), swaps_ahead),
        (("swap_vectors", "vectors[rest() + j] -= taken", "vectors[rest() + j] += taken"), swaps_ahead),
        (("swap_vectors", "i += LANES", "i += 2u * LANES"), swaps_ahead),
        (("swap_vectors", "first < columns; first += OUTPUTS", "first < 1u; first += OUTPUTS"), swaps_ahead),
        (("swap_duals", "var gamma = -ONE", "var gamma = ONE"), swaps_ahead),
        (("swap_duals", "+ l] - alpha * along", "+ l] + alpha * along"), swaps_ahead),
        (("swap_duals", "swap[at + 1u] = loss", "swap[at + 1u] = gain"), swaps_ahead),
        (("swap_duals", "2u * at] = u32(made.z)", "2u * at] = 0u"), swaps_ahead),
        (("swap_duals", "vectors[(p.columns + at) * pitch() + j] =", "vectors[row() + j] ="), swaps_ahead),
        (("swap_duals", "gamma * scales[l]", "gamma"), swaps_ahead),
        (("swap_duals", "swap[of_group(l) + 2u] = ONE", "swap[of_group(l) + 2u] = ZERO"), swaps_ahead),
        (("swap_gains", "slots = 0u;", "slots += 0u;"), swaps_ahead),
    ]);
}
