//! Laws that exact probabilities obey for all data. Proptest makes the data, so failures shrink.

use std::f64::consts::LN_2;

use approx::abs_diff_eq;
use nalgebra::DMatrix;
use oracles::{
    models::{Model, config, models, permutations},
    random::normals,
    with_threads,
};
use partition_dpp::{Dpp, Engine, Inference, KDpp, PartitionDpp, Quota, Result, Subset};
use proptest::{prelude::*, test_runner::TestCaseResult};

const TOLERANCE: f64 = 1e-9;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    /// Sets that meet the quota.
    Quota,
    /// Sets of as many items.
    Size,
    /// All sets.
    Any,
}

const LAWS: [Law; 3] = [Law::Quota, Law::Size, Law::Any];

/// ln Z and Pr(i ∈ S) for every item.
#[derive(Clone, Debug)]
struct Found {
    log_z: f64,
    marginals: Vec<f64>,
}

impl Found {
    fn of(inference: &Inference) -> Self {
        let marginals = inference.inclusion_probabilities().unwrap().value;
        Self { log_z: inference.log_partition_function().value, marginals }
    }

    fn bits(&self) -> Vec<u64> {
        self.marginals.iter().chain([&self.log_z]).map(|x| x.to_bits()).collect()
    }

    /// How far off the other is: logarithms relatively, past 1, and probabilities absolutely.
    fn gap(&self, log_z: f64, marginals: &[f64]) -> f64 {
        assert_eq!(self.marginals.len(), marginals.len());
        let gaps = self.marginals.iter().zip(marginals).map(|(p, q)| (p - q).abs());
        let gap = gaps.fold((self.log_z - log_z).abs() / log_z.abs().max(1.0), f64::max);
        assert!(gap.is_finite());
        gap
    }

    fn agrees(&self, log_z: f64, marginals: &[f64]) -> TestCaseResult {
        let gap = self.gap(log_z, marginals);
        prop_assert!(gap <= TOLERANCE, "off by {gap:e}: {self:?}, expected {log_z}, {marginals:?}");
        Ok(())
    }
}

/// What `body` finds out about a law of the model, given items that are in and items that are out.
fn infer<T>(
    model: &Model,
    law: Law,
    (included, excluded): (&[usize], &[usize]),
    body: impl FnOnce(&Inference) -> T,
) -> Result<T> {
    let (features, partition) = (model.features(), model.partition());
    let quota = Quota::new(&partition, &model.quota)?;
    let inference = match law {
        Law::Quota => PartitionDpp::new(&features, &partition, &quota)?
            .including(included)?
            .excluding(excluded)?
            .inference(&Engine::cpu())?,
        Law::Size => KDpp::new(&features, model.k())?
            .including(included)?
            .excluding(excluded)?
            .inference(&Engine::cpu())?,
        Law::Any => {
            Dpp::new(&features)?.including(included)?.excluding(excluded)?.inference(&Engine::cpu())?
        }
    };
    Ok(body(&inference))
}

fn answers(model: &Model, law: Law) -> Found {
    infer(model, law, (&[], &[]), Found::of).unwrap()
}

