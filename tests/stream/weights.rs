//! Scores, unit rows, and rows of every type, with batches that see only their own rows.

use oracles::{
    assert_error,
    oracle::{self, Determinants, Law},
    random::normals,
    stats,
};
use partition_dpp::{
    Engine, Error, Features, Partition, Result,
    error::WeightProblem,
    stream::{Batch, Batches, Draw, Grams, Plan, StreamSampler},
};

use crate::world::named;

const ITEMS: usize = 9;
const DIMS: usize = 3;
const LABELS: [usize; ITEMS] = [0, 1, 0, 1, 0, 1, 0, 1, 0];
const DRAWS: usize = 20_000;

fn rows() -> Vec<Vec<f64>> {
    // The values are exact in f16.
    let rounded = |x: &f64| (x * 16.0).round() / 16.0;
    normals(ITEMS * DIMS, 21).chunks(DIMS).map(|row| row.iter().map(rounded).collect()).collect()
}

/// Makes batches of three items, with features from `make`.
fn batches(make: impl Fn(usize, &[f64]) -> Result<Features>) -> Batches {
    let batch = |number: usize| {
        let features = make(number, &rows()[3 * number..3 * number + 3].concat()).unwrap();
        let partition = Partition::from_labels(&LABELS[3 * number..3 * number + 3]).unwrap();
        Batch::new(number as u64, &features, &partition).unwrap()
    };
    let mut batches: Vec<Batch> = (0..3).map(batch).collect();
    batches.insert(1, Batch::empty(7));
    Batches::new(batches, &Engine::cpu())
}

fn sets(draws: &[Draw]) -> Vec<Vec<usize>> {
    let item = |batch: u64, row: u32| 3 * batch as usize + row as usize;
    let set = |draw: &Draw| {
        let mut set: Vec<usize> = draw.items.iter().map(|place| item(place.batch, place.row)).collect();
        set.sort_unstable();
        set
    };
    draws.iter().map(set).collect()
}

fn p_value(batches: &Batches, plan: &Plan, law: &Law) -> f64 {
    let mut source = batches.trials(plan).unwrap();
    let draws = StreamSampler::new(plan, 4).unwrap().draw_many(DRAWS, &mut source).unwrap();
    stats::chi_square_p(sets(&draws).iter().map(|set| &set[..]), law)
}

/// Returns the plans of several laws, and the laws for items with these rows.
fn laws(batches: &Batches, rows: &[Vec<f64>]) -> Vec<(&'static str, Plan, Law)> {
    let oracle = Determinants::of_features(rows.to_vec());
    let within = |set: &[usize]| {
        let counts = oracle::counts(set, &LABELS, 2);
        counts[0] <= 1 && (1..=2).contains(&counts[1])
    };
    let counts = |grams: &Grams| Plan::partition_dpp(grams, &grams.quota(named(&[1, 2]))?, &Engine::cpu());
    let ranges = |grams: &Grams| {
        Plan::partition_dpp(grams, &grams.quota([("0", 0..=1), ("1", 1..=2)])?, &Engine::cpu())
    };
    vec![
        ("counts", batches.plan(counts).unwrap(), oracle.partition_dpp(&LABELS, &[1, 2]).0),
        ("ranges", batches.plan(ranges).unwrap(), oracle.law(|_| 1.0, within).0),
        ("k-DPP", batches.plan(|grams| Plan::k_dpp(grams, 2, &Engine::cpu())).unwrap(), oracle.k_dpp(2)),
        ("DPP", batches.plan(|grams| Plan::dpp(grams, &Engine::cpu())).unwrap(), oracle.dpp()),
    ]
}

fn check(what: &str, batches: &Batches, rows: &[Vec<f64>]) {
    for (name, plan, law) in laws(batches, rows) {
        let p = p_value(batches, &plan, &law);
        println!("{what}, {name}: p = {p:.3}, law error {:.1e}", plan.law_error());
        assert!(p > stats::ALPHA / 100.0, "{what}, {name}: p = {p:e}");
    }
}

#[test]
fn rows_of_every_type() {
    check("f64", &batches(|_, values| Features::from_rows(3, DIMS, values.to_vec())), &rows());
    let single = |values: &[f64]| values.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    check("f32", &batches(|_, values| Features::from_rows(3, DIMS, single(values))), &rows());
    #[cfg(feature = "npy")]
    {
        let half = |values: &[f64]| values.iter().map(|&x| half::f16::from_f64(x)).collect::<Vec<_>>();
        check("f16", &batches(|_, values| Features::from_rows(3, DIMS, half(values))), &rows());
    }
}

