//! Laws on small, difficult data, against enumeration.

use oracles::{
    oracle::{self, Determinants, Law},
    random::normals,
    stats,
};
use partition_dpp::{
    Dpp, Engine, Features, IndependentKDpps, KDpp, Kernel, Method, Partition, PartitionDpp, Projection,
    Quota, Sampler, SamplerOptions, Subset,
};

const DRAWS: u64 = 20_000;
const WAYS: [Projection; 2] = [Projection::Leverage, Projection::Elementary];
/// An upper limit on the number of χ² tests in this file.
const CHECKS: f64 = 100.0;

fn p_value(sampler: &Sampler, law: &Law) -> f64 {
    let samples = sampler.sample_many(DRAWS, 99);
    stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), law)
}

fn assert_law(what: &str, sampler: &Sampler, law: &Law) {
    assert!(!law.is_empty(), "{what}: no set has a positive probability");
    let p = p_value(sampler, law);
    assert!(p > stats::ALPHA / CHECKS, "{what}: p = {p:e}");
}

/// Data in which the items of a part are contiguous.
struct Data {
    rows: Vec<Vec<f64>>,
    labels: Vec<usize>,
}

impl Data {
    /// Returns normal numbers in parts of these sizes.
    fn random(sizes: &[usize], dims: usize, seed: u64) -> Self {
        let labels: Vec<usize> = sizes.iter().enumerate().flat_map(|(l, &size)| vec![l; size]).collect();
        let values = normals(labels.len() * dims, seed);
        Self { rows: values.chunks_exact(dims).map(<[f64]>::to_vec).collect(), labels }
    }

    fn features(&self) -> Features {
        Features::from_rows(self.rows.len(), self.rows[0].len(), self.rows.concat()).unwrap()
    }

    fn oracle(&self) -> Determinants {
        Determinants::of_features(self.rows.clone())
    }

    fn scale(mut self, items: std::ops::Range<usize>, factor: f64) -> Self {
        self.rows[items].iter_mut().flatten().for_each(|x| *x *= factor);
        self
    }

    /// Checks the quota laws: the Partition-DPP and independent k-DPPs, with either projection.
    fn check(&self, what: &str, quota: &[usize]) {
        self.check_scaled(what, quota, &vec![1.0; quota.len()]);
    }

    /// Does the same as `check` for parts multiplied by factors, which do not change the laws.
    fn check_scaled(&self, what: &str, quota: &[usize], factors: &[f64]) {
        let scaled = self.rows.iter().zip(&self.labels);
        let scaled = scaled.flat_map(|(row, &label)| row.iter().map(move |x| x * factors[label]));
        let dims = self.rows[0].len();
        let features = Features::from_rows(self.rows.len(), dims, scaled.collect::<Vec<_>>()).unwrap();
        let partition = Partition::from_labels(&self.labels).unwrap();
        let counts = Quota::new(&partition, quota).unwrap();
        let (joint, _) = self.oracle().partition_dpp(&self.labels, quota);
        let independent = self.oracle().independent(&self.labels, quota);
        for way in WAYS {
            let dpp = IndependentKDpps::new(&features, &partition, &counts).unwrap();
            let sampler =
                dpp.sampler(SamplerOptions::default().with_projection(way), &Engine::cpu()).unwrap();
            assert_law(&format!("{what}, independent k-DPPs ({way:?})"), &sampler, &independent);
            let dpp = PartitionDpp::new(&features, &partition, &counts).unwrap();
            let sampler =
                dpp.sampler(SamplerOptions::from(Method::Auto).with_projection(way), &Engine::cpu()).unwrap();
            // Checked before drawing, since draws under a broken guarantee may never end.
            let tilt = sampler.tilt().unwrap().iter().zip(factors).map(|(y, s)| y * s * s);
            let expected = self.acceptance(quota, &tilt.collect::<Vec<_>>());
            let bound = sampler.acceptance_bound();
            assert!(
                expected >= bound * (1.0 - 1e-9),
                "{what}: acceptance {expected:e}, guaranteed {bound:e}"
            );
            assert_law(&format!("{what}, Partition-DPP ({way:?})"), &sampler, &joint);
        }
    }

