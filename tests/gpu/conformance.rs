//! Every verb over rows on every engine, against naive loops, at sizes around the edges of tiles, blocks and chunks.

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
    engine::{
        Precision,
        gpu::GpuOptions,
        low_level::{Items, RowMap, Rows, Verbs},
    },
};

/// Numbers of rows and features: one, odd, and around tiles (256), blocks (64), groups of four and steps (16).
const SIZES: [(usize, usize); 14] = [
    (1, 1),
    (2, 3),
    (63, 4),
    (64, 5),
    (65, 16),
    (255, 17),
    (256, 33),
    (257, 63),
    (300, 64),
    (260, 65),
    (520, 2),
    (30, 257),
    (40, 300),
    (4097, 13),
];

fn features(items: usize, dims: usize) -> Features {
    Features::from_rows(items, dims, normals(items * dims, (31 * items + dims) as u64)).unwrap()
}

/// Returns three interleaved groups in reverse order, an empty one, and one with a single row.
fn groups(items: usize) -> [Vec<u32>; 4] {
    let all: Vec<u32> = (0..items as u32).rev().collect();
    let odd = all.iter().copied().filter(|item| item % 2 == 1).collect();
    let even = all.iter().copied().filter(|item| item % 2 == 0).collect();
    [odd, Vec::new(), even, vec![0]]
}

fn listed(groups: &[Vec<u32>]) -> Vec<Items<'_>> {
    groups.iter().map(|items| Items::Listed(items)).collect()
}

/// Returns the same features in every stored type, some below the normal range of their type.
fn narrow(items: usize, dims: usize) -> [Features; 3] {
    let values = normals(items * dims, (31 * items + dims) as u64);
    let half = values.iter().map(|x| f16::from_f64(x / 16_384.0)).collect::<Vec<_>>();
    let single = |size: f64| values.iter().map(|x| (x * size) as f32).collect::<Vec<_>>();
    [
        Features::from_rows(items, dims, half).unwrap(),
        Features::from_rows(items, dims, single(1.0)).unwrap(),
        Features::from_rows(items, dims, single(1e-38)).unwrap(),
    ]
}

/// Calls `check` with all rows as one group, and with rows in groups, in all types.
pub(crate) fn each_rows(check: impl Fn(&Rows<'_>, &str)) {
    for (number, (items, dims)) in SIZES.into_iter().enumerate() {
        let groups = groups(items);
        let mut all = vec![features(items, dims)];
        // Sizes around all these edges, and such that chunks end inside them.
        if number % 3 == 1 {
            all.extend(narrow(items, dims));
        }
        for features in all {
            let what = format!("{items}×{dims} in {features:?}");
            check(&Rows::scaled(&features, vec![Items::All(items)]), &format!("all of {what}"));
            check(&Rows::scaled(&features, listed(&groups)), &format!("groups of {what}"));
        }
    }
}

/// Returns the scaled rows by group.
pub(crate) fn scaled(rows: &Rows<'_>) -> Vec<Vec<Vec<f64>>> {
    let of_group = |group: &partition_dpp::engine::low_level::Group<'_>| {
        let row = |position: usize| {
            let row = rows.features().row(group.items.at(position));
            row.into_iter().map(|x| x * group.scale).collect()
        };
        (0..group.items.len()).map(row).collect()
    };
    rows.groups().iter().map(of_group).collect()
}

pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// Returns a factor with a column for half the features, and one more.
fn factor(dims: usize) -> Mat<f64> {
    let columns = dims / 2 + 1;
    let values = normals(dims * columns, 77);
    Mat::from_fn(dims, columns, |i, j| values[i * columns + j])
}

fn image(factor: &Mat<f64>, weight: f64, row: &[f64]) -> Vec<f64> {
    (0..factor.ncols())
        .map(|j| weight * (0..row.len()).map(|i| factor[(i, j)] * row[i]).sum::<f64>())
        .collect()
}

/// Returns the magnitude that rounding errors of F and a scale with in an image.
fn image_size(factor: &Mat<f64>, weight: f64, row: &[f64]) -> f64 {
    weight * factor.norm_l2() * norm(row)
}

fn row_norms(tested: &Tested) {
    each_rows(|rows, what| {
        let found = tested.engine.row_norms(rows).unwrap();
        let expected = scaled(rows).concat();
        assert_eq!(found.len(), expected.len(), "{what}");
        for (found, row) in found.iter().zip(&expected) {
            tested.close(*found, dot(row, row), row.len(), dot(row, row), what);
        }
    });
}

