//! The verbs of the CPU engine against naive loops, at sizes around the edges of its blocks.

use faer::{Mat, MatRef};
use oracles::{random::normals, with_threads};
use partition_dpp::{
    Engine, Features,
    engine::low_level::{Cpu, Items, RowMap, Rows, Verbs},
};

/// Blocks have 256 rows, tasks 8192.
const ROWS: [usize; 8] = [1, 2, 255, 256, 257, 8191, 8192, 8193];
const DIMS: [usize; 6] = [1, 2, 3, 17, 64, 65];
/// LAPACK's threshold for ‖residual‖ / (dim·‖A‖·ε).
const THRESHOLD: f64 = 30.0;

/// A matrix, groups of its rows, a weight per group and a factor per group.
struct Zoo {
    features: Features,
    groups: Vec<Vec<u32>>,
    weights: Vec<f64>,
    factors: Vec<Mat<f64>>,
}

impl Zoo {
    /// Makes `parts` interleaved groups. The last one is empty, and every seventh row is in no group.
    fn interleaved(items: usize, dims: usize, parts: usize) -> Self {
        let member = |l: usize| {
            (0..items as u32).filter(move |&i| i % 7 != 3 && i as usize % (parts - 1) == l && l + 1 < parts)
        };
        Self::new(items, dims, (0..parts).map(|l| member(l).collect()).collect())
    }

    fn new(items: usize, dims: usize, groups: Vec<Vec<u32>>) -> Self {
        let features = Features::from_rows(items, dims, normals(items * dims, 31)).unwrap();
        let weights = (0..groups.len()).map(|l| 0.7 + 0.4 * l as f64).collect();
        let width = dims.div_ceil(2);
        let factor = |l: usize| {
            let values = normals(dims * width, 77 + l as u64);
            Mat::from_fn(dims, width, |i, j| values[i * width + j])
        };
        let factors = (0..groups.len()).map(factor).collect();
        Self { features, groups, weights, factors }
    }

    fn rows(&self) -> Rows<'_> {
        Rows::scaled(&self.features, self.groups.iter().map(|items| Items::Listed(items)).collect())
    }

    fn factors(&self) -> Vec<MatRef<'_, f64>> {
        self.factors.iter().map(Mat::as_ref).collect()
    }

    fn map(&self) -> RowMap<'_> {
        RowMap { weights: &self.weights, factor: self.factors[0].as_ref() }
    }

    /// Returns s·a_i.
    fn row(&self, item: u32, scale: f64) -> Vec<f64> {
        self.features.row(item as usize).iter().map(|x| x * scale).collect()
    }
}

/// Returns w Fᵀ row.
fn image(row: &[f64], factor: MatRef<'_, f64>, weight: f64) -> Vec<f64> {
    (0..factor.ncols())
        .map(|j| weight * row.iter().enumerate().map(|(i, x)| x * factor[(i, j)]).sum::<f64>())
        .collect()
}

fn gram(rows: impl Iterator<Item = Vec<f64>>, size: usize) -> Mat<f64> {
    let mut gram = Mat::zeros(size, size);
    for row in rows {
        for j in 0..size {
            for i in 0..size {
                gram[(i, j)] += row[i] * row[j];
            }
        }
    }
    gram
}

/// Returns ‖found − expected‖ / (dim·‖magnitude‖·ε), where `magnitude` holds the sums of absolute values from which
/// both
/// were made.
fn residual_ratio(found: &[f64], expected: &[f64], magnitude: f64, dim: usize) -> f64 {
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().all(|x| x.is_finite()), "a value is not finite");
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    if worst == 0.0 { 0.0 } else { worst / (dim as f64 * magnitude * f64::EPSILON) }
}

fn flat(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.ncols()).flat_map(|j| (0..matrix.nrows()).map(move |i| matrix[(i, j)])).collect()
}

