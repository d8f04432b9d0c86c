//! Items that matter in exchanges of two groups, and tables of residuals that the engine computes, against naive
//! loops.

use faer::Mat;
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
        low_level::{Beyond, Items, LeavingPairs, Rows, SwapTable, Verbs},
    },
};

fn part_of(item: u32, parts: u32) -> u32 {
    (item + item / 5) % parts
}

/// A set with items of several groups.
struct Set {
    features: Features,
    groups: Vec<Vec<u32>>,
    /// Scaled rows, by group.
    rows: Vec<Vec<Vec<f64>>>,
    chosen: Vec<Vec<usize>>,
    /// The dual basis, n×k, and an orthonormal basis of the complement.
    duals: Mat<f64>,
    complement: Mat<f64>,
}

impl Set {
    /// Chooses the longest items of every group.
    fn longest(features: Features, counts: &[usize]) -> Self {
        let longest = |(rows, &count): (&Vec<Vec<f64>>, &usize)| {
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by(|&i, &j| dot(&rows[j], &rows[j]).total_cmp(&dot(&rows[i], &rows[i])));
            order.truncate(count);
            order
        };
        Self::new(features, counts.len() as u32, |rows| rows.iter().zip(counts).map(longest).collect())
    }

    fn new(features: Features, parts: u32, choose: impl Fn(&[Vec<Vec<f64>>]) -> Vec<Vec<usize>>) -> Self {
        let groups: Vec<Vec<u32>> = (0..parts)
            .map(|l| (0..features.items() as u32).filter(|i| part_of(*i, parts) == l).collect())
            .collect();
        let scales: Vec<f64> =
            Self::rows_of(&features, &groups).groups().iter().map(|group| group.scale).collect();
        let row = |item: u32, scale: f64| features.row(item as usize).iter().map(|x| x * scale).collect();
        let rows: Vec<Vec<Vec<f64>>> = groups
            .iter()
            .zip(&scales)
            .map(|(items, &scale)| items.iter().map(|&item| row(item, scale)).collect())
            .collect();
        let chosen = choose(&rows);
        let columns = chosen.iter().zip(&rows).flat_map(|(chosen, rows)| chosen.iter().map(|&at| &rows[at]));
        let columns: Vec<f64> = columns.flatten().copied().collect();
        let n = features.dims();
        let basis = DMatrix::from_column_slice(n, columns.len() / n, &columns);
        let duals = &basis * (basis.transpose() * &basis).try_inverse().unwrap();
        let rest = DMatrix::identity(n, n) - &duals * basis.transpose();
        let eigen = ((&rest + rest.transpose()) * 0.5).symmetric_eigen();
        let beyond: Vec<usize> = (0..n).filter(|&j| eigen.eigenvalues[j] > 0.5).collect();
        Self {
            duals: Mat::from_fn(n, duals.ncols(), |i, j| duals[(i, j)]),
            complement: Mat::from_fn(n, beyond.len(), |i, j| eigen.eigenvectors[(i, beyond[j])]),
            features,
            groups,
            rows,
            chosen,
        }
    }

    fn rows_of<'a>(features: &'a Features, groups: &'a [Vec<u32>]) -> Rows<'a> {
        Rows::scaled(features, groups.iter().map(|items| Items::Listed(items)).collect())
    }

    fn dual(&self, column: usize) -> Vec<f64> {
        self.duals.col(column).iter().copied().collect()
    }

    /// Returns d_j.
    fn residual(&self, l: usize, at: usize) -> f64 {
        let form = |column: usize| {
            let direction: Vec<f64> = self.complement.col(column).iter().copied().collect();
            dot(&direction, &self.rows[l][at]).powi(2)
        };
        (0..self.complement.ncols()).map(form).sum()
    }

    /// Returns pairs of slots in different groups, as groups and columns.
    fn pairs(&self) -> Vec<[(usize, usize); 2]> {
        let groups: Vec<usize> =
            self.chosen.iter().enumerate().flat_map(|(l, own)| own.iter().map(move |_| l)).collect();
        let all = (0..groups.len()).flat_map(|i| (i + 1..groups.len()).map(move |j| (i, j)));
        all.filter(|&(i, j)| groups[i] != groups[j]).map(|(i, j)| [(groups[i], i), (groups[j], j)]).collect()
    }

