//! Tables of exchanges and determinants over nodes on every engine, against naive loops.
#![allow(clippy::cast_possible_wrap, reason = "small numbers")]

use faer::{Mat, MatRef, c64};
use half::f16;
use nalgebra::{Complex, DMatrix};
use oracles::{
    engines::{self, Tested},
    on_every_engine,
    oracle::dot,
    random::normals,
};
use partition_dpp::{
    Features,
    engine::low_level::{
        BestSwap, CandidateGrid, GridRequest, Items, PhaseGrid, Rows, SwapTable, SwapUpdate,
    },
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

/// Returns shares N_l whose sum is below the identity: normalised sums Σ v vᵀ over random vectors.
pub(super) fn shares(parts: usize, size: usize) -> Vec<Mat<f64>> {
    let each = size / parts + 1;
    let values = normals(parts * each * size, (parts * size) as u64);
    let all = DMatrix::from_row_slice(parts * each, size, &values);
    let total = all.transpose() * &all + DMatrix::identity(size, size) * 0.1;
    let root = total.cholesky().unwrap().l().try_inverse().unwrap();
    let share = |l: usize| {
        let own = root.clone() * all.rows(l * each, each).transpose();
        let share = &own * own.transpose();
        Mat::from_fn(size, size, |i, j| share[(i, j)])
    };
    (0..parts).map(share).collect()
}

fn phases(parts: usize, nodes: usize) -> Vec<c64> {
    let angles = normals(parts * nodes, 12);
    // The first node is the real one.
    (0..parts * nodes)
        .map(|i| if i < parts { c64::new(1.0, 0.0) } else { c64::new(angles[i].cos(), angles[i].sin()) })
        .collect()
}

/// Returns P(θ) with candidates projected out.
pub(super) fn node(shares: &[Mat<f64>], phases: &[c64], unit: Option<&[f64]>) -> DMatrix<Complex<f64>> {
    let n = shares[0].nrows();
    let q = DMatrix::from_fn(n, n, |i, j| {
        let terms = shares
            .iter()
            .zip(phases)
            .map(|(share, phase)| Complex::new(phase.re - 1.0, phase.im) * share[(i, j)]);
        terms.sum::<Complex<f64>>()
    });
    let project = DMatrix::from_fn(n, n, |i, j| {
        let own = if i == j { 1.0 } else { 0.0 };
        Complex::from(own - unit.map_or(0.0, |u| u[i] * u[j]))
    });
    DMatrix::identity(n, n) + &project * q * &project
}

fn grid_determinants(tested: &Tested) {
    // Matrices fit in registers up to 16, 32, 48 and 64 rows.
    for (size, parts, nodes) in [
        (1, 1, 3),
        (2, 2, 5),
        (3, 1, 4),
        (5, 3, 70),
        (16, 2, 9),
        (17, 2, 3),
        (32, 2, 3),
        (33, 4, 6),
        (48, 2, 3),
        (49, 2, 2),
        (64, 2, 4),
        (65, 3, 2),
        (100, 3, 3),
        (260, 2, 1),
    ] {
        if size > tested.largest_matrix {
            continue;
        }
        let (shares, phases) = (shares(parts, size), phases(parts, nodes));
        let grid = PhaseGrid { shares: &shares, phases: &phases };
        let what = format!("{size}×{size}, {parts} parts");
        let determinants = tested.engine.grid_determinants(&grid, GridRequest::Determinants).unwrap();
        let inverses = tested.engine.grid_determinants(&grid, GridRequest::Inverses).unwrap();
        assert_eq!((determinants.len(), inverses.len()), (nodes, nodes));
        for at in 0..nodes {
            let matrix = node(&shares, grid.node(at), None);
            let expected = matrix.clone().determinant();
            for found in [&determinants[at], &inverses[at]] {
                let found = found.determinant.value();
                // Errors are relative to det P(0) = 1.
                tested.close(found.re, expected.re, size, 1.0, &what);
                tested.close(found.im, expected.im, size, 1.0, &what);
            }
            assert!(determinants[at].inverse.is_none());
            let inverse = inverses[at].inverse.as_ref().unwrap();
            let expected = matrix.try_inverse().unwrap();
            let condition = expected.norm().powi(2);
            for i in 0..size {
                for j in 0..size {
                    tested.close(inverse[(i, j)].re, expected[(i, j)].re, size, condition, &what);
                    tested.close(inverse[(i, j)].im, expected[(i, j)].im, size, condition, &what);
                }
            }
        }
    }
}

/// Nodes with vanishing pivots go to the host, at whatever step they vanish.
fn singular_nodes(tested: &Tested) {
    let half = Mat::from_fn(6, 6, |i, j| if i == j { 0.5 } else { 0.0 });
    let shares = [half.clone(), half];
    // e^{iθ} = −1 for both parts: P = I − 2·½ I − 2·½ I + … = −I; for one of them: P = 0.
    let one = c64::new(1.0, 0.0);
    let phases = [one, -one, -one, -one];
    let grid = PhaseGrid { shares: &shares, phases: &phases };
    let found = tested.engine.grid_determinants(&grid, GridRequest::Determinants).unwrap();
    assert!(found[0].determinant.value().norm() < 1e-30, "{:?}", found[0].determinant);
    tested.close(found[1].determinant.value().re, 1.0, 6, 1.0, "−I");
    for size in [6, 40, 64, 66].into_iter().filter(|size| *size <= tested.largest_matrix) {
        for zero in [0, 3, size - 1] {
            let entry = |i, j| match (i == j, i == zero) {
                (true, true) => 0.5,
                (true, false) => 0.1,
                _ => 0.0,
            };
            let share = Mat::from_fn(size, size, entry);
            let grid = PhaseGrid { shares: &[share], phases: &[-one] };
            let found = tested.engine.grid_determinants(&grid, GridRequest::Determinants).unwrap();
            assert!(found[0].determinant.value().norm() < 1e-15, "{zero} of {size}: {found:?}");
        }
    }
}

/// The largest pivot may be anywhere: any other pivot of this column would lose all digits of the inverse.
fn the_largest_pivot(tested: &Tested) {
    let some = (1..18).map(|row| (18, row));
    let edges = [(16, 15)].into_iter().chain([1, 15, 16, 31, 32, 33, 47, 48, 63].map(|row| (64, row)));
    let stored = (1..9).map(|row| (66, row));
    let all = some.chain(edges).chain(stored);
    for (size, row) in all.filter(|(size, _)| *size <= tested.largest_matrix) {
        let entry = |i: usize, j: usize| match (i, j) {
            (0, 0) => 0.5_f64.powi(16),
            _ if i == j => 1.1,
            _ if (i, j) == (0, row) || (i, j) == (row, 0) => 0.9,
            _ => 0.0,
        };
        // P = I − 2N.
        let share = Mat::from_fn(size, size, |i, j| (f64::from(u8::from(i == j)) - entry(i, j)) / 2.0);
        let grid = PhaseGrid { shares: &[share], phases: &[c64::new(-1.0, 0.0)] };
        let found = tested.engine.grid_determinants(&grid, GridRequest::Inverses).unwrap();
        let matrix = DMatrix::from_fn(size, size, entry);
        let (determinant, expected) = (matrix.determinant(), matrix.try_inverse().unwrap());
        let inverse = found[0].inverse.as_ref().unwrap();
        let what = format!("pivot in row {row} of {size}");
        tested.close(found[0].determinant.value().re, determinant, size, determinant.abs(), &what);
        for i in 0..size {
            for j in 0..size {
                tested.close(inverse[(i, j)].re, expected[(i, j)], 2, 1.0, &what);
            }
        }
    }
}

fn candidate_determinants(tested: &Tested) {
    for (size, parts, nodes, count) in [
        (1, 1, 3, 2),
        (5, 2, 7, 30),
        (16, 2, 4, 5),
        (24, 2, 6, 11),
        (33, 2, 2, 3),
        (48, 1, 3, 3),
        (64, 3, 2, 3),
        (66, 2, 2, 2),
    ] {
        if size > tested.largest_matrix {
            continue;
        }
        let (shares, phases) = (shares(parts, size), phases(parts, nodes));
        let grid = PhaseGrid { shares: &shares, phases: &phases };
        let mut rows = normals(count * size, 20);
        rows[size..2 * size].fill(0.0);
        let angles = normals(nodes, 21);
        let coefficients: Vec<c64> = angles.iter().map(|x| c64::new(x.cos(), x.sin())).collect();
        let found = tested
            .engine
            .candidate_determinants(&CandidateGrid { grid, coefficients: &coefficients, rows: &rows })
            .unwrap();
        assert_eq!((found.sums.len(), found.determinants), (count, ((count - 1) * nodes) as u64));
        for (i, row) in rows.chunks_exact(size).enumerate() {
            let norm = dot(row, row).sqrt();
            if norm == 0.0 {
                assert_eq!(found.sums[i].to_bits(), 0, "a zero row");
                continue;
            }
            let unit: Vec<f64> = row.iter().map(|x| x / norm).collect();
            let term = |at: usize| {
                let determinant = node(&shares, grid.node(at), Some(&unit)).determinant();
                coefficients[at].re * determinant.re - coefficients[at].im * determinant.im
            };
            let expected: f64 = (0..nodes).map(term).sum();
            tested.close(found.sums[i], expected, size, nodes as f64, &format!("candidate {i} of {size}"));
        }
    }
}

on_every_engine!(
    swap_table_and_gains,
    grid_determinants,
    singular_nodes,
    the_largest_pivot,
    candidate_determinants,
);

#[test]
fn planted_faults_are_noticed() {
    engines::assert_noticed(&[
        (("swap_table", "= values[c]", "= values[0]"), swap_table_and_gains),
        (("swap_gains", "s.x * c + s.y * g", "s.x * c - s.y * g"), swap_table_and_gains),
        (("swap_gains", "s.z * d + s.w * x * x", "s.z * d - s.w * x * x"), swap_table_and_gains),
        (("swap_gains", "c * c - change.y", "c * c + change.y"), swap_table_and_gains),
        (("swap_gains", "coefficients[at] = x;", "coefficients[at] = ZERO;"), swap_table_and_gains),
        (("swap_gains", "real(leading.slot)", "ZERO"), swap_table_and_gains),
        (("grid_determinants", "select(ZERO, ONE, i == j)", "ZERO"), grid_determinants),
        (("grid_determinants", "x.x * y.x - x.y * y.y", "x.x * y.x + x.y * y.y"), grid_determinants),
        // Faults of matrices in registers: a sign, an order of rows, the row of the pivot, and a pivot search that
        // takes the first row.
        (("grid_determinants", "-pivot, moves % 2u == 1u", "pivot, moves % 2u == 1u"), grid_determinants),
        (("grid_determinants", "sh_steps[row] = step", "sh_steps[row] = row"), grid_determinants),
        (
            ("grid_determinants", "complex(-ONE, ZERO), i == row", "complex(ONE, ZERO), i == row"),
            grid_determinants,
        ),
        (("grid_determinants", "(size & ~KEY_ROWS)", "0x3f000000u"), the_largest_pivot),
        // Faults of stored matrices: a sign, an order of columns, a row that is not moved, and a pivot search that
        // skips every eighth row.
        (("grid_determinants", "factor = -pivot", "factor = pivot"), the_largest_pivot),
        (
            ("grid_determinants", "[number * n + step] = found.row", "[number * n + step] = step"),
            the_largest_pivot,
        ),
        (("grid_determinants", "= matrices[own + j];", "= matrices[other + j];"), the_largest_pivot),
        (("grid_determinants", "other < SEARCHERS", "other < SEARCHERS - 1u"), the_largest_pivot),
        (
            ("candidate_determinants", "- ui * uj * candidates", "+ ui * uj * candidates"),
            candidate_determinants,
        ),
        (("candidate_determinants", "x.x - m.x * y.x", "x.x + m.x * y.x"), candidate_determinants),
        (
            ("candidate_determinants", "(matrices[at], multiple", "(matrices[at], -multiple"),
            candidate_determinants,
        ),
        (("candidate_determinants", "determinants[number] =", "determinants[0] ="), candidate_determinants),
    ]);
}