/// Returns the residual ratio of every group's Gram matrix, or of its image if there is a map.
fn gram_ratios(zoo: &Zoo, found: &[Mat<f64>], map: Option<&RowMap<'_>>) -> Vec<f64> {
    let rows = zoo.rows();
    let dims = zoo.features.dims();
    let size = map.map_or(dims, |map| map.factor.ncols());
    (0..zoo.groups.len())
        .map(|l| {
            let scale = rows.groups()[l].scale;
            let scaled = zoo.groups[l].iter().map(|&item| {
                let row = zoo.row(item, scale);
                map.map_or_else(|| row.clone(), |map| image(&row, map.factor, map.weights[l]))
            });
            let expected = gram(scaled, size);
            let trace: f64 = (0..size).map(|i| expected[(i, i)]).sum();
            // The images are rounded, too: |F|ᵀ|a| is up to √n times |Fᵀa|.
            let magnitude = trace * if map.is_some() { (dims as f64).sqrt() } else { 1.0 };
            residual_ratio(&flat(&found[l]), &flat(&expected), magnitude, dims)
        })
        .collect()
}

/// Returns the residual ratio of ‖F_lᵀ s_l a_i‖², over all rows.
fn form_ratio(zoo: &Zoo, found: &[f64]) -> f64 {
    let rows = zoo.rows();
    let mut expected = Vec::new();
    for (l, items) in zoo.groups.iter().enumerate() {
        for &item in items {
            let row = zoo.row(item, rows.groups()[l].scale);
            expected.push(image(&row, zoo.factors[l].as_ref(), 1.0).iter().map(|x| x * x).sum::<f64>());
        }
    }
    let largest = expected.iter().copied().fold(0.0, f64::max);
    residual_ratio(found, &expected, largest, zoo.features.dims())
}

/// Returns the residual ratio of w_l Fᵀ s_l a_i, over all rows.
fn whiten_ratio(zoo: &Zoo, found: &[f64]) -> f64 {
    let rows = zoo.rows();
    let map = zoo.map();
    let mut expected = Vec::new();
    for (l, items) in zoo.groups.iter().enumerate() {
        for &item in items {
            let row = zoo.row(item, rows.groups()[l].scale);
            expected.extend(image(&row, map.factor, map.weights[l]));
        }
    }
    let largest = expected.iter().map(|x| x.abs()).fold(0.0, f64::max);
    residual_ratio(found, &expected, largest, zoo.features.dims())
}

/// Checks all verbs on one zoo, with the worst residual ratio of each.
fn check(zoo: &Zoo, what: &str) {
    let rows = zoo.rows();
    let grams = Engine::cpu().part_grams(&rows, None).unwrap();
    for ratio in gram_ratios(zoo, &grams, None) {
        assert!(ratio < THRESHOLD, "{what}, part_grams: {ratio}");
    }
    let map = zoo.map();
    for ratio in gram_ratios(zoo, &Cpu.part_grams(&rows, Some(&map)).unwrap(), Some(&map)) {
        assert!(ratio < THRESHOLD, "{what}, part_grams of an image: {ratio}");
    }
    let ratio = form_ratio(zoo, &Cpu.row_forms(&rows, &zoo.factors()).unwrap());
    assert!(ratio < THRESHOLD, "{what}, row_forms: {ratio}");
    let ratio = whiten_ratio(zoo, &Cpu.whiten_rows(&rows, &map).unwrap());
    assert!(ratio < THRESHOLD, "{what}, whiten_rows: {ratio}");
}

#[test]
fn interleaved_parts_meet_the_naive_loops_at_every_edge() {
    for items in ROWS {
        for dims in DIMS {
            check(&Zoo::interleaved(items, dims, 4), &format!("{items}×{dims}"));
        }
    }
}

#[test]
fn groups_of_exactly_a_block_meet_the_naive_loops() {
    for items in [255, 256, 257, 511, 512, 513] {
        let groups = vec![(0..items).collect(), vec![], (items..2 * items).rev().collect()];
        check(&Zoo::new(2 * items as usize, 5, groups), &format!("two groups of {items}"));
    }
}

