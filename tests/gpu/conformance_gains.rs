//! Tables of gains on every engine, against naive loops.

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
        low_level::{Items, Rows},
    },
};

use crate::conformance::{each_rows, norm, scaled};

/// Gains of open groups after the directions; removed rows are −∞.
pub(crate) fn gain_update(tested: &Tested) {
    each_rows(|rows, what| {
        let dims = rows.features().dims();
        let own = scaled(rows);
        let norms: Vec<Vec<f64>> =
            own.iter().map(|group| group.iter().map(|row| dot(row, row)).collect()).collect();
        let mut table = tested.engine.gain_table(rows, &norms.concat()).unwrap();
        let mut expected = norms.clone();
        if own[0].len() > 2 {
            table.remove(0, 1);
            expected[0][1] = f64::NEG_INFINITY;
        }
        if own.len() > 2 {
            table.close(2);
        }
        let steps = normals(3 * dims, 9);
        let directions: Vec<Option<Vec<f64>>> = std::iter::once(None)
            .chain(steps.chunks(dims).map(|q| Some(q.iter().map(|x| x / norm(q)).collect())))
            .collect();
        for direction in &directions {
            let tops = table.update(direction.as_deref()).unwrap();
            for (l, group) in own.iter().enumerate().filter(|(l, _)| *l != 2) {
                for (gain, row) in expected[l].iter_mut().zip(group) {
                    *gain -= direction.as_ref().map_or(0.0, |q| dot(row, q).powi(2));
                }
                let best = expected[l].iter().copied().fold(f64::NEG_INFINITY, f64::max);
                assert_eq!(tops[l].is_empty(), best == f64::NEG_INFINITY, "{what}");
                let size = norms[l].iter().copied().fold(0.0, f64::max);
                if let Some(top) = tops[l].first() {
                    tested.close(top.gain, best, dims, size, what);
                    // The true best is among the rows that rounding cannot distinguish from it.
                    let exact = |top: &partition_dpp::engine::low_level::Top| expected[l][top.position];
                    let reached = tops[l].iter().map(exact).fold(f64::NEG_INFINITY, f64::max);
                    assert!(reached >= best - 1e-12 * size, "{what}: {reached} {best}");
                }
            }
        }
        let found = table.read().unwrap();
        for l in (0..own.len()).filter(|&l| l != 2) {
            for ((found, expected), size) in found[l].iter().zip(&expected[l]).zip(&norms[l]) {
                if expected.is_finite() {
                    tested.close(*found, *expected, dims, *size, what);
                } else {
                    assert!(*found == f64::NEG_INFINITY, "{what}: {found}");
                }
            }
        }
    });
}

fn the_first_of_equal_gains(tested: &Tested) {
    let features = Features::from_rows(900, 3, [0.5, -0.25, 1.0].repeat(900)).unwrap();
    let rows = Rows::scaled(&features, vec![Items::All(900)]);
    let mut table = tested.engine.gain_table(&rows, &vec![1.3125; 900]).unwrap();
    table.remove(0, 0);
    let tops = table.update(Some(&[0.0, 1.0, 0.0])).unwrap();
    assert_eq!(tops[0][0].position, 1);
    for position in 0..900 {
        table.remove(0, position);
    }
    assert!(table.update(None).unwrap()[0].is_empty());
}

fn more_tiles_than_threads(tested: &Tested) {
    let items = 257 * 256;
    let features = Features::from_rows(items, 1, vec![1.0_f32; items]).unwrap();
    let rows = Rows::scaled(&features, vec![Items::All(items)]);
    let mut gains = vec![2.0; items];
    gains[items - 7] = 3.0;
    let mut table = tested.engine.gain_table(&rows, &gains).unwrap();
    assert_eq!(table.update(Some(&[0.5])).unwrap()[0][0].position, items - 7);
}

/// Gains that single precision cannot distinguish, in one tile.
fn near_ties(tested: &Tested) {
    let features = Features::from_rows(200, 3, [0.5, -0.25, 1.0].repeat(200)).unwrap();
    let rows = Rows::scaled(&features, vec![Items::All(200)]);
    let gains: Vec<f64> = (0..200).map(|i| 1.3125 + 1e-12 * f64::from(i)).collect();
    let mut table = tested.engine.gain_table(&rows, &gains).unwrap();
    let tops = table.update(Some(&[0.0, 1.0, 0.0])).unwrap();
    assert!(tops[0].iter().any(|top| top.position == 199), "{:?}", tops[0]);
}

/// A table of squared norms, from which rows are removed before they are computed.
fn norm_tables(tested: &Tested) {
    each_rows(|rows, what| {
        let expected: Vec<Vec<f64>> =
            scaled(rows).iter().map(|group| group.iter().map(|row| dot(row, row)).collect()).collect();
        let largest = |l: usize| expected[l].iter().copied().fold(0.0, f64::max);
        let mut table = tested.engine.norm_table(rows).unwrap();
        let found = tested.engine.norm_table(rows).unwrap().read().unwrap();
        for (found, expected) in found.concat().iter().zip(expected.concat()) {
            tested.close(*found, expected, rows.features().dims(), expected, what);
        }
        if !expected[0].is_empty() {
            table.remove(0, 0);
        }
        let tops = table.update(None).unwrap();
        assert!(tops[0].iter().all(|top| top.position != 0), "{what}");
        for l in (1..expected.len()).filter(|&l| !expected[l].is_empty()) {
            tested.close(tops[l][0].gain, largest(l), rows.features().dims(), largest(l), what);
        }
        if !expected[0].is_empty() {
            assert!(table.read().unwrap()[0][0] == f64::NEG_INFINITY, "{what}");
        }
    });
}

on_every_engine!(gain_update, norm_tables, the_first_of_equal_gains, more_tiles_than_threads, near_ties);

#[test]
fn planted_faults_are_noticed() {
    engines::assert_noticed(&[
        (("gain_update", "gain - along", "gain + along"), gain_update),
        (
            ("gain_update", "gains[tile.start + thread] = gain;", "gains[tile.start + thread] = ZERO;"),
            gain_update,
        ),
        (("gain_update", "other.value > one.value", "other.value < one.value"), gain_update),
        (("leaders", "other.value > one.value", "other.value < one.value"), gain_update),
        (("leaders", "Leading(top.x, top.y, tile, 0u)", "Leading(top.x, LOWEST, tile, 0u)"), near_ties),
        (
            ("gain_update", "other.position < one.position", "other.position > one.position"),
            the_first_of_equal_gains,
        ),
        (
            ("leaders", "other.position < one.position", "other.position > one.position"),
            the_first_of_equal_gains,
        ),
    ]);
}

#[test]
fn tiles_beyond_the_threads_are_counted() {
    let fault = (("leaders", "tile += 256u", "tile += 512u"), more_tiles_than_threads as engines::Test);
    engines::assert_noticed_on(&[GpuOptions::default().with_precision(Precision::F32)], &[fault]);
}

#[test]
fn a_dispatch_that_starts_anew_is_noticed() {
    let fault = (("gain_update", "return parameters.start + ", "return "), gain_update as engines::Test);
    engines::assert_noticed_on(&[engines::short_dispatches()], &[fault]);
}
