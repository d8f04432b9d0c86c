//! Tables of nodes on every device, against naive loops.

use std::{cell::OnceCell, f64::consts::TAU};

use faer::{Mat, c64};
use nalgebra::{Complex, DMatrix};
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
        gpu::GpuOptions,
        low_level::{Items, NodeChoice, NodeFactors, NodeTable, PhaseGrid, RowMap, Rows, Soundness},
    },
};

use super::conformance_determinants::{node, shares};

/// The nodes of a torus of two parts, and rows of one part.
struct Draw {
    features: Features,
    items: Vec<u32>,
    map: Mat<f64>,
    shares: Vec<Mat<f64>>,
    sizes: [usize; 2],
    phases: Vec<c64>,
    /// Orthonormal directions, one after another.
    directions: Vec<Vec<f64>>,
    /// What naive loops find after 0, 1, … picks.
    naive: [OnceCell<Naive>; 3],
}

/// The weights and the coefficient after some picks, and the magnitude of the terms that add up to a weight.
type Naive = (Vec<f64>, f64, f64);

const WEIGHT: f64 = 0.7;

impl Draw {
    fn new(items: usize, dims: usize, rank: usize, sizes: [usize; 2]) -> Self {
        let features = Features::from_rows(2 * items, dims, normals(2 * items * dims, 3)).unwrap();
        let values = normals(dims * rank, 5);
        let map = Mat::from_fn(dims, rank, |i, j| values[i * rank + j]);
        // About three items are expected, so small counts are likely.
        let shares = shares(2, rank).into_iter();
        let shares = shares.map(|share| share * faer::Scale((3.0 / rank as f64).min(1.0))).collect();
        let phase = |part: usize, digit: usize| {
            let angle = TAU * digit as f64 / sizes[part] as f64;
            c64::new(angle.cos(), angle.sin())
        };
        let nodes = sizes[0] * sizes[1];
        let phases = (0..nodes).flat_map(|at| [phase(0, at / sizes[1]), phase(1, at % sizes[1])]).collect();
        let mut directions: Vec<Vec<f64>> = Vec::new();
        for pick in 0..2.min(rank - 1) {
            let mut own = normals(rank, 40 + pick as u64);
            for _ in 0..2 {
                for other in &directions {
                    let along = dot(&own, other);
                    own.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
                }
            }
            let norm = dot(&own, &own).sqrt();
            directions.push(own.iter().map(|x| x / norm).collect());
        }
        let items = (0..items as u32).map(|i| 2 * i + 1).collect();
        Self { features, items, map, shares, sizes, phases, directions, naive: Default::default() }
    }