#[test]
fn unit_rows_and_scores() {
    let unit: Vec<Vec<f64>> = rows()
        .iter()
        .map(|row| {
            let length = oracle::dot(row, row).sqrt();
            row.iter().map(|x| x / length).collect()
        })
        .collect();
    let of_unit_rows =
        |_: usize, values: &[f64]| Features::from_rows(3, DIMS, values.to_vec())?.with_unit_rows();
    check("cosine", &batches(of_unit_rows), &unit);
    let scores = [0.3, -1.0, 2.0, 0.0, 1.1, -0.4, 0.7, 1.9, -2.0];
    let of_scores = |number: usize, values: &[f64]| {
        Features::from_rows(3, DIMS, values.to_vec())?
            .with_unit_rows()?
            .with_scores(&scores[3 * number..3 * number + 3], 0.5)
    };
    let scored: Vec<Vec<f64>> = unit
        .iter()
        .zip(scores)
        .map(|(row, score)| row.iter().map(|x| x * f64::exp(0.5 * score)).collect())
        .collect();
    check("scores", &batches(of_scores), &scored);
}

/// ln q of ±1000 and more: under exact counts, a factor of a part changes nothing, and far too light rows are never
/// chosen.
#[test]
fn weights_beyond_f64() {
    let offset = [1000.0, -1000.0];
    let by_part = |number: usize, values: &[f64]| {
        let logs: Vec<f64> = (0..3).map(|row| offset[LABELS[3 * number + row]]).collect();
        Features::from_rows(3, DIMS, values.to_vec())?.with_log_quality(&logs)
    };
    let own = batches(by_part);
    let counts = |grams: &Grams| Plan::partition_dpp(grams, &grams.quota(named(&[1, 2]))?, &Engine::cpu());
    let (law, _) = Determinants::of_features(rows()).partition_dpp(&LABELS, &[1, 2]);
    let p = p_value(&own, &own.plan(counts).unwrap(), &law);
    assert!(p > stats::ALPHA, "{p:e}");
    // Under ranges, the heavy part has as many items as allowed, and the light part as few as allowed.
    let ranges = |grams: &Grams| {
        Plan::partition_dpp(grams, &grams.quota([("0", 0..=2), ("1", 1..=3)])?, &Engine::cpu())
    };
    let (law, _) = Determinants::of_features(rows()).partition_dpp(&LABELS, &[2, 1]);
    let p = p_value(&own, &own.plan(ranges).unwrap(), &law);
    assert!(p > stats::ALPHA, "{p:e}");

    // Batches 2000 apart merge; items of the light one are not chosen unless they are needed.
    let by_batch = |number: usize, values: &[f64]| {
        Features::from_rows(3, DIMS, values.to_vec())?.with_log_quality(&[[900.0, 901.0, -1000.0][number]; 3])
    };
    let apart = batches(by_batch);
    let weight = |set: &[usize]| {
        let middle = set.iter().filter(|&&item| item >= 3).count();
        if set.iter().any(|&item| item >= 6) { 0.0 } else { f64::exp(2.0 * middle as f64) }
    };
    let met = |set: &[usize]| oracle::counts(set, &LABELS, 2) == [1, 2];
    let (law, _) = Determinants::of_features(rows()).law(weight, met);
    let p = p_value(&apart, &apart.plan(counts).unwrap(), &law);
    assert!(p > stats::ALPHA, "{p:e}");
    let needed = |grams: &Grams| Plan::partition_dpp(grams, &grams.quota(named(&[0, 3]))?, &Engine::cpu());
    let (needs, _) = Determinants::of_features(rows()).partition_dpp(&LABELS, &[0, 3]);
    assert!(needs.len() > 1);
    let lone = |number: usize, values: &[f64]| {
        let log = if number == 1 { 1000.0 } else { -1000.0 };
        Features::from_rows(3, DIMS, values.to_vec())?.with_log_quality(&[log; 3])
    };
    assert_error!(batches(lone).plan(needed), Error::Weights(WeightProblem::Spread), ["decades"]);
}

/// Only exponents whose products with ln 2 are exact are accepted.
#[test]
fn weights_beyond_exact_powers() {
    let of = |log: f64| {
        let features = |number: usize, values: &[f64]| {
            let logs: Vec<f64> = (0..3).map(|row| log + [0.3, -0.4, 0.1][(number + row) % 3]).collect();
            Features::from_rows(3, DIMS, values.to_vec())?.with_log_quality(&logs)
        };
        batches(features)
    };
    let totals = |log: f64| {
        let batches = of(log);
        let plan = batches.plan(|grams| Plan::k_dpp(grams, 2, &Engine::cpu())).unwrap();
        batches
            .batches()
            .iter()
            .map(|batch| plan.total_leverage(batch, &Engine::cpu()).unwrap())
            .collect::<Vec<_>>()
    };
    let near = totals(0.0);
    for log in [7e5, -7e5] {
        for (found, expected) in totals(log).iter().zip(&near) {
            assert!((found - expected).abs() < 1e-9, "{log:e}: {found} {expected}");
        }
    }
    for log in [8e5, -8e5, 1e9] {
        assert_error!(of(log).grams(), Error::Weights(WeightProblem::Spread), ["decades"]);
    }
}
