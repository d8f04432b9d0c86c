//! Acceptance and laws on real data: the guarantee, the expectation and the observation.

use std::{collections::BTreeMap, path::Path};

use approx::abs_diff_eq;
use nalgebra::{DMatrix, DVector};
use oracles::{faces::read_group, random::clustered, real_data, stats, table::Table};
use partition_dpp::{
    Engine, Features, Method, Partition, PartitionDpp, Quota, SamplerOptions, Samples, Subset,
    sample::{Bound, DEFAULT_PROPOSAL_BUDGET, expected_proposals},
};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The number of acceptance checks in this file.
const CHECKS: usize = 20;

/// The probability that a proposal is accepted, given the tilt.
type Expected<'a> = &'a dyn Fn(&[f64]) -> f64;

/// Draws, checks that every subset meets the quota, and prints the acceptance. `expected` is exact, if available.
fn check_acceptance(
    name: &str,
    features: &Features,
    partition: &Partition,
    quota: &Quota,
    draws: u64,
    expected: Option<Expected<'_>>,
) -> Samples {
    let dpp = PartitionDpp::new(features, partition, quota).unwrap();
    // The expected acceptances are for tilted proposals.
    let options = SamplerOptions::default().with_bound(Bound::Tilted);
    let sampler = dpp.sampler(options, &Engine::cpu()).unwrap();
    let samples = sampler.sample_many(draws, 2016);
    assert_eq!(samples.subsets().len() as u64, draws);
    for subset in samples.subsets() {
        assert_eq!(subset.part_counts(partition), quota.low(), "{name}");
    }
    let (guaranteed, observed) = (sampler.acceptance_bound(), samples.acceptance_observed());
    let expected = expected.map(|expected| expected(sampler.tilt().unwrap()));
    let shown = expected.map_or_else(|| "not enumerated".to_owned(), |expected| format!("{expected:.5}"));
    println!("{name:32} guaranteed {guaranteed:.3e}, expected {shown}, observed {observed:.5}");

    // Since drawing continues until `draws` are accepted, the standard error of draws per proposal is about
    // p·√((1−p)/draws).
    let center = expected.unwrap_or(observed);
    let margin = stats::critical_z(CHECKS) * center * ((1.0 - center) / draws as f64).sqrt();
    assert!(observed + margin >= guaranteed, "{name}: {observed} is below the guarantee {guaranteed}");
    if let Some(expected) = expected {
        assert!(expected >= guaranteed, "{name}: {expected} is below the guarantee {guaranteed}");
        assert!((observed - expected).abs() <= margin, "{name}: {observed}, expected {expected} ± {margin}");
    }
    samples
}

/// One group of Yale faces: 24 items, eight in each of three lighting conditions.
struct Faces {
    features: Features,
    partition: Partition,
    quota: Quota,
    /// Every set of six items with its determinant.
    sets: Vec<(Vec<usize>, f64)>,
}

impl Faces {
    fn read(folder: &Path, group: &str) -> Self {
        let (rows, labels) = read_group(folder, group);
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = Quota::each(&partition, 2).unwrap();
        let sets = sets_of_six(&rows);
        Self {
            features: Features::from_rows(24, rows[0].len(), rows.concat()).unwrap(),
            partition,
            quota,
            sets,
        }
    }

    fn counts(&self, set: &[usize]) -> Vec<usize> {
        let mut counts = vec![0; 3];
        set.iter().for_each(|&item| counts[self.partition.part_of(item)] += 1);
        counts
    }

    /// Returns the sets that meet the quota.
    fn allowed(&self) -> impl Iterator<Item = &(Vec<usize>, f64)> {
        self.sets.iter().filter(|(set, _)| self.counts(set) == self.quota.low())
    }

    /// Returns the probability that the k-DPP with part weights meets the quota.
    fn acceptance(&self, tilt: &[f64]) -> f64 {
        let mut by_counts: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        for (set, det) in &self.sets {
            *by_counts.entry(self.counts(set)).or_default() += det;
        }
        let weight = |counts: &[usize]| -> f64 {
            counts.iter().zip(tilt).map(|(&count, y)| y.powi(i32::try_from(count).unwrap())).product()
        };
        let all: f64 = by_counts.iter().map(|(counts, z)| z * weight(counts)).sum();
        by_counts[self.quota.low()] * weight(self.quota.low()) / all
    }
}

/// Returns all C(24, 6) sets, with determinants of minors of A Aᵀ by Cholesky decomposition.
fn sets_of_six(rows: &[Vec<f64>]) -> Vec<(Vec<usize>, f64)> {
    let a = DMatrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j]);
    let kernel = &a * a.transpose();
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..6 {
        sets = sets
            .into_iter()
            .flat_map(|set| {
                let start = set.last().map_or(0, |last| last + 1);
                (start..rows.len()).map(move |item| [&set[..], &[item]].concat())
            })
            .collect();
    }
    assert_eq!(sets.len(), 134_596);
    let det = |set: &[usize]| {
        let minor = DMatrix::from_fn(6, 6, |i, j| kernel[(set[i], set[j])]);
        minor.cholesky().unwrap().l().diagonal().iter().map(|x| x * x).product()
    };
    sets.into_iter().map(|set| (det(&set), set)).map(|(det, set)| (set, det)).collect()
}

