//! Numbers of very different sizes in single precision: right within the stated error, or refused.

use approx::{abs_diff_eq, relative_eq};
use faer::{Mat, MatRef};
use oracles::{assert_error, engines::gpu, random::normals};
use partition_dpp::{
    Engine, Error, Features, KDpp, Method, Partition, PartitionDpp, Quota,
    engine::{
        Precision,
        gpu::Gpu,
        low_level::{Items, RowMap, Rows, SwapUpdate, Verbs},
    },
    error::DeviceProblem,
    map::{Greedy, LocalSearch, Solver},
};

const DIMS: usize = 6;
const ITEMS: usize = 40;

/// Returns two parts: rows of length `size`, and of length `size · apart`.
fn features(size: f64, apart: f64) -> Features {
    let mut values = normals(ITEMS * DIMS, 11);
    for (item, row) in values.chunks_exact_mut(DIMS).enumerate() {
        let size = if item % 2 == 0 { size } else { size * apart };
        row.iter_mut().for_each(|x| *x *= size);
    }
    Features::from_rows(ITEMS, DIMS, values).unwrap()
}

fn partition() -> Partition {
    Partition::from_labels(&(0..ITEMS).map(|i| i % 2).collect::<Vec<_>>()).unwrap()
}

/// Lengths of all rows, and the factor by which rows of the second part are longer.
const SCALES: [(f64, f64); 7] =
    [(1.0, 1.0), (1e60, 1.0), (1e-60, 1.0), (1.0, 1e30), (1.0, 1e-30), (1e60, 1e-30), (1e-60, 1e30)];

fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Device(DeviceProblem::SinglePrecision { .. }))
}

/// Asserts the same numbers as on the CPU, up to a multiple of the rounding of single precision relative to these
/// sizes.
#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], sizes: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for ((found, expected), size) in found.iter().zip(expected).zip(sizes) {
        let bound = 100.0 * f64::from(f32::EPSILON) * size + f64::MIN_POSITIVE;
        assert!(
            abs_diff_eq!(found, expected, epsilon = bound),
            "{what}: {found:e} is not {expected:e}, size {size:e}"
        );
    }
}

fn groups() -> [Vec<u32>; 2] {
    [0, 1].map(|part| (0..40).filter(|item| item % 2 == part).collect())
}

/// Every verb over rows, with factors and weights of any size.
#[test]
fn verbs_hold_numbers_of_any_size() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let groups = groups();
    for (size, apart) in SCALES {
        for weight in [1.0, 1e-140, 1e-60, 1e60, 1e140] {
            let features = features(size, apart);
            let rows = Rows::scaled(&features, groups.iter().map(|items| Items::Listed(items)).collect());
            let what = format!("rows of {size:e} and {apart:e} times that, factors of {weight:e}");
            let norms = Engine::cpu().row_norms(&rows).unwrap();
            assert_close(&gpu.row_norms(&rows).unwrap(), &norms, &norms, &what);
            let entries = normals(DIMS * 3, 4);
            let factor = Mat::from_fn(DIMS, 3, |i, j| weight * entries[i * 3 + j]);
            let factors = [factor.as_ref(); 2];
            let norm = factor.norm_l2();
            let sizes: Vec<f64> = norms.iter().map(|x| norm * x.sqrt() * norm * x.sqrt()).collect();
            let expected = Engine::cpu().row_forms(&rows, &factors).unwrap();
            assert_close(&gpu.row_forms(&rows, &factors).unwrap(), &expected, &sizes, &what);
            let map = RowMap { weights: &[1.0, 1e-100], factor: factor.as_ref() };
            let wide: Vec<f64> = norms
                .iter()
                .enumerate()
                .flat_map(|(at, x)| [norm * x.sqrt() * map.weights[usize::from(at >= 20)]; 3])
                .collect();
            let expected = Engine::cpu().whiten_rows(&rows, &map).unwrap();
            assert_close(&gpu.whiten_rows(&rows, &map).unwrap(), &expected, &wide, &what);
            for map in [None, Some(&map)] {
                let (found, expected) =
                    (gpu.part_grams(&rows, map).unwrap(), Engine::cpu().part_grams(&rows, map).unwrap());
                for (found, expected) in found.iter().zip(&expected) {
                    let trace: f64 = (0..expected.nrows()).map(|i| expected[(i, i)]).sum();
                    let flat = |gram: &Mat<f64>| -> Vec<f64> {
                        gram.col_iter()
                            .flat_map(|column| column.iter().copied().collect::<Vec<_>>())
                            .collect()
                    };
                    assert_close(&flat(found), &flat(expected), &vec![trace; expected.nrows().pow(2)], &what);
                }
            }
        }
    }
}