    /// Returns the probability that the k-DPP with part weights meets the quota.
    fn acceptance(&self, quota: &[usize], tilt: &[f64]) -> f64 {
        let size: usize = quota.iter().sum();
        // Parts of infinite weight are taken whole.
        let whole: Vec<usize> =
            (0..self.labels.len()).filter(|&i| tilt[self.labels[i]].is_infinite()).collect();
        let finite = |i: &usize| if whole.contains(i) { 1.0 } else { tilt[self.labels[*i]] };
        let weight = |set: &[usize]| set.iter().map(finite).product();
        let proposed = |set: &[usize]| set.len() == size && whole.iter().all(|i| set.contains(i));
        let (law, _) = self.oracle().law(weight, proposed);
        law.iter()
            .filter(|(set, _)| oracle::counts(set, &self.labels, quota.len()) == quota)
            .map(|(_, p)| p)
            .sum()
    }
}

#[test]
fn random_rows() {
    Data::random(&[4, 5], 4, 1).check("two parts", &[2, 1]);
    Data::random(&[3, 3, 4], 6, 2).check("three parts", &[2, 1, 2]);
    Data::random(&[2, 2, 2, 2, 2], 5, 3).check("five parts", &[1; 5]);
}

#[test]
fn zero_rows_are_never_drawn() {
    Data::random(&[4, 5], 4, 4).scale(1..2, 0.0).scale(6..8, 0.0).check("zero rows", &[2, 2]);
}

#[test]
fn duplicates_are_never_drawn_together() {
    let mut data = Data::random(&[4, 4], 4, 5);
    data.rows[1] = data.rows[0].clone();
    data.rows[6] = data.rows[0].iter().map(|x| -3.0 * x).collect();
    data.rows[7] = data.rows[5].clone();
    data.check("duplicates", &[2, 1]);
}

#[test]
fn parts_with_quota_zero_are_left_out() {
    Data::random(&[3, 4, 3], 4, 6).scale(3..7, 1e6).check("quota zero", &[2, 0, 1]);
}

#[test]
fn parts_that_must_be_taken_whole() {
    Data::random(&[2, 5, 1], 5, 7).check("quota = part size", &[2, 1, 1]);
}

#[test]
fn parts_whose_rank_is_their_quota() {
    // The first five rows lie in a plane.
    let mut data = Data::random(&[5, 4], 4, 8);
    for i in 2..5 {
        let (a, b) = (i as f64 - 3.5, 1.0 / i as f64);
        data.rows[i] = (0..4).map(|j| a * data.rows[0][j] + b * data.rows[1][j]).collect();
    }
    data.check("rank-tight part", &[2, 2]);
}

#[test]
fn a_quota_of_as_many_items_as_dimensions() {
    Data::random(&[5, 5], 4, 9).check("k = rank", &[2, 2]);
}

#[test]
fn parts_of_very_different_scale() {
    Data::random(&[4, 5], 4, 10).check_scaled("scales 1e12 apart", &[2, 1], &[1e12, 1.0]);
    let factors = [1e-140, 1e140, 1.0];
    Data::random(&[3, 3, 3], 5, 11).check_scaled("scales 1e280 apart", &[1, 2, 1], &factors);
}

#[test]
fn wide_parts_of_very_different_scale() {
    Data::random(&[4, 4], 20, 12).check_scaled("wide, scales 1e12 apart", &[2, 2], &[1e12, 1.0]);
    let factors = [1e-140, 1e140];
    Data::random(&[4, 4], 20, 13).check_scaled("wide, scales 1e280 apart", &[2, 2], &factors);
}

#[test]
fn a_small_row_that_must_be_taken() {
    Data::random(&[2, 5], 4, 14).scale(1..2, 1e-5).check("a row of 1e-5", &[2, 1]);
}

#[test]
fn a_tiny_row_that_must_be_taken() {
    Data::random(&[2, 5], 4, 14).scale(1..2, 1e-9).check("a row of 1e-9", &[2, 1]);
}

#[test]
fn tiny_rows_of_which_one_must_be_taken() {
    Data::random(&[4, 5], 5, 15).scale(1..4, 1e-9).check("rows of 1e-9", &[2, 2]);
}

/// The rows of part 0 differ by this much.
fn nearly_parallel(step: f64) -> Data {
    let mut data = Data::random(&[4, 4], 4, 16);
    for i in 1..4 {
        let other = data.rows[i].clone();
        data.rows[i] = data.rows[0].iter().zip(other).map(|(x, d)| x + step * d).collect();
    }
    data
}

