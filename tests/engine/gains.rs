//! The verbs `row_norms` and `gain_update` against naive loops, at sizes around the edges of their chunks and
//! tasks.
#![allow(clippy::float_cmp, reason = "bits are compared")]

use oracles::{oracle::dot, random::normals, with_threads};
use partition_dpp::{
    Engine, Features,
    data::{Scalar, Storage},
    engine::low_level::{Cpu, Group, Items, Rows, Top, Verbs},
};

/// Tasks have 8192 rows, chunks 8 values.
const ROWS: [usize; 6] = [1, 2, 17, 8191, 8192, 8193];
const DIMS: [usize; 9] = [1, 3, 7, 8, 9, 16, 17, 64, 100];
/// LAPACK's threshold for ‖residual‖ / (dim·‖A‖·ε).
const THRESHOLD: f64 = 30.0;

fn unit_vector(dim: usize) -> Vec<f64> {
    let direction = normals(dim, 9);
    let norm = dot(&direction, &direction).sqrt();
    direction.iter().map(|x| x / norm).collect()
}

/// Makes `parts` interleaved groups. The last one is empty, and every seventh row is in no group.
fn interleaved(items: usize, parts: usize) -> Vec<Vec<u32>> {
    let member = |l: usize| {
        (0..items as u32).filter(move |&i| i % 7 != 3 && i as usize % (parts - 1) == l && l + 1 < parts)
    };
    (0..parts).map(|l| member(l).collect()).collect()
}

fn listed(groups: &[Vec<u32>]) -> Vec<Items<'_>> {
    groups.iter().map(|items| Items::Listed(items)).collect()
}

/// Returns s·a_i of every row, group after group.
fn scaled_rows(rows: &Rows<'_>) -> Vec<Vec<f64>> {
    let of_group = |group: &Group<'_>| -> Vec<Vec<f64>> {
        let row = |at| rows.features().row(group.items.at(at)).iter().map(|x| x * group.scale).collect();
        (0..group.items.len()).map(row).collect()
    };
    rows.groups().iter().flat_map(of_group).collect()
}

/// Returns the worst |found − ‖s a_i‖²| / (dim·ε·‖s a_i‖²).
fn norm_ratio(rows: &Rows<'_>, found: &[f64]) -> f64 {
    let expected = scaled_rows(rows);
    assert_eq!(found.len(), expected.len());
    let ratio = |(row, found): (&Vec<f64>, &f64)| {
        let norm = dot(row, row);
        if norm == 0.0 { found.abs() / f64::MIN_POSITIVE } else { relative(*found, norm, norm, row.len()) }
    };
    expected.iter().zip(found).map(ratio).fold(0.0, f64::max)
}

/// Returns the worst |found − (d − c²)| / (dim·ε·(|d| + ‖s a_i‖²)).
fn gain_ratio(rows: &Rows<'_>, direction: &[f64], before: &[f64], found: &[f64]) -> f64 {
    let expected = scaled_rows(rows);
    assert_eq!(found.len(), expected.len());
    let ratio = |((row, before), found): ((&Vec<f64>, &f64), &f64)| {
        if *before == f64::NEG_INFINITY {
            return if found == before { 0.0 } else { f64::INFINITY };
        }
        if row.iter().all(|&x| x == 0.0) {
            return if found == before { 0.0 } else { f64::INFINITY };
        }
        relative(*found, before - dot(row, direction).powi(2), before.abs() + dot(row, row), row.len())
    };
    expected.iter().zip(before).zip(found).map(ratio).fold(0.0, f64::max)
}

fn relative(found: f64, expected: f64, magnitude: f64, dims: usize) -> f64 {
    (found - expected).abs() / (dims as f64 * f64::EPSILON * magnitude)
}

