//! Gains that are updated as needed against gains that are all updated: the same sets and gains to the last bit.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::*;
use crate::{Dpp, Features, KDpp, Partition, PartitionDpp, Quota, Watch, map::Termination};

fn normals(count: usize, seed: u64) -> Vec<f64> {
    StandardNormal.sample_iter(ChaCha8Rng::seed_from_u64(seed)).take(count).collect()
}

fn same(model: &impl Objective, what: &str) -> Solution {
    let (candidates, engine, clock) = (model.candidates(), Engine::host(), Watch::default().start());
    let rows = candidates.rows();
    let lazy = solve(&candidates, engine, &rows, LazyGains::new(engine, &rows), &clock).unwrap();
    let plain = solve(&candidates, engine, &rows, PlainGains::new(engine, &rows), &clock).unwrap();
    assert_eq!(lazy, plain, "{what}");
    let bits = |found: &Solution| found.stats.gains.iter().map(|gain| gain.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&lazy), bits(&plain), "{what}");
    lazy
}

fn ten_parts(features: &Features, what: &str) -> Solution {
    let labels: Vec<usize> = (0..features.items()).map(|item| (item + item / 10) % 10).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, [2, 1, 0, 1, 3, 1, 1, 1, 1, 1]).unwrap();
    same(&PartitionDpp::new(features, &partition, &quota).unwrap(), what)
}

#[test]
fn gains_agree_at_every_edge() {
    // Blocks have 16 items, tasks 2048, chunks 8 values; rows of a matrix are All or listed.
    for (items, dims) in
        [(15, 12), (16, 15), (17, 16), (33, 17), (2047, 12), (2048, 64), (2049, 13), (4097, 65)]
    {
        let values = normals(items * dims, items as u64);
        #[expect(clippy::cast_possible_truncation, reason = "the same rows in f32")]
        let narrow: Vec<f32> = values.iter().map(|&x| x as f32).collect();
        let (wide, narrow) =
            (Features::from_rows(items, dims, values), Features::from_rows(items, dims, narrow));
        for features in [wide.unwrap(), narrow.unwrap()] {
            for k in [1, 2, dims / 2, dims.min(items)] {
                let (k_dpp, what) = (KDpp::new(&features, k).unwrap(), format!("{items}×{dims}, k = {k}"));
                assert_eq!(same(&k_dpp, &what).subset.len(), k);
                if let Ok(conditioned) = k_dpp.excluding(&[0, items - 1]) {
                    same(&conditioned, &format!("{what}, conditioned"));
                }
            }
            same(&Dpp::new(&features).unwrap(), &format!("{items}×{dims}"));
            if items > 33 {
                ten_parts(&features, &format!("{items}×{dims}, parts"));
            }
        }
    }
}

#[test]
fn gains_agree_on_awkward_rows() {
    let (items, dims) = (3000, 20);
    let change = |change: &dyn Fn(usize, &mut [f64])| {
        let mut values = normals(items * dims, 77);
        values.chunks_mut(dims).enumerate().for_each(|(item, row)| change(item, row));
        Features::from_rows(items, dims, values).unwrap()
    };
    let scale = |row: &mut [f64], factor: f64| row.iter_mut().for_each(|x| *x *= factor);
    let power = |exponent: i32| 10.0_f64.powi(exponent);
    let first = normals(dims, 77);
    let size = |item: usize| power(i32::try_from(item * 37 % 120).unwrap() - 60);
    for (what, features) in [
        ("zero rows", change(&|item, row| scale(row, if item % 3 == 0 { 0.0 } else { 1.0 }))),
        (
            "copies",
            change(&|item, row| {
                if item % 2 == 0 {
                    row.copy_from_slice(&first);
                }
            }),
        ),
        (
            "parallel rows",
            change(&|item, row| row[1..].iter_mut().for_each(|x| *x *= f64::from(item % 11 == 0))),
        ),
        ("badly scaled rows", change(&|item, row| scale(row, size(item)))),
        (
            "badly scaled parts",
            change(&|item, row| scale(row, [1e150, 1e-150, 1.0][(item + item / 10) % 10 % 3])),
        ),
        ("badly scaled columns", change(&|_, row| (0..).zip(row).for_each(|(j, x)| *x *= power(-j)))),
        ("nearly parallel", change(&|_, row| (1..dims).for_each(|j| row[j] = row[0] + 1e-7 * row[j]))),
    ] {
        let found = ten_parts(&features, what);
        assert_eq!((found.subset.len(), found.termination), (12, Termination::QuotaMet), "{what}");
        assert!(found.log_det.is_finite(), "{what}");
        for k in [5, dims - 1] {
            if let Ok(k_dpp) = KDpp::new(&features, k) {
                assert_eq!(same(&k_dpp, what).subset.len(), k, "{what}");
            }
        }
    }
}