#[test]
fn two_faces_under_each_light() {
    let Some(folder) = real_data("yaleb") else { return };
    let golden = Table::read(&folder.join("golden_bruteforce.csv"));
    for group in ["0", "1", "2", "3"] {
        let faces = Faces::read(&folder, group);
        let log_z = faces.allowed().map(|(_, det)| det).sum::<f64>().ln();
        let row = golden.column("set").iter().zip(golden.column("group")).position(|id| id == (&"A", group));
        let expected: f64 = golden.column("log_Z_222")[row.unwrap()].parse().unwrap();
        assert!(
            abs_diff_eq!(log_z, expected, epsilon = 1e-9),
            "group {group}: log Z {log_z}, on file {expected}"
        );
        let Faces { features, partition, quota, .. } = &faces;
        let name = format!("Yale faces, set A, group {group}");
        check_acceptance(&name, features, partition, quota, 20_000, Some(&|tilt| faces.acceptance(tilt)));
    }
}

#[test]
fn faces_are_drawn_as_often_as_they_should() {
    let Some(folder) = real_data("yaleb") else { return };
    let faces = Faces::read(&folder, "0");
    let z: f64 = faces.allowed().map(|(_, det)| det).sum();
    // Pr(i ∈ S) and Pr(i, j ∈ S) by enumeration.
    let mut pairs = DMatrix::<f64>::zeros(24, 24);
    for (set, det) in faces.allowed() {
        for &i in set {
            set.iter().for_each(|&j| pairs[(i, j)] += det / z);
        }
    }
    let marginals = pairs.diagonal();
    let covariance = &pairs - &marginals * marginals.transpose();

    let dpp = PartitionDpp::new(&faces.features, &faces.partition, &faces.quota).unwrap();
    let samples = dpp.sampler(Method::Auto, &Engine::cpu()).unwrap().sample_many(100_000, 7);
    let mut counts = DVector::<f64>::zeros(24);
    samples.subsets().iter().flat_map(Subset::iter).for_each(|item| counts[item] += 1.0);
    // The counts of each part sum to a constant: 21 degrees of freedom.
    let inverse = covariance.pseudo_inverse(1e-9).unwrap();
    let p_value = |counts: &DVector<f64>| {
        let gap = counts - &marginals * 1e5;
        let statistic = (gap.transpose() * &inverse * &gap)[0] / 1e5;
        1.0 - ChiSquared::new(21.0).unwrap().cdf(statistic)
    };
    println!("Yale faces, item marginals: p = {:.4}", p_value(&counts));
    assert!(p_value(&counts) > stats::ALPHA);
    // Negative control: two items of one part swapped.
    let part = faces.partition.members(0);
    counts.swap_rows(part[0] as usize, part[1] as usize);
    assert!(p_value(&counts) < 1e-6, "the check must see a swap: {}", p_value(&counts));
}

#[test]
fn sets_of_faces_are_drawn_as_often_as_they_should() {
    let Some(folder) = real_data("yaleb") else { return };
    let faces = Faces::read(&folder, "1");
    let z: f64 = faces.allowed().map(|(_, det)| det).sum();
    let law = faces.allowed().map(|(set, det)| (set.clone(), det / z)).collect();
    let dpp = PartitionDpp::new(&faces.features, &faces.partition, &faces.quota).unwrap();
    let samples = dpp.sampler(Method::Auto, &Engine::cpu()).unwrap().sample_many(200_000, 8);
    let p = stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), &law);
    println!("Yale faces, {} sets: p = {p:.4}", law.len());
    assert!(p > stats::ALPHA);
}

/// Draws one item from each part of a file's column.
fn one_of_each(name: &str, folder: &str, column: &str, draws: u64) {
    let Some(folder) = real_data(folder) else { return };
    let features = Features::open_npy(folder.join("features.npy")).unwrap();
    let table = Table::read(&folder.join("labels.csv"));
    let partition = Partition::from_labels(&table.column(column)).unwrap();
    let mut quota = Quota::each(&partition, 1).unwrap();
    if expected_proposals(quota.low()) > DEFAULT_PROPOSAL_BUDGET {
        let mut parts: Vec<usize> = (0..partition.parts()).collect();
        parts.sort_by_key(|&part| std::cmp::Reverse(partition.size(part)));
        let largest = parts[..8].iter().map(|&part| (&partition.names()[part], 1));
        quota = Quota::named(&partition, largest).unwrap();
    }
    let name = format!("{name} ({} of {})", quota.total().unwrap(), features.items());
    check_acceptance(&name, &features, &partition, &quota, draws, None);
}

#[test]
fn one_digit_of_each_class() {
    one_of_each("digits, one per class", "sk_digits", "class", 2000);
}

#[test]
fn one_statement_of_each_candidate() {
    one_of_each("debates, one per candidate", "debates2012", "candidate", 1000);
}

#[test]
fn one_film_of_each_genre() {
    one_of_each("films, one per genre", "movielens_small", "first_genre", 50);
}

#[test]
fn clustered_parts_meet_the_guarantee() {
    for seed in 1..=4 {
        let (values, labels) = clustered(1000, 24, 3, 5, 0.06, seed);
        let features = Features::from_rows(1000, 24, values).unwrap();
        let partition = Partition::from_labels(&labels).unwrap();
        for quota in [[2, 2, 2], [1, 4, 2]] {
            let name = format!("clusters {seed}, {quota:?}");
            let quota = Quota::new(&partition, quota).unwrap();
            check_acceptance(&name, &features, &partition, &quota, 5000, None);
        }
    }
}