/// With 1 040 bytes per row, a window of 32 MiB holds 32 263 rows.
#[test]
fn windows_of_a_large_matrix_meet_the_naive_loops() {
    let (items, dims) = (33_000, 130);
    let mut zoo = Zoo::interleaved(items, dims, 4);
    zoo.groups[1].reverse();
    check(&zoo, "two windows");
    let rows = zoo.rows();
    let norm = |(item, group): (u32, usize)| {
        zoo.row(item, rows.groups()[group].scale).iter().map(|x| x * x).sum::<f64>()
    };
    let listed = (0..4).flat_map(|group| zoo.groups[group].iter().map(move |&item| (item, group)));
    let norms: Vec<f64> = listed.map(norm).collect();
    let largest = norms.iter().copied().fold(0.0, f64::max);
    let ratio = residual_ratio(&Cpu.row_norms(&rows).unwrap(), &norms, largest, dims);
    assert!(ratio < THRESHOLD, "row_norms: {ratio}");
    // A direction of zeros changes no gain: the largest of every group has the largest norm.
    let mut table = Cpu.gain_table(&rows, &norms).unwrap();
    let tops = table.update(Some(&vec![0.0; dims])).unwrap();
    let mut left = &norms[..];
    for (top, group) in tops.iter().zip(&zoo.groups) {
        let (own, rest) = left.split_at(group.len());
        left = rest;
        let best = (0..own.len()).max_by(|&a, &b| own[a].total_cmp(&own[b]));
        assert_eq!(top.first().map(|top| top.position), best);
    }
    let factors = zoo.factors();
    let found = Engine::cpu().swap_table(&rows, &factors, &norms).unwrap().read().unwrap();
    for (l, numbers) in found.iter().enumerate() {
        for (at, &item) in zoo.groups[l].iter().enumerate() {
            let expected = image(&zoo.row(item, rows.groups()[l].scale), factors[l], 1.0);
            let found: Vec<f64> = (0..expected.len()).map(|slot| numbers.coefficients[(slot, at)]).collect();
            let ratio = residual_ratio(&found, &expected, largest.sqrt(), dims);
            assert!(ratio < THRESHOLD, "swap_table, group {l}, position {at}: {ratio}");
        }
    }
}

#[test]
fn all_rows_are_the_list_of_all_rows() {
    for items in ROWS {
        let zoo = Zoo::new(items, 17, vec![(0..items as u32).collect()]);
        check(&zoo, &format!("all of {items}"));
        let all = Rows::scaled(&zoo.features, vec![Items::All(items)]);
        let listed = zoo.rows();
        let (map, factors) = (zoo.map(), zoo.factors());
        let cpu = Engine::cpu();
        // The two may be scaled by different powers of two.
        let unscaled = |rows: &Rows<'_>| {
            let scale = rows.groups()[0].scale;
            let over = |values: Vec<f64>, power: f64| values.into_iter().map(move |x| x / power).collect();
            let grams = over(flat(&cpu.part_grams(rows, None).unwrap()[0]), scale * scale);
            let whitened = over(cpu.whiten_rows(rows, &map).unwrap(), scale);
            let forms = over(cpu.row_forms(rows, &factors).unwrap(), scale * scale);
            [grams, whitened, forms]
        };
        let [in_order, by_list]: [[Vec<f64>; 3]; 2] = [unscaled(&all), unscaled(&listed)];
        assert_eq!(in_order, by_list);
    }
}

#[test]
fn empty_groups_and_rows_in_no_group_take_no_place() {
    let zoo = Zoo::new(9, 3, vec![vec![1, 4], vec![], vec![8]]);
    let rows = zoo.rows();
    assert_eq!(rows.len(), 3);
    let forms = Engine::cpu().row_forms(&rows, &zoo.factors()).unwrap();
    let whitened = Engine::cpu().whiten_rows(&rows, &zoo.map()).unwrap();
    assert_eq!((forms.len(), whitened.len()), (3, 6));
    assert!(forms.iter().chain(&whitened).all(|&x| x != 0.0));
    let grams = Engine::cpu().part_grams(&rows, None).unwrap();
    assert!(flat(&grams[1]).iter().all(|&x| x == 0.0));
    assert!(flat(&grams[2]).iter().all(|&x| x != 0.0));
}