fn part_grams(tested: &Tested) {
    each_rows(|rows, what| {
        let dims = rows.features().dims();
        let (factor, weights) = (factor(dims), [0.7, 1.3, 2.0, 0.1]);
        let map = RowMap { weights: &weights[..rows.groups().len()], factor: factor.as_ref() };
        for map in [None, Some(&map)] {
            let found = tested.engine.part_grams(rows, map).unwrap();
            for (l, group) in scaled(rows).into_iter().enumerate() {
                let size = map.map_or(dims, |map| map.factor.ncols());
                let b: Vec<Vec<f64>> = group
                    .iter()
                    .map(|row| map.map_or_else(|| row.clone(), |map| image(&factor, map.weights[l], row)))
                    .collect();
                let sizes: f64 = group
                    .iter()
                    .map(|row| {
                        map.map_or_else(|| norm(row), |map| image_size(&factor, map.weights[l], row)).powi(2)
                    })
                    .sum();
                assert_eq!((found[l].nrows(), found[l].ncols()), (size, size), "{what}");
                for i in 0..size {
                    for j in 0..size {
                        let expected: f64 = b.iter().map(|b| b[i] * b[j]).sum();
                        tested.close(found[l][(i, j)], expected, dims, sizes, what);
                    }
                }
            }
        }
    });
}

/// Sums over runs lose nothing: every run has one row, whose products are exact.
fn part_grams_of_many_runs(tested: &Tested) {
    let (runs, value) = (64, f64::from(1.0_f32 / 3.0));
    let mut values = vec![0.0_f64; runs * 256 * 3];
    for run in 0..runs {
        values[run * 256 * 3..][..3].copy_from_slice(&[1.0, value, 0.0]);
    }
    let features = Features::from_rows(runs * 256, 3, values).unwrap();
    let rows = Rows::scaled(&features, vec![Items::All(runs * 256)]);
    let gram = tested.engine.part_grams(&rows, None).unwrap().remove(0);
    let scale = rows.groups()[0].scale.powi(2);
    assert!((gram[(0, 0)] / scale - runs as f64).abs() < 1e-9, "{}", gram[(0, 0)]);
    let off = (gram[(1, 0)] / scale - value * runs as f64).abs();
    assert!(off < 1e-12 * runs as f64, "off by {off:e}");
}

fn weighted_rows(tested: &Tested) {
    let logs: Vec<f64> = normals(700, 41).iter().map(|x| 3.0 * x).collect();
    let values = normals(700 * 19, 42);
    let single: Vec<f32> = values.iter().map(|&x| x as f32).collect();
    let tiny: Vec<f32> = values.iter().map(|&x| (x * 1e-37) as f32).collect();
    let all = [
        Features::from_rows(700, 19, values),
        Features::from_rows(700, 19, single),
        Features::from_rows(700, 19, tiny),
    ];
    let groups = groups(700);
    for features in all.map(|features| features.unwrap().with_log_quality(&logs).unwrap()) {
        let rows = Rows::scaled(&features, listed(&groups));
        let found = tested.engine.row_norms(&rows).unwrap();
        let members = rows
            .groups()
            .iter()
            .flat_map(|group| (0..group.items.len()).map(|position| (group.items.at(position), group.scale)));
        for (found, (item, scale)) in found.iter().zip(members) {
            let row: Vec<f64> = features.row(item).iter().map(|x| x * scale * logs[item].exp()).collect();
            tested.close(
                *found,
                dot(&row, &row),
                19,
                dot(&row, &row),
                &format!("item {item} of {features:?}"),
            );
        }
    }
}

fn row_forms(tested: &Tested) {
    each_rows(|rows, what| {
        let dims = rows.features().dims();
        let factors: Vec<Mat<f64>> =
            (0..rows.groups().len()).map(|l| factor(dims) * faer::Scale(1.0 + l as f64)).collect();
        let given: Vec<MatRef<'_, f64>> = factors.iter().map(Mat::as_ref).collect();
        let mut found = tested.engine.row_forms(rows, &given).unwrap().into_iter();
        for (factor, group) in factors.iter().zip(scaled(rows)) {
            for row in group {
                let (image, size) = (image(factor, 1.0, &row), image_size(factor, 1.0, &row));
                tested.close(found.next().unwrap(), dot(&image, &image), dims, size * size, what);
            }
        }
        assert_eq!(found.next(), None);
    });
}

fn whiten_rows(tested: &Tested) {
    each_rows(|rows, what| {
        let (factor, weights) = (factor(rows.features().dims()), [0.7, 1.3, 2.0, 0.1]);
        let map = RowMap { weights: &weights[..rows.groups().len()], factor: factor.as_ref() };
        let mut found = tested.engine.whiten_rows(rows, &map).unwrap().into_iter();
        for (weight, group) in weights.iter().zip(scaled(rows)) {
            for row in group {
                let size = image_size(&factor, *weight, &row);
                for expected in image(&factor, *weight, &row) {
                    tested.close(found.next().unwrap(), expected, row.len(), size, what);
                }
            }
        }
        assert_eq!(found.next(), None);
    });
}

on_every_engine!(row_norms, part_grams, part_grams_of_many_runs, row_forms, whiten_rows, weighted_rows,);

