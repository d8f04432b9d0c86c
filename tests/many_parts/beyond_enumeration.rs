//! Problems whose sets cannot be enumerated: an independent sampler, exact expectations, extreme sizes and scales.

use approx::{abs_diff_eq, relative_eq};
use nalgebra::DMatrix;
use oracles::{
    naive::{Fault, Naive},
    oracle::dot,
    random::{clustered, normals},
    stats, with_threads,
};
use partition_dpp::{
    Engine, Features, KDpp, Method, Partition, PartitionDpp, Projection, Quota, SamplerOptions,
    polynomial::ConditionalBernoulli,
};
use rand::{SeedableRng, distr::Distribution, rngs::StdRng};

const DRAWS: u64 = 25_000;

/// Returns χ² of two samples of item counts, as a standard score.
///
/// Counts of different items in one draw are nearly uncorrelated; their variance is π(1−π).
fn homogeneity(first: &[f64], second: &[f64], draws: f64) -> f64 {
    let (mut statistic, mut bins) = (0.0, 0.0);
    for (a, b) in first.iter().zip(second) {
        let share = (a + b) / (2.0 * draws);
        if a + b >= 20.0 {
            statistic += (a - b).powi(2) / (2.0 * draws * share * (1.0 - share));
            bins += 1.0;
        }
    }
    assert!(bins > 100.0, "too few items were seen");
    (statistic - bins) / f64::sqrt(2.0 * bins)
}

fn item_counts<'a>(sets: impl IntoIterator<Item = &'a [usize]>, items: usize) -> Vec<f64> {
    let mut counts = vec![0.0; items];
    sets.into_iter().flatten().for_each(|&item| counts[item] += 1.0);
    counts
}

#[test]
fn marginals_at_3000_items_agree_with_an_independent_sampler() {
    let (items, dims, parts) = (3000, 24, 3);
    let (values, labels) = clustered(items, dims, parts, 5, 0.06, 11);
    let quota = [5; 3];
    let naive = Naive::new(&values, items, &[1.0; 3], &labels, &quota, Fault::None);
    let reference = with_threads(2, || {
        use rayon::prelude::*;
        let chunks = 0..DRAWS / 100;
        let sets = chunks.into_par_iter().flat_map_iter(|chunk| naive.sample_many(100, chunk * 100));
        sets.collect::<Vec<_>>()
    });
    let reference = item_counts(reference.iter().map(|set| &set[..]), items);

    let features = Features::from_rows(items, dims, &values).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, quota).unwrap();
    for way in [Projection::Leverage, Projection::Elementary] {
        let draws = if way == Projection::Leverage { DRAWS } else { DRAWS / 10 };
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let sampler =
            dpp.sampler(SamplerOptions::from(Method::Auto).with_projection(way), &Engine::cpu()).unwrap();
        let samples = sampler.sample_many(draws, 4);
        let ours = item_counts(samples.subsets().iter().map(partition_dpp::Subset::as_slice), items);
        let ours: Vec<f64> = ours.iter().map(|count| count * (DRAWS / draws) as f64).collect();
        if way == Projection::Leverage {
            let z = homogeneity(&ours, &reference, DRAWS as f64);
            assert!(z.abs() < 6.0, "{way:?}: {z}");
            // Negative control: the same counts shifted by one item of the same part.
            let mut shifted = ours.clone();
            shifted.rotate_right(parts);
            assert!(homogeneity(&shifted, &reference, DRAWS as f64) > 30.0);
        }
        // Part by part: the share of each part's heavier half.
        for part in 0..parts {
            let members = partition.members(part);
            let heavy = |counts: &[f64]| -> f64 {
                members.iter().map(|&i| i as usize).filter(|&i| reference[i] > 83.0).map(|i| counts[i]).sum()
            };
            let share = heavy(&ours) / (5.0 * DRAWS as f64);
            let expected = heavy(&reference) / (5.0 * DRAWS as f64);
            let error = (expected * (1.0 - expected) / (5.0 * draws as f64)).sqrt();
            assert!((share - expected).abs() < 6.0 * error, "{way:?}, part {part}: {share} {expected}");
        }
    }
}

/// Returns the inclusion probability of every weight in a set of k, from ln e_k in the log domain, by prefix and
/// suffix
/// tables.
fn reference_inclusion(log_weights: &[f64], k: usize) -> Vec<f64> {
    let add = |a: f64, b: f64| {
        let top = a.max(b);
        if top == f64::NEG_INFINITY { top } else { top + ((a - top).exp() + (b - top).exp()).ln() }
    };
    let table = |weights: &mut dyn Iterator<Item = f64>| -> Vec<Vec<f64>> {
        let mut rows = vec![vec![f64::NEG_INFINITY; k + 1]];
        rows[0][0] = 0.0;
        for weight in weights {
            let last = &rows[rows.len() - 1];
            rows.push(
                (0..=k).map(|c| if c == 0 { 0.0 } else { add(last[c], weight + last[c - 1]) }).collect(),
            );
        }
        rows
    };
    let head = table(&mut log_weights.iter().copied());
    let tail = table(&mut log_weights.iter().rev().copied());
    let r = log_weights.len();
    (0..r)
        .map(|j| {
            let with_j = (0..k).map(|c| head[j][c] + tail[r - 1 - j][k - 1 - c]);
            let with_j = with_j.fold(f64::NEG_INFINITY, add);
            (log_weights[j] + with_j - head[r][k]).exp()
        })
        .collect()
}