/// E|S| of the DPP: Σ λ/(1 + λ).
fn expected_size(model: &Model) -> f64 {
    let rows = DMatrix::from_row_slice(model.items(), model.dims, &model.values);
    (rows.transpose() * &rows).symmetric_eigenvalues().iter().map(|x| x / (1.0 + x)).sum()
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn permuting_items_permutes_their_probabilities((model, order) in permutations()) {
        for law in LAWS {
            let (before, after) = (answers(&model, law), answers(&model.permuted(&order), law));
            let expected: Vec<f64> = order.iter().map(|&i| before.marginals[i]).collect();
            after.agrees(before.log_z, &expected)?;
        }
    }

    #[test]
    fn scaling_all_features_scales_the_normaliser_alone(model in models(), up: bool) {
        let power = if up { 40 } else { -40 };
        let scaled = model.scaled(|_| 2.0_f64.powi(power));
        for law in [Law::Quota, Law::Size] {
            let before = answers(&model, law);
            let shift = 2.0 * model.k() as f64 * f64::from(power) * LN_2;
            let after = answers(&scaled, law);
            after.agrees(before.log_z + shift, &before.marginals)?;
            prop_assert_eq!(after.marginals, before.marginals, "powers of two round nothing");
        }
    }

    #[test]
    fn scaling_one_part_scales_the_normaliser_alone(model in models(), power in -30.0..30.0_f64, part: usize) {
        let part = part % model.quota.len();
        let scaled = model.scaled(|i| if model.labels[i] == part { power.exp2() } else { 1.0 });
        let before = answers(&model, Law::Quota);
        let shift = 2.0 * model.quota[part] as f64 * power * LN_2;
        answers(&scaled, Law::Quota).agrees(before.log_z + shift, &before.marginals)?;
    }

    #[test]
    fn rotating_the_features_changes_nothing(model in models(), seed: u64) {
        for law in LAWS {
            let before = answers(&model, law);
            answers(&model.rotated(seed), law).agrees(before.log_z, &before.marginals)?;
        }
    }

    #[test]
    fn probabilities_sum_to_the_quota(model in models()) {
        let close = |found: f64, expected: f64| abs_diff_eq!(found, expected, epsilon = TOLERANCE);
        let found = answers(&model, Law::Quota);
        prop_assert!(found.marginals.iter().all(|p| (0.0..=1.0).contains(p)), "{found:?}");
        for (part, &count) in model.quota.iter().enumerate() {
            let of_part = found.marginals.iter().zip(&model.labels).filter(|(_, label)| **label == part);
            let sum: f64 = of_part.map(|(p, _)| p).sum();
            prop_assert!(close(sum, count as f64), "part {part}: {sum}, {count}");
        }
        let sum: f64 = answers(&model, Law::Size).marginals.iter().sum();
        prop_assert!(close(sum, model.k() as f64), "{sum}");
        let sum: f64 = answers(&model, Law::Any).marginals.iter().sum();
        prop_assert!(close(sum, expected_size(&model)), "{sum} {}", expected_size(&model));
    }

    #[test]
    fn probabilities_of_sets_sum_to_one(model in models()) {
        let items = model.items();
        prop_assume!(items <= 12);
        for law in LAWS {
            let enumerate = |inference: &Inference| {
                let (mut total, mut marginals) = (0.0, vec![0.0; items]);
                for mask in 0_u32..1 << items {
                    let set: Vec<usize> = (0..items).filter(|i| mask >> i & 1 == 1).collect();
                    let subset = Subset::new(set.clone(), items).unwrap();
                    let p = inference.log_probability(&subset).unwrap().value.exp();
                    total += p;
                    set.iter().for_each(|&i| marginals[i] += p);
                }
                (total, marginals)
            };
            let (total, marginals) = infer(&model, law, (&[], &[]), enumerate).unwrap();
            prop_assert!(abs_diff_eq!(total, 1.0, epsilon = TOLERANCE), "{law:?}: {total}");
            let found = answers(&model, law);
            found.agrees(found.log_z, &marginals)?;
        }
    }

    #[test]
    fn normalisers_given_an_item_tell_its_probability(model in models(), item: usize) {
        let item = item % model.items();
        for law in LAWS {
            let found = answers(&model, law);
            let p = found.marginals[item];
            let log_z = |condition: (&[usize], &[usize])| {
                infer(&model, law, condition, |given| given.log_partition_function().value - found.log_z)
            };
            // Rounding of p counts for more and more in the logarithm of less and less.
            if p > 1e-6 {
                let log = log_z((&[item], &[])).unwrap();
                prop_assert!(abs_diff_eq!(log, p.ln(), epsilon = 1e-8), "{law:?}, including {item}: {log} {}", p.ln());
            }
            if 1.0 - p > 1e-6 {
                let log = log_z((&[], &[item])).unwrap();
                let expected = (-p).ln_1p();
                prop_assert!(abs_diff_eq!(log, expected, epsilon = 1e-8), "{law:?}, excluding {item}: {log} {expected}");
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_bit(model in models()) {
        for law in LAWS {
            let run = || answers(&model, law).bits();
            prop_assert_eq!(with_threads(1, run), with_threads(2, run));
        }
    }
}

#[test]
fn a_planted_fault_is_found() {
    let model =
        Model { dims: 4, values: normals(32, 6), labels: vec![0, 1, 0, 1, 0, 1, 1, 0], quota: vec![1, 2] };
    let mut faulty = model.clone();
    faulty.values[17] += 1e-6;
    for law in LAWS {
        let found = answers(&model, law);
        assert!(found.gap(found.log_z, &found.marginals) <= TOLERANCE);
        // An entry off by 1e-6; two items swapped; a row scaled.
        let entry = answers(&faulty.rotated(1), law);
        assert!(entry.gap(found.log_z, &found.marginals) > 10.0 * TOLERANCE);
        let swapped = answers(&model.permuted(&[0, 1, 2, 3, 4, 7, 6, 5]), law);
        assert!(swapped.gap(found.log_z, &found.marginals) > 10.0 * TOLERANCE);
        let scaled = answers(&model.scaled(|i| if i < 7 { 1.0 } else { 1.0 + 1e-6 }), law);
        assert!(scaled.gap(found.log_z, &found.marginals) > 10.0 * TOLERANCE);
    }
}