    /// Returns, for every item, the largest D e_j max e_j' over all pairs, minus and plus the possible rounding
    /// error.
    fn naive(&self, epsilon: f64) -> Vec<Vec<[f64; 2]>> {
        let n = self.features.dims() as f64;
        let mut largest: Vec<Vec<[f64; 2]>> =
            self.rows.iter().map(|rows| vec![[0.0; 2]; rows.len()]).collect();
        let along: Vec<Vec<Vec<f64>>> = self
            .rows
            .iter()
            .map(|rows| {
                let of = |row: &Vec<f64>| (0..self.duals.ncols()).map(|c| dot(row, &self.dual(c))).collect();
                rows.iter().map(of).collect()
            })
            .collect();
        let residuals: Vec<Vec<f64>> = (0..self.rows.len())
            .map(|l| (0..self.rows[l].len()).map(|at| self.residual(l, at)).collect())
            .collect();
        for [(p, a), (q, b)] in self.pairs() {
            let [v, w] = [self.dual(a), self.dual(b)];
            let (vv, ww, vw) = (dot(&v, &v), dot(&w, &w), dot(&v, &w));
            let determinant = vv * ww - vw * vw;
            // √D e_j of the pair, and its rounding.
            let bound = |l: usize, at: usize| {
                let (x, y) = (along[l][at][a], along[l][at][b]);
                let form = (ww * x * x + vv * y * y - 2.0 * vw * x * y) / determinant;
                (residuals[l][at] + form) * determinant.sqrt()
            };
            let rounding = |l: usize| {
                let row = self.rows[l].iter().map(|row| dot(row, row)).fold(0.0, f64::max);
                100.0 * epsilon * (n + 8.0) * (8.0 + 2.0 * n.sqrt()) * row * vv.max(ww) * vv.min(ww)
                    / determinant.sqrt()
            };
            let is_open = |l: usize, at: usize| !self.chosen[l].contains(&at);
            let most = [p, q].map(|l| {
                (0..self.rows[l].len())
                    .filter(|&at| is_open(l, at))
                    .map(|at| bound(l, at))
                    .fold(0.0, f64::max)
            });
            for (l, other) in [(p, 1), (q, 0)] {
                let (own, beside) = (rounding(l), rounding([p, q][other]));
                for at in (0..self.rows[l].len()).filter(|&at| is_open(l, at)) {
                    let u = bound(l, at);
                    let [least, upper] = &mut largest[l][at];
                    *least = f64::max(*least, u * most[other]);
                    *upper = f64::max(*upper, (u + own) * (most[other] + beside) * (1.0 + 1e-5));
                }
            }
        }
        largest
    }

    fn check(&self, tested: &Tested, what: &str) -> [usize; 2] {
        let rows = Self::rows_of(&self.features, &self.groups);
        let mut first = 0;
        let own = |own: &Vec<usize>| {
            first += own.len();
            self.duals.as_ref().subcols(first - own.len(), own.len())
        };
        let duals: Vec<_> = self.chosen.iter().map(own).collect();
        let beyond = Beyond { complement: self.complement.as_ref(), chosen: &self.chosen };
        let table = tested.engine.fresh_swap_table(&rows, &duals, &beyond).unwrap();
        self.check_residuals(tested, &*table, what);
        let leaving = LeavingPairs { duals: self.duals.as_ref(), pairs: &self.pairs() };
        let Some(found) = table.entrants(&leaving).unwrap() else {
            assert!(tested.engine.info().adapter.is_none(), "{what}");
            return [0, 0];
        };
        let mut counts = [0, 0];
        for (l, (found, largest)) in found.iter().zip(self.naive(tested.epsilon)).enumerate() {
            assert!(found.is_sorted_by(|i, j| i < j), "{what}");
            for (at, [least, upper]) in largest.into_iter().enumerate() {
                let is_found = found.contains(&at);
                counts[usize::from(is_found)] += 1;
                assert!(is_found || least <= 1.0, "{what}: item {at} of {l} is missing, {least}");
                assert!(!is_found || upper >= 1.0, "{what}: item {at} of {l} cannot enter, {upper}");
            }
        }
        counts
    }

    fn check_residuals(&self, tested: &Tested, table: &dyn SwapTable, what: &str) {
        for (l, numbers) in table.read().unwrap().iter().enumerate() {
            for (at, &found) in numbers.residuals.iter().enumerate() {
                if self.chosen[l].contains(&at) {
                    assert!(found == f64::NEG_INFINITY, "{what}: chosen item {at} of {l}");
                    continue;
                }
                let row = &self.rows[l][at];
                tested.close(found, self.residual(l, at), self.features.dims(), dot(row, row), what);
            }
        }
    }
}