    fn rows(&self) -> Rows<'_> {
        Rows::scaled(&self.features, vec![Items::Listed(&self.items)])
    }

    fn grid(&self) -> PhaseGrid<'_> {
        PhaseGrid { shares: &self.shares, phases: &self.phases }
    }

    /// Returns the coefficients of the mean over nodes times z^−counts.
    fn extractors(&self, counts: [usize; 2]) -> Vec<c64> {
        let nodes = self.sizes[0] * self.sizes[1];
        let of = |at: usize| {
            let phases = &self.phases[2 * at..2 * at + 2];
            let power = |part: usize| {
                (0..counts[part]).fold(c64::new(1.0, 0.0), |product, _| product * phases[part].conj())
            };
            power(0) * power(1) / nodes as f64
        };
        (0..nodes).map(of).collect()
    }

    /// Returns x and y after this number of picks.
    fn factors(&self, picks: usize) -> [Vec<c64>; 2] {
        [self.extractors([2 - picks, 1]), self.extractors([3 - picks, 1])]
    }

    fn table(&self, tested: &Tested) -> Option<Box<dyn NodeTable>> {
        let map = RowMap { weights: &[WEIGHT], factor: self.map.as_ref() };
        let [form, coefficient] = self.factors(0);
        let factors = NodeFactors { form: &form, coefficient: &coefficient };
        tested.engine.node_table(&self.rows(), &map, &self.grid(), &factors).unwrap()
    }

    fn condition(&self, table: &mut dyn NodeTable, picks: usize) {
        let [form, coefficient] = self.factors(picks);
        let factors = NodeFactors { form: &form, coefficient: &coefficient };
        table.condition(&self.directions[picks - 1], &factors);
    }

    fn naive(&self, picks: usize) -> &Naive {
        self.naive[picks].get_or_init(|| self.computed(picks))
    }

    fn computed(&self, picks: usize) -> Naive {
        let rank = self.map.ncols();
        // Picks come first, and the other columns of an orthogonal matrix span what is orthogonal to them.
        let column = |i: usize, j: usize| if j < picks { self.directions[j][i] } else { f64::from(i == j) };
        let all = DMatrix::from_fn(rank, rank, column).qr().q();
        let basis = DMatrix::from_fn(rank, rank - picks, |i, j| Complex::from(all[(i, picks + j)]));
        let [form, coefficient] = self.factors(picks);
        let (mut w, mut sum, mut mass) = (DMatrix::zeros(rank, rank), 0.0, 0.0);
        for at in 0..form.len() {
            let inside = basis.transpose() * node(&self.shares, self.grid().node(at), None) * &basis;
            let value = inside.determinant();
            let inverse = &basis * inside.try_inverse().unwrap() * basis.transpose();
            let [x, y] = [form[at], coefficient[at]].map(|c| Complex::new(c.re, c.im));
            w += inverse.map(|entry| (x * value * entry).re);
            sum += (y * value).re;
            mass += x.norm() * value.norm() * inverse.norm();
        }
        let scale = self.rows().groups()[0].scale;
        let (mut weights, mut largest): (Vec<f64>, f64) = (Vec::new(), 0.0);
        for &item in &self.items {
            let row: Vec<f64> = self.features.row(item as usize).iter().map(|x| x * scale * WEIGHT).collect();
            let image = |j: usize| (0..row.len()).map(|i| row[i] * self.map[(i, j)]).sum::<f64>();
            let image: Vec<f64> = (0..rank).map(image).collect();
            let terms = (0..rank).flat_map(|i| (0..rank).map(move |j| (i, j)));
            weights.push(terms.map(|(i, j)| image[i] * w[(i, j)] * image[j]).sum());
            largest = largest.max(dot(&row, &row));
        }
        (weights, sum, mass.max(1.0) * largest * self.map.norm_l2().powi(2))
    }

    fn check(&self, tested: &Tested, table: &mut dyn NodeTable, picks: usize, what: &str) -> NodeChoice {
        let what = &format!("{what}, {picks} picks");
        let &(ref weights, coefficient, size) = self.naive(picks);
        let terms = self.map.ncols() + self.map.nrows();
        let total: f64 = weights.iter().sum();
        let mut last = None;
        for uniform in [0.0, 0.3, 0.5, 0.77, 1.0 - 1e-7] {
            let choice = table.choose(uniform).unwrap();
            assert_eq!(choice.soundness, Soundness::Sound, "{what}");
            tested.close(choice.coefficient, coefficient, terms, 1.0, what);
            tested.close(choice.total, total, terms, weights.len() as f64 * size, what);
            let (position, weight) = choice.chosen.unwrap_or_else(|| panic!("{what}: {choice:?}"));
            tested.close(weight, weights[position], terms, size, what);
            assert!(weight > 0.0, "{what}");
            let before: f64 = weights[..position].iter().sum();
            let slack = tested.epsilon * weights.len() as f64 * (30.0 * (terms + 2) as f64 * size + total);
            let target = uniform * total;
            assert!(
                before - slack <= target && target <= before + weights[position] + slack,
                "{what}: {uniform} of {total} is in row {position}, which begins at {before}"
            );
            last = Some(choice);
        }
        for (found, expected) in table.read().unwrap().iter().zip(weights) {
            tested.close(*found, *expected, terms, size, what);
        }
        last.unwrap()
    }
}

fn choices_by_nodes(tested: &Tested) {
    for (items, dims, rank, sizes) in [
        (1, 1, 1, [2, 1]),
        (5, 3, 2, [1, 1]),
        (300, 7, 5, [4, 3]),
        (513, 5, 9, [9, 2]),
        (530, 66, 40, [3, 3]),
        (270, 70, 67, [3, 2]),
        (300, 9, 4, [16, 13]),
        (1030, 9, 4, [3, 3]),
        (100, 20, 260, [2, 1]),
    ] {
        if rank > tested.largest_matrix {
            continue;
        }
        let what = format!("{items}×{dims}, rank {rank}, {sizes:?}");
        let draw = Draw::new(items, dims, rank, sizes);
        // The host has no such table.
        let Some(mut table) = draw.table(tested) else { continue };
        let mut last = draw.check(tested, &mut *table, 0, &what);
        let mut copy = table.copy();
        for picks in 1..=draw.directions.len() {
            draw.condition(&mut *table, picks);
            last = draw.check(tested, &mut *table, picks, &what);
        }
        if let Some((position, weight)) = last.chosen.filter(|_| items > 1) {
            table.exclude(position).unwrap();
            let without = table.choose(0.5).unwrap();
            let size = draw.naive(draw.directions.len()).2;
            tested.close(without.total, last.total - weight, rank, items as f64 * size, &what);
            assert!(without.chosen.is_none_or(|(other, _)| other != position), "{what}");
        }
        // Copies are independent.
        draw.check(tested, &mut *copy, 0, &what);
    }
}