#[test]
fn gram_matrices_are_symmetric_to_the_last_bit() {
    let zoo = Zoo::interleaved(8193, 65, 4);
    for gram in Engine::cpu().part_grams(&zoo.rows(), None).unwrap() {
        assert_eq!(gram.as_ref(), gram.transpose());
    }
}

#[test]
fn two_threads_give_the_bits_of_one() {
    // More than one wave of 32 tasks would need 262 145 rows.
    for (items, dims) in [(8193, 17), (300_000, 3)] {
        let zoo = Zoo::interleaved(items, dims, 3);
        let run = || {
            let rows = zoo.rows();
            let map = zoo.map();
            (
                Engine::cpu().part_grams(&rows, None).unwrap(),
                Engine::cpu().part_grams(&rows, Some(&map)).unwrap(),
                Engine::cpu().row_forms(&rows, &zoo.factors()).unwrap(),
                Engine::cpu().whiten_rows(&rows, &map).unwrap(),
            )
        };
        assert!(with_threads(1, run) == with_threads(2, run), "{items}×{dims}");
    }
}

#[test]
fn scales_are_powers_of_two_that_bring_rows_near_one() {
    for magnitude in [1e-300, 1e-150, 1e-10, 0.5, 1.0, 2.0, 3.0, 1e10, 1e150, 1e300] {
        let values: Vec<f64> = normals(40, 3).iter().map(|x| x * magnitude).collect();
        let features = Features::from_rows(10, 4, &values).unwrap();
        let rows = Rows::scaled(&features, vec![Items::Listed(&[1, 4, 7]), Items::All(10)]);
        for group in rows.groups() {
            let power = group.scale.log2().round() as i32;
            assert_eq!(group.scale.to_bits(), 2.0_f64.powi(power).to_bits(), "{magnitude:e}");
            let entries = (0..group.items.len()).flat_map(|at| features.row(group.items.at(at)));
            let largest = entries.fold(0.0, |max, x| f64::max(max, x.abs())) * group.scale;
            assert!((0.5..1.0).contains(&largest), "{magnitude:e}: {largest}");
        }
    }
    let zero = Features::from_rows(2, 2, vec![0.0; 4]).unwrap();
    assert_eq!(Rows::scaled(&zero, vec![Items::All(2)]).groups()[0].scale.to_bits(), 1.0_f64.to_bits());
}

#[test]
fn parts_of_extreme_magnitude_meet_the_naive_loops() {
    let (items, dims) = (514, 17);
    let mut zoo = Zoo::interleaved(items, dims, 3);
    let mut values = normals(items * dims, 8);
    for (i, row) in values.chunks_exact_mut(dims).enumerate() {
        row.iter_mut().for_each(|x| *x *= if i % 2 == 0 { 1e150 } else { 1e-150 });
    }
    zoo.features = Features::from_rows(items, dims, values).unwrap();
    check(&zoo, "1e±150");
}

#[test]
fn a_planted_fault_is_found() {
    let zoo = Zoo::interleaved(8193, 17, 3);
    // Change one row by 1e-6.
    let mut values: Vec<f64> = (0..8193).flat_map(|item| zoo.features.row(item)).collect();
    values[8192 * 17 + 4] += 1e-6;
    let faulty = Zoo { features: Features::from_rows(8193, 17, values).unwrap(), ..zoo };
    let honest = Zoo::interleaved(8193, 17, 3);
    let rows = faulty.rows();
    let grams = Engine::cpu().part_grams(&rows, None).unwrap();
    assert!(gram_ratios(&honest, &grams, None).iter().any(|&ratio| ratio > THRESHOLD));
    assert!(form_ratio(&honest, &Cpu.row_forms(&rows, &faulty.factors()).unwrap()) > THRESHOLD);
    assert!(whiten_ratio(&honest, &Cpu.whiten_rows(&rows, &faulty.map()).unwrap()) > THRESHOLD);
}