#[test]
fn planted_faults_are_noticed() {
    engines::assert_noticed(&[
        (("row_norms", "dot(x, x)", "dot(x, x.yzwx)"), row_norms),
        (("row_norms", "= row_sum(thread)", "= ZERO"), row_norms),
        (("row_norms", "(tile.item + at)", "(tile.item + at / 2u)"), row_norms),
        (("row_norms", "return factors[tile.group]", "return factors[0]"), row_norms),
        (("part_grams", "entries.r1 += a2.y * b2", "entries.r1 += a2.x * b2"), part_grams),
        (("part_grams", "partials[at] = entries.r0", "partials[at] = zero"), part_grams),
        (("part_grams", "at < run.x + run.y", "at + 1u < run.x + run.y"), part_grams),
        (("sum_runs", "sum = next", "sum = x"), part_grams),
        (("sum_runs", "span.z == 0u", "span.z == 1u"), part_grams),
        (("sum_runs", "lost += ", "lost = "), part_grams_of_many_runs),
        (("row_norms", "return factors[tile.start + at]", "return factors[tile.group]"), weighted_rows),
        (("row_norms", "pair.x >> 16u", "pair.x & 0xffffu"), row_norms),
        (("row_norms", "small, size <", "normal, size <"), row_norms),
        (("row_forms", "dot(e.r1, e.r1)", "dot(e.r1, e.r0)"), row_forms),
        (("row_forms", "forms[position] = sum", "forms[position] = ZERO"), row_forms),
        (("row_forms", "step + quad < quads", "step + quad + 1u < quads"), row_forms),
        (("whiten_rows", "column, e.r2", "column, e.r1"), whiten_rows),
        (("whiten_rows", "column + c < p.width", "column + c + 1u < p.width"), whiten_rows),
    ]);
}

/// If rows are narrower than the sums, they are multiplied by their factors last.
#[test]
fn planted_faults_in_double_precision_are_noticed() {
    let double = engines::gpu(Precision::F64).map(|_| GpuOptions::default().with_precision(Precision::F64));
    engines::assert_noticed_on(
        double.as_slice(),
        &[
            (("row_norms", "= factor * (factor *", "= (factor *"), row_norms as engines::Test),
            (("row_norms", "return row_factor(tile, at);", "return ONE;"), row_norms),
            (("row_norms", "1.401298464324817e-45lf", "1.5e-45lf"), row_norms),
            (("row_forms", "size != bits", "size == bits"), row_forms),
            (
                ("gain_update", "last_factor(tile, thread) * row_sum", "row_sum"),
                crate::conformance_gains::gain_update,
            ),
            (("swap_gains", "g *= factor;", ""), crate::conformance_tables::swap_table_and_gains),
        ],
    );
}

#[test]
fn a_skipped_chunk_is_noticed() {
    // In chunks, 4097 rows of 13 values are four chunks of 1024 rows and one more row.
    let skip =
        "if parameters.tiles == 4u && parameters.quads == 4u { norms[tile.start + thread] = ZERO; return; }
  let lane = ";
    let options = GpuOptions::default()
        .with_precision(Precision::F32)
        .with_largest_binding(1 << 16)
        .with_patch("row_norms", "let lane = ", skip);
    let Some(gpu) = engines::open(&options, "a skipped chunk") else { return };
    let faulty = engines::tested(&gpu, 0);
    let message = engines::noticed("a skipped chunk", || row_norms(&faulty));
    assert!(message.contains("4097×13"), "{message}");
}

#[test]
fn parameters_in_another_order_are_noticed() {
    let options = GpuOptions::default().with_precision(Precision::F32).with_patch(
        "row_norms",
        "tiles: u32, quads: u32",
        "quads: u32, tiles: u32",
    );
    let Some(gpu) = engines::open(&options, "parameters in another order") else { return };
    let faulty = engines::tested(&gpu, 0);
    let message = engines::noticed("parameters in another order", || row_norms(&faulty));
    assert!(message.contains("row_norms.f32 declares"), "{message}");
}

#[test]
fn a_dispatch_that_starts_anew_is_noticed() {
    let short = engines::short_dispatches();
    let forgotten = |verb, test| ((verb, "return parameters.start + ", "return "), test);
    engines::assert_noticed_on(
        &[short],
        &[
            forgotten("row_norms", row_norms as engines::Test),
            forgotten("part_grams", part_grams),
            forgotten("sum_runs", part_grams),
            forgotten("row_forms", row_forms),
            forgotten("whiten_rows", whiten_rows),
            (("row_forms", "sum += forms[position]", "sum += ZERO"), row_forms),
        ],
    );
}

#[test]
fn work_is_cut_into_dispatches() {
    let Some(short) = engines::open(&engines::short_dispatches(), "graphics device") else { return };
    let Some(whole) = engines::gpu(Precision::F32) else { return };
    let features = features(4097, 13);
    let rows = Rows::scaled(&features, vec![Items::All(4097)]);
    // Tiles of 256 rows.
    for (gpu, dispatches) in [(&whole, 1), (&short, 17)] {
        gpu.row_norms(&rows).unwrap();
        let found = gpu.dispatches().into_iter().find(|(verb, _)| *verb == "row_norms").unwrap().1;
        assert_eq!(found, dispatches);
    }
}