/// Duals, weights and changes of any size. In a search over sets of any size, they reach 1e±280.
#[test]
fn swaps_hold_numbers_of_any_size() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let features = features(1.0, 1.0);
    let groups = groups();
    let rows = Rows::scaled(&features, groups.iter().map(|items| Items::Listed(items)).collect());
    for size in [1.0, 1e60, 1e-60, 1e135, 1e-135] {
        let entries = normals(DIMS * 2, 8);
        // Two slots of any size, and one for additions.
        let duals = |l: usize| {
            Mat::from_fn(DIMS, 3, |i, slot| {
                let size = if l == 0 { size } else { 1.0 };
                if slot == 2 { 0.0 } else { size * entries[2 * i + slot] }
            })
        };
        let duals = [duals(0), duals(1)];
        let duals: Vec<MatRef<'_, f64>> = duals.iter().map(Mat::as_ref).collect();
        let weights: Vec<Vec<f64>> = duals
            .iter()
            .map(|duals| {
                (0..3)
                    .map(|slot| if slot == 2 { size * size } else { duals.col(slot).squared_norm_l2() })
                    .collect()
            })
            .collect();
        let [leaving, entering] = [0.3 * size, 0.2 / size].map(|size| vec![size; DIMS]);
        let factors =
            [[0.1, 0.02 * size * size], [0.1 / size, 0.02 * size]].map(|each| vec![each, each, [0.0; 2]]);
        let update = SwapUpdate {
            group: 0,
            leaving_position: 3,
            entering_position: 1,
            leaving: &leaving,
            entering: &entering,
            factors: &factors,
            residual_gain: 0.1 / size / size,
            residual_loss: 0.001 * size * size,
        };
        let residuals: Vec<f64> = normals(ITEMS, 5).iter().map(|x| x.abs()).collect();
        let run = |engine: &Engine, update| {
            let mut table = engine.swap_table(&rows, &duals, &residuals).unwrap();
            let mut found = table.gains(None, &weights).unwrap();
            found.extend(table.gains(update, &weights).unwrap());
            (found, table.read().unwrap())
        };
        let ((found, numbers), (expected, on_cpu)) =
            (run(&gpu.engine(), Some(&update)), run(&Engine::cpu(), Some(&update)));
        for (found, expected) in found.iter().zip(&expected) {
            let (found, expected) = (found[0].ratio, expected[0].ratio);
            assert!(
                relative_eq!(found, expected, epsilon = 0.0, max_relative = 1e-4),
                "{size:e}: {found:e} {expected:e}"
            );
        }
        for (found, expected) in numbers.iter().zip(&on_cpu) {
            for slot in 0..3 {
                let scale = (0..20).map(|at| expected.coefficients[(slot, at)].abs()).fold(0.0, f64::max);
                for at in 0..20 {
                    let (found, expected) =
                        (found.coefficients[(slot, at)], expected.coefficients[(slot, at)]);
                    assert!(
                        abs_diff_eq!(found, expected, epsilon = 1e-4 * scale),
                        "{size:e}: {found:e} {expected:e}"
                    );
                }
            }
        }
    }
}

/// Rows of one group that single precision cannot hold together.
#[test]
fn rows_beyond_single_precision_are_refused() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    for (apart, refused) in [(1e10, false), (1e-10, false), (1e18, false), (1e30, true), (1e-30, true)] {
        let features = features(1.0, apart);
        let rows = Rows::scaled(&features, vec![Items::All(ITEMS)]);
        match gpu.row_norms(&rows) {
            Ok(found) if !refused => {
                let expected = Engine::cpu().row_norms(&rows).unwrap();
                assert_close(&found, &expected, &expected, &format!("{apart:e}"));
            }
            outcome if refused => {
                assert_error!(outcome, Error::Device(DeviceProblem::SinglePrecision { .. }), ["e-31", "f64"]);
            }
            other => panic!("{apart:e}: {other:?}"),
        }
    }
    // Values that are infinite in single precision never get there.
    let features = features(1.0, 1.0);
    let rows = Rows::scaled(&features, vec![Items::All(ITEMS)]);
    let outcome = gpu.gain_table(&rows, &vec![1e280; ITEMS]);
    assert_error!(outcome, Error::Device(DeviceProblem::SinglePrecision { .. }), ["single precision"]);
}