/// A copy is made before the nodes are computed; several picks are computed together.
fn what_is_pending_is_copied(tested: &Tested) {
    let draw = Draw::new(300, 7, 5, [4, 3]);
    let Some(mut table) = draw.table(tested) else { return };
    let mut copy = table.copy();
    draw.condition(&mut *table, 1);
    draw.condition(&mut *table, 2);
    draw.check(tested, &mut *table, 2, "both picks together");
    draw.check(tested, &mut *copy, 0, "the copy");
    let mut shared = copy.copy();
    let (position, _) = copy.choose(0.4).unwrap().chosen.unwrap();
    copy.exclude(position).unwrap();
    assert_ne!(copy.choose(0.4).unwrap().chosen.unwrap().0, position);
    draw.check(tested, &mut *shared, 0, "weights that were shared");
}

/// Nodes that cannot be used are reported.
fn unsound_nodes(tested: &Tested) {
    let mut draw = Draw::new(40, 4, 3, [1, 2]);
    let half = |i: usize, j: usize| if i == j { 0.5 } else { 0.0 };
    // e^{iθ} = −1 for one part: P = 0.
    draw.phases[3] = c64::new(-1.0, 0.0);
    draw.shares = vec![Mat::from_fn(3, 3, half), Mat::from_fn(3, 3, half)];
    let Some(mut table) = draw.table(tested) else { return };
    assert_eq!(table.choose(0.5).unwrap().soundness, Soundness::Singular);
    // P = diag(…, 1e-7) at the second node. A pick along the first axis leaves it unchanged; a pick along the last
    // has a
    // pivot of 1e7.
    let small = |i: usize, j: usize| if i == j && i == 2 { 0.5 - 0.5e-7 } else { 0.0 };
    draw.shares[0] = Mat::zeros(3, 3);
    draw.shares[1] = Mat::from_fn(3, 3, small);
    for (axis, soundness) in [(0, Soundness::Sound), (2, Soundness::NearSingular)] {
        let Some(mut table) = draw.table(tested) else { return };
        assert_eq!(table.choose(0.5).unwrap().soundness, Soundness::Sound);
        draw.directions[0] = (0..3).map(|i| if i == axis { 1.0 } else { 0.0 }).collect();
        draw.condition(&mut *table, 1);
        assert_eq!(table.choose(0.5).unwrap().soundness, soundness);
        // A harmless pick does not repair what another pick corrupted.
        draw.directions[1] = vec![0.0, 1.0, 0.0];
        draw.condition(&mut *table, 2);
        assert_eq!(table.choose(0.5).unwrap().soundness, soundness);
    }
}

on_every_engine!(choices_by_nodes, what_is_pending_is_copied, unsound_nodes);

#[test]
fn planted_faults_are_noticed() {
    engines::assert_noticed(&[
        (("condition_nodes", "x -= times(images", "x += times(images"), choices_by_nodes),
        (("condition_nodes", "value = times(value, along)", "value = along"), choices_by_nodes),
        (("condition_nodes", "-along.y) / square", "along.y) / square"), choices_by_nodes),
        (
            ("condition_nodes", "inputs[factors + 3u] * value.y", "inputs[factors + 2u] * value.y"),
            choices_by_nodes,
        ),
        (("condition_nodes", "factor.x * x.x - factor.y", "factor.x * x.x + factor.y"), choices_by_nodes),
        (("condition_nodes", "matrices[base + at] = x;", "matrices[base + at] = x * 0.5;"), choices_by_nodes),
        (("condition_nodes", "square >= 1.0e8", "square >= 1.0e28"), unsound_nodes),
        (("condition_nodes", "flag(thread, SINGULAR)", "flag(thread, 0u)"), unsound_nodes),
        (("sum_forms", "run * p.pitch + at", "at"), choices_by_nodes),
        (("root_form", "x -= root", "x += root"), choices_by_nodes),
        (("root_form", "root[n * n + i] - x * x", "root[n * n + i]"), choices_by_nodes),
        (("root_form", "x *= scale", "x *= scale * scale"), choices_by_nodes),
        (("root_form", "tally += sh_pivots", "tally -= sh_pivots"), choices_by_nodes),
        (("map_root", "root[column * p.n + i]", "root[i * p.n + column]"), choices_by_nodes),
        (("weigh_tiles", "thread < half", "thread < half / 2u"), choices_by_nodes),
        (("choose_tile", "draw[0] * total", "draw[0]"), choices_by_nodes),
        (("choose_tile", "left -= weight", "left += weight"), choices_by_nodes),
        (("choose_row", "passed(found[2])", "passed(found[1])"), choices_by_nodes),
    ]); // What only matters where bindings are cut.
    let cut = [GpuOptions::default().with_precision(Precision::F32).with_largest_binding(engines::CHUNK)];
    engines::assert_noticed_on(
        &cut,
        &[
            (("condition_nodes", "[p.first_run + run]", "[run]"), choices_by_nodes),
            (("sum_forms", "p.earlier != 0u", "false"), choices_by_nodes),
            (("weigh_tiles", "parameters.first_tile + tile", "tile"), choices_by_nodes),
            (("choose_row", "p.first_row + first", "first"), choices_by_nodes),
        ],
    );
}