/// Returns the largest gain of every group, the first of equal ones.
fn naive_tops(rows: &Rows<'_>, gains: &[f64]) -> Vec<Option<Top>> {
    let mut start = 0;
    let of_group = |group: &Group<'_>| {
        let own = &gains[start..start + group.items.len()];
        start += own.len();
        let largest = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let position = own.iter().position(|&gain| gain == largest && gain > f64::NEG_INFINITY)?;
        Some(Top { position, gain: largest })
    };
    rows.groups().iter().map(of_group).collect()
}

/// Returns gains to start from, with some rows removed.
fn some_gains(rows: &Rows<'_>) -> Vec<f64> {
    let mut gains = Engine::cpu().row_norms(rows).unwrap();
    gains.iter_mut().skip(5).step_by(11).for_each(|gain| *gain = f64::NEG_INFINITY);
    gains
}

fn update(rows: &Rows<'_>, direction: &[f64], gains: &[f64]) -> (Vec<f64>, Vec<Option<Top>>) {
    let mut table = Cpu.gain_table(rows, gains).unwrap();
    let tops = table.update(Some(direction)).unwrap();
    (table.read().unwrap().concat(), tops.into_iter().map(|leading| leading.first().copied()).collect())
}

fn check(rows: &Rows<'_>, what: &str) {
    let ratio = norm_ratio(rows, &Cpu.row_norms(rows).unwrap());
    assert!(ratio < THRESHOLD, "{what}, row_norms: {ratio}");
    let (before, direction) = (some_gains(rows), unit_vector(rows.features().dims()));
    let (after, tops) = update(rows, &direction, &before);
    let ratio = gain_ratio(rows, &direction, &before, &after);
    assert!(ratio < THRESHOLD, "{what}, gain_update: {ratio}");
    assert_eq!(tops, naive_tops(rows, &after), "{what}");
}

#[test]
fn norms_and_gains_meet_the_naive_loops_at_every_edge() {
    for items in ROWS {
        for dims in DIMS {
            let values = normals(items * dims, 31);
            let features = Features::from_rows(items, dims, &values).unwrap();
            check(&Rows::scaled(&features, vec![Items::All(items)]), &format!("all of {items}×{dims}"));
            let groups = interleaved(items, 4);
            check(&Rows::scaled(&features, listed(&groups)), &format!("parts of {items}×{dims}"));
        }
    }
}

#[test]
fn parts_of_extreme_magnitude_meet_the_naive_loops() {
    let (items, dims) = (514, 17);
    let mut values = normals(items * dims, 8);
    for (i, row) in values.chunks_exact_mut(dims).enumerate() {
        row.iter_mut().for_each(|x| *x *= [1e150, 1e-150, 0.0][i % 3]);
    }
    let features = Features::from_rows(items, dims, &values).unwrap();
    let groups: Vec<Vec<u32>> = (0..3).map(|l| (0..items as u32).filter(|i| i % 3 == l).collect()).collect();
    let rows = Rows::scaled(&features, listed(&groups));
    assert!(norm_ratio(&rows, &Cpu.row_norms(&rows).unwrap()) < THRESHOLD);
    let (before, direction) = (some_gains(&rows), unit_vector(dims));
    let (after, tops) = update(&rows, &direction, &before);
    assert!(gain_ratio(&rows, &direction, &before, &after) < THRESHOLD);
    assert_eq!(tops, naive_tops(&rows, &after));
    assert_eq!(tops[2].map(|top| (top.position, top.gain)), Some((0, 0.0)), "zero rows tie");
}

/// Returns norms, gains and tops of two groups as bits.
fn bits<T: Scalar>(items: usize, dims: usize, values: impl Into<Storage<T>>) -> Vec<u64> {
    let features = Features::from_rows(items, dims, values).unwrap();
    let groups = interleaved(items, 3);
    let rows = Rows::scaled(&features, listed(&groups));
    let (gains, tops) = update(&rows, &unit_vector(dims), &some_gains(&rows));
    let tops = tops.into_iter().flatten().flat_map(|top| [top.position as u64, top.gain.to_bits()]);
    gains.iter().map(|gain| gain.to_bits()).chain(tops).collect()
}