fn entrants(tested: &Tested) {
    let mut counts = [0, 0];
    for (items, dims, chosen) in [
        (8, 5, &[1, 1][..]),
        (90, 7, &[2, 0, 3]),
        (700, 12, &[4, 3, 5]),
        (769, 64, &[18, 22, 20]),
        (1500, 33, &[33]),
        (2000, 9, &[2, 2, 2, 2]),
        (1200, 24, &[12, 12]),
    ] {
        let values = normals(items * dims, 5);
        let what = format!("{items}×{dims}, {chosen:?}");
        let own = Set::longest(Features::from_rows(items, dims, values.clone()).unwrap(), chosen)
            .check(tested, &what);
        counts = [counts[0] + own[0], counts[1] + own[1]];
        // Rows in their stored type, and parts of other sizes.
        let single: Vec<f32> = values
            .iter()
            .enumerate()
            .map(|(at, &x)| {
                let size = if part_of((at / dims) as u32, chosen.len() as u32) == 0 { 1e-7 } else { 1.0 };
                (size * x) as f32
            })
            .collect();
        Set::longest(Features::from_rows(items, dims, single).unwrap(), chosen).check(tested, &what);
    }
    println!("{counts:?} items do not matter, and do");
    assert!(tested.engine.info().adapter.is_none() || counts.iter().all(|&count| count > 100), "{counts:?}");
}

/// An axis for each of many items of two groups. Each group has one more item, between the last axes of both, for
/// which
/// only the last of all pairs can make room.
fn the_last_of_many_pairs(tested: &Tested) {
    let each = 19;
    let (items, dims) = (400, 2 * each);
    let mut values: Vec<f64> = normals(items * dims, 15).iter().map(|x| 0.01 * x).collect();
    for l in 0..2 {
        let mut own = (0..items as u32).filter(|&i| part_of(i, 2) == l).map(|i| i as usize * dims);
        for (slot, at) in own.by_ref().take(each).enumerate() {
            values[at + l as usize * each + slot] += 1.0;
        }
        let last = own.next_back().unwrap();
        values[last + each - 1] += 0.8;
        values[last + dims - 1] += 0.8;
    }
    let features = Features::from_rows(items, dims, values).unwrap();
    let set = Set::new(features, 2, |_| vec![(0..each).collect(); 2]);
    let counts = set.check(tested, "a pair of many");
    assert!(tested.engine.info().adapter.is_none() || counts[1] <= 4, "{counts:?}");
}

on_every_engine!(entrants, the_last_of_many_pairs);

#[test]
fn planted_faults_are_noticed() {
    engines::assert_noticed(&[
        (("entrants", "x * x + y * y", "x * x"), entrants),
        (("entrants", "- n.z * x * y", "+ n.z * x * y"), entrants),
        (("entrants", "n.y * d + ", ""), entrants),
        (("entrants", "let side = sides[own];", "let side = sides[range.x];"), entrants),
        (("entrants", "atomicMax(&bounds[own]", "atomicMax(&bounds[side.z]"), entrants),
        (("entrants", "bound > least", "bound > 0.9 * least"), entrants),
        (("entrants", "bound > least", "bound > 1.1 * least"), entrants),
        (("entrants", "row < rows", "row + 1u < rows"), entrants),
        (("entrants", "at += 256u", "at += 512u"), the_last_of_many_pairs),
        (("entrants", "* TILE + thread", "* TILE + thread + 1u"), entrants),
        (("row_forms", "dot(e.r1, e.r1)", "dot(e.r1, e.r2)"), entrants),
    ]);
    engines::assert_noticed_on(
        &[partition_dpp::engine::gpu::GpuOptions::default()
            .with_precision(Precision::F32)
            .with_largest_binding(engines::CHUNK)],
        &[(("entrants", "(p.first_tile + number)", "number"), entrants)],
    );
}

/// If there are more items than a device lists, the host compares them.
#[test]
fn too_many_items_are_left_to_the_host() {
    let Some(gpu) = engines::gpu(Precision::F64) else { return };
    let items = 1 << 17;
    // All rows are equally long, with two directions each.
    let values: Vec<f64> = (0..items)
        .flat_map(|item| {
            let angle = f64::from(item);
            [angle.cos(), angle.sin(), 0.5]
        })
        .collect();
    let features = Features::from_rows(items as usize, 3, values).unwrap();
    let groups = [0, 1].map(|l| (0..items as u32).filter(|i| i % 2 == l).collect::<Vec<u32>>());
    let rows = Set::rows_of(&features, &groups);
    let duals = Mat::from_fn(3, 2, |i, j| if i == j { 2.0 } else { 0.1 });
    let complement = Mat::from_fn(3, 1, |i, _| f64::from(u8::from(i == 2)));
    let beyond = Beyond { complement: complement.as_ref(), chosen: &[vec![0], vec![0]] };
    let own = [0, 1].map(|l| duals.as_ref().subcols(l, 1));
    let table = gpu.fresh_swap_table(&rows, &own, &beyond).unwrap();
    let leaving = LeavingPairs { duals: duals.as_ref(), pairs: &[[(0, 0), (1, 1)]] };
    assert_eq!(table.entrants(&leaving).unwrap(), None);
}