/// Sizes at which a linear-domain table overflows.
const SIZES: [(usize, usize, &[usize]); 2] =
    [(400, 400, &[50, 85, 100, 150, 200, 300, 399, 400]), (2000, 200, &[100, 150, 199, 200])];

fn spectrum(items: usize, dims: usize) -> (Vec<f64>, Vec<f64>) {
    let values = normals(items * dims, 7 + items as u64);
    let a = DMatrix::from_row_slice(items, dims, &values);
    let eigenvalues = (a.transpose() * a).symmetric_eigenvalues();
    (values, eigenvalues.as_slice().to_vec())
}

#[test]
fn eigenvectors_are_chosen_without_bias_at_any_size_and_scale() {
    let z = stats::critical_z(3 * SIZES.iter().map(|(_, _, sizes)| sizes.len()).sum::<usize>());
    for (items, dims, sizes) in SIZES {
        let (_, eigenvalues) = spectrum(items, dims);
        for &k in sizes {
            for scale in [1.0, 1e100, 1e-100] {
                let weights: Vec<f64> = eigenvalues.iter().map(|value| value * scale).collect();
                let logs: Vec<f64> = weights.iter().map(|weight| weight.ln()).collect();
                let law = ConditionalBernoulli::new(&weights, k).unwrap();
                let inclusion = reference_inclusion(&logs, k);
                for (found, expected) in law.inclusion_probabilities().iter().zip(&inclusion) {
                    assert!(
                        abs_diff_eq!(found, expected, epsilon = 1e-9),
                        "m = {items}, k = {k}: {found} {expected}"
                    );
                }
                let expectation = dot(&inclusion, &logs);
                let mut rng = StdRng::seed_from_u64(k as u64);
                let sums: Vec<f64> =
                    (0..2000).map(|_| law.sample(&mut rng).iter().map(|&j| logs[j]).sum()).collect();
                if k == weights.len() {
                    let is_certain =
                        |&sum: &f64| relative_eq!(sum, expectation, epsilon = 0.0, max_relative = 1e-9);
                    assert!(sums.iter().all(is_certain));
                    continue;
                }
                let score = stats::z_score(&sums, expectation);
                assert!(score.abs() < z, "m = {items}, k = {k}, scale {scale:e}: {score}");
            }
        }
    }
}

#[test]
fn large_k_dpps_are_unbiased_at_any_scale() {
    for (items, dims, sizes) in SIZES {
        let (values, _) = spectrum(items, dims);
        let svd = DMatrix::from_row_slice(items, dims, &values).svd(true, false);
        let (u, s) = (svd.u.unwrap(), svd.singular_values);
        let logs: Vec<f64> = s.iter().map(|s| 2.0 * s.ln()).collect();
        // A statistic that large eigenvalues increase: Σ_{i∈S} c_i with c_i = Σ_j u_ij² ln λ_j.
        let c: Vec<f64> =
            (0..items).map(|i| (0..dims).map(|j| u[(i, j)].powi(2) * logs[j]).sum::<f64>()).collect();
        for &k in sizes {
            let inclusion = reference_inclusion(&logs, k);
            let probability = |i: usize| (0..dims).map(|j| u[(i, j)].powi(2) * inclusion[j]).sum::<f64>();
            let expectation: f64 = (0..items).map(|i| c[i] * probability(i)).sum();
            let mut first = None;
            for (scale, draws) in [(1.0, if items == 400 { 40 } else { 100 }), (1e100, 20), (1e-100, 20)] {
                let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
                let features = Features::from_rows(items, dims, &scaled).unwrap();
                let k_dpp = KDpp::new(&features, k).unwrap();
                let samples = k_dpp
                    .sampler(SamplerOptions::default(), &Engine::cpu())
                    .unwrap()
                    .sample_many(draws, k as u64);
                assert!(samples.subsets().iter().all(|subset| subset.len() == k));
                let sums: Vec<f64> =
                    samples.subsets().iter().map(|subset| subset.iter().map(|i| c[i]).sum()).collect();
                if k < items {
                    let score = stats::z_score(&sums, expectation);
                    assert!(score.abs() < 5.0, "m = {items}, k = {k}, scale {scale:e}: {score}");
                }
                // Scaling by a factor changes only the last bits.
                let same = first.get_or_insert_with(|| samples.subsets().to_vec());
                let agree = same.iter().zip(samples.subsets()).filter(|(a, b)| a == b).count();
                assert!(agree as u64 >= draws - 2, "m = {items}, k = {k}, scale {scale:e}: {agree} agree");
            }
        }
    }
}