#[test]
fn f32_has_the_bits_of_the_same_values_in_f64() {
    for dims in DIMS {
        let narrow: Vec<f32> = normals(700 * dims, 5).iter().map(|&x| x as f32).collect();
        let wide: Vec<f64> = narrow.iter().map(|&x| x.into()).collect();
        assert_eq!(bits(700, dims, narrow), bits(700, dims, wide), "{dims}");
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let run = || bits(40_000, 9, normals(40_000 * 9, 4));
    let one = with_threads(1, run);
    assert!(one == with_threads(2, run) && one == with_threads(4, run));
}

#[test]
fn equal_rows_have_equal_gains_and_the_first_is_on_top() {
    for dims in DIMS {
        let row = normals(dims, 12);
        let values: Vec<f64> = (0..20_000).flat_map(|_| row.iter().copied()).collect();
        let features = Features::from_rows(20_000, dims, &values).unwrap();
        let rows = Rows::scaled(&features, vec![Items::All(20_000), Items::Listed(&[7, 3, 9])]);
        let mut before = Engine::cpu().row_norms(&rows).unwrap();
        before[0] = f64::NEG_INFINITY;
        let (after, tops) = update(&rows, &unit_vector(dims), &before);
        assert!(after[1..20_000].iter().all(|gain| gain.to_bits() == after[1].to_bits()), "{dims}");
        assert_eq!(tops.iter().map(|top| top.unwrap().position).collect::<Vec<_>>(), [1, 0]);
    }
}

#[test]
fn where_all_are_out_nothing_is_on_top() {
    let features = Features::from_rows(3, 2, normals(6, 1)).unwrap();
    let rows = Rows::scaled(&features, vec![Items::All(3), Items::Listed(&[]), Items::Listed(&[2])]);
    let gains = [f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY, -1.0];
    let (after, tops) = update(&rows, &[0.6, 0.8], &gains);
    assert_eq!(after[..3], gains[..3]);
    assert_eq!(tops[..2], [None, None]);
    assert_eq!(tops[2], Some(Top { position: 0, gain: after[3] }));
}

#[test]
fn planted_faults_are_found() {
    let (items, dims) = (8193, 17);
    let features = Features::from_rows(items, dims, normals(items * dims, 31)).unwrap();
    let groups = interleaved(items, 4);
    let rows = Rows::scaled(&features, listed(&groups));
    let (before, direction) = (Engine::cpu().row_norms(&rows).unwrap(), unit_vector(dims));
    let (after, tops) = update(&rows, &direction, &before);
    let faulty = |found: &[f64]| gain_ratio(&rows, &direction, &before, found) > 1e3 * THRESHOLD;
    assert!(!faulty(&after));
    // Faults: a sign, a shift by one row, a buffer of zeros, and the last value of a row left out.
    let sums: Vec<f64> = before.iter().zip(&after).map(|(b, a)| b + (b - a)).collect();
    let shifted: Vec<f64> = after[1..].iter().chain(&after[..1]).copied().collect();
    let short: Vec<f64> = [&direction[..dims - 1], &[0.0]].concat();
    for found in [sums, shifted.clone(), vec![0.0; after.len()], update(&rows, &short, &before).0] {
        assert!(faulty(&found));
    }
    assert!(norm_ratio(&rows, &shifted) > 1e3 * THRESHOLD);
    // Fault: a top other than the first of equal ones.
    let mut tied = after.clone();
    tied[tops[0].unwrap().position + 1] = tops[0].unwrap().gain;
    let later = Some(Top { position: tops[0].unwrap().position + 1, ..tops[0].unwrap() });
    assert_eq!(naive_tops(&rows, &tied)[0], tops[0]);
    assert_ne!(naive_tops(&rows, &tied)[0], later);
}