#[test]
fn rows_that_nearly_agree() {
    nearly_parallel(1e-5).check("rows that agree to 1e-5", &[2, 2]);
}

#[test]
fn rows_that_agree_but_for_rounding() {
    nearly_parallel(1e-9).check("rows that agree to 1e-9", &[2, 2]);
}

#[test]
fn wide_features_and_their_kernel_have_one_law() {
    let data = Data::random(&[4, 4], 11, 17);
    let partition = Partition::from_labels(&data.labels).unwrap();
    let quota = Quota::new(&partition, [2, 1]).unwrap();
    let a = nalgebra::DMatrix::from_row_slice(8, 11, &data.rows.concat());
    let kernel = Kernel::from_dense(8, (&a * a.transpose()).as_slice()).unwrap();
    assert_eq!(kernel.rank(), 8);
    let wide = data.features();
    let oracle = data.oracle();
    for features in [&wide, kernel.features()] {
        for way in WAYS {
            let dpp = PartitionDpp::new(features, &partition, &quota).unwrap();
            let sampler =
                dpp.sampler(SamplerOptions::from(Method::Auto).with_projection(way), &Engine::cpu()).unwrap();
            assert_law("wide Partition-DPP", &sampler, &oracle.partition_dpp(&data.labels, &[2, 1]).0);
            let dpp = KDpp::new(features, 3).unwrap();
            assert_law(
                "wide k-DPP",
                &dpp.sampler(SamplerOptions::default().with_projection(way), &Engine::cpu()).unwrap(),
                &oracle.k_dpp(3),
            );
            let dpp = Dpp::new(features).unwrap();
            assert_law(
                "wide DPP",
                &dpp.sampler(SamplerOptions::default().with_projection(way), &Engine::cpu()).unwrap(),
                &oracle.dpp(),
            );
        }
    }
}

#[test]
fn permuting_items_permutes_the_law() {
    let data = Data::random(&[4, 4], 4, 18);
    let order = [5, 2, 7, 0, 3, 6, 1, 4];
    let permuted = Data {
        rows: order.iter().map(|&i| data.rows[i].clone()).collect(),
        labels: order.iter().map(|&i| data.labels[i]).collect(),
    };
    let (law, _) = data.oracle().partition_dpp(&data.labels, &[2, 1]);
    let features = permuted.features();
    let partition = Partition::from_labels(&permuted.labels).unwrap();
    let quota = Quota::new(&partition, [2, 1]).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let samples = dpp.sampler(Method::Auto, &Engine::cpu()).unwrap().sample_many(DRAWS, 3);
    let back = |set: &Subset| {
        let mut set: Vec<usize> = set.iter().map(|i| order[i]).collect();
        set.sort_unstable();
        set
    };
    let sets: Vec<Vec<usize>> = samples.subsets().iter().map(back).collect();
    let p = stats::chi_square_p(sets.iter().map(|set| &set[..]), &law);
    assert!(p > stats::ALPHA / CHECKS, "p = {p:e}");
}

#[test]
fn the_dpp_of_zero_rows_draws_nothing() {
    let features = Features::from_rows(3, 2, vec![0.0; 6]).unwrap();
    for way in WAYS {
        let dpp = Dpp::new(&features).unwrap();
        let samples = dpp
            .sampler(SamplerOptions::default().with_projection(way), &Engine::cpu())
            .unwrap()
            .sample_many(100, 1);
        assert!(samples.subsets().iter().all(Subset::is_empty), "{way:?}");
    }
}

#[test]
fn the_law_of_another_quota_is_rejected() {
    let data = Data::random(&[4, 4], 4, 19);
    let (features, oracle) = (data.features(), data.oracle());
    let dpp = KDpp::new(&features, 3).unwrap();
    let sampler = dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
    assert!(p_value(&sampler, &oracle.k_dpp(3)) > stats::ALPHA / CHECKS);
    assert!(p_value(&sampler, &oracle.partition_dpp(&data.labels, &[2, 1]).0) < 1e-12);
    let other = Data::random(&[4, 4], 4, 20);
    assert!(p_value(&sampler, &other.oracle().k_dpp(3)) < 1e-12);
}