/// Probabilities that are equal if they agree within the stated error of single precision.
#[derive(Debug)]
struct Near(Vec<f64>);

impl PartialEq for Near {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| abs_diff_eq!(one, other, epsilon = 1e-5))
    }
}

/// Asserts that an algorithm in single precision finds the same or refuses.
#[track_caller]
fn same_or_refused<T: PartialEq + std::fmt::Debug>(
    gpu: &Gpu,
    what: &str,
    run: impl Fn(&Engine) -> Result<T, Error>,
) -> bool {
    let expected = run(&Engine::cpu());
    match (run(&gpu.engine()), expected) {
        (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{what}"),
        (Err(error), _) if is_refusal(&error) => return false,
        (Err(found), Err(expected)) => assert_eq!(found.to_string(), expected.to_string(), "{what}"),
        (found, expected) => panic!("{what}: {found:?} on the device, {expected:?} on the CPU"),
    }
    true
}

#[test]
fn algorithms_are_right_or_refuse() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let partition = partition();
    let mut answered = [0; 6];
    for (size, apart) in SCALES {
        let features = features(size, apart);
        let what = format!("rows of {size:e} and {apart:e} times that");
        let quota = Quota::new(&partition, [2, 2]).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let range = Quota::new(&partition, &[1..=3, 1..=3]).unwrap();
        let ranges = PartitionDpp::new(&features, &partition, &range).unwrap();
        let size = KDpp::new(&features, 4).unwrap();
        let done = [
            same_or_refused(&gpu, &what, |engine| Ok(Greedy::default().solve(&dpp, engine)?.subset)),
            same_or_refused(&gpu, &what, |engine| Ok(LocalSearch::default().solve(&dpp, engine)?.subset)),
            same_or_refused(&gpu, &what, |engine| Ok(Greedy::default().solve(&size, engine)?.subset)),
            same_or_refused(&gpu, &what, |engine| Ok(LocalSearch::default().solve(&size, engine)?.subset)),
            same_or_refused(&gpu, &what, |engine| Ok(LocalSearch::default().solve(&ranges, engine)?.subset)),
            same_or_refused(&gpu, &what, |engine| {
                Ok(Near(dpp.conditionals(Method::PerCandidate, engine)?.probabilities()?))
            }),
        ];
        println!("{what}: {done:?}");
        answered.iter_mut().zip(done).for_each(|(count, done)| *count += usize::from(done));
    }
    // Parts have their own scales, so quotas are always answered.
    assert_eq!([answered[0], answered[1], answered[5]], [SCALES.len(); 3]);
}

/// More items than any list of rivals that single precision cannot distinguish from the best, which comes last.
#[test]
fn the_best_of_many_that_look_alike_is_found() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let items = 9000;
    let row = |i: usize| [1.0 + 1e-11 * i as f64, if i == items - 1 { 1e-8 } else { 0.0 }];
    let features = Features::from_rows(items, 2, (0..items).flat_map(row).collect::<Vec<_>>()).unwrap();
    let one = KDpp::new(&features, 1).unwrap();
    for engine in [Engine::cpu(), gpu.engine()] {
        assert_eq!(Greedy::default().solve(&one, &engine).unwrap().subset.as_slice(), [items - 1]);
        assert_eq!(LocalSearch::default().solve(&one, &engine).unwrap().subset.as_slice(), [items - 1]);
    }
    // All items of a third group look alike as swaps, too.
    let rows = Rows::scaled(&features, vec![Items::All(items)]);
    let mut table = gpu
        .swap_table(
            &rows,
            &[Mat::from_fn(2, 1, |i, _| if i == 0 { 1.0 } else { 0.0 }).as_ref()],
            &vec![0.0; items],
        )
        .unwrap();
    let found = table.gains(None, &[vec![1.0]]).unwrap();
    assert_eq!(found[0].len(), items, "all are rivals");
}
