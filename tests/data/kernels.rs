//! Kernels in single and half precision, and tolerances.

use approx::abs_diff_eq;
use oracles::assert_error;
use partition_dpp::{Engine, Error, Features, KDpp, Kernel, Method, data::Scalar};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};

/// Unit rows in f32, some of them twice.
fn unit_rows(items: usize, dims: usize, twice: usize, rng: &mut impl Rng) -> Vec<Vec<f32>> {
    let mut rows: Vec<Vec<f32>> = (0..items - twice)
        .map(|_| {
            let row: Vec<f64> = (0..dims).map(|_| rng.random_range(-1.0..1.5)).collect();
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            row.iter().map(|x| (x / length) as f32).collect()
        })
        .collect();
    rows.extend_from_within(..twice);
    rows
}

/// All products, each summed in f32 from first to last.
fn products(rows: &[Vec<f32>]) -> Vec<f32> {
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).fold(0.0_f32, |sum, (x, y)| sum + x * y);
    rows.iter().flat_map(|a| rows.iter().map(|b| product(a, b))).collect()
}

fn widened<T: Scalar>(values: &[T]) -> Vec<f64> {
    values.iter().map(|&value| value.into()).collect()
}

#[test]
fn products_of_embeddings_in_single_precision_are_kernels() {
    let rng = &mut StdRng::seed_from_u64(7);
    for (items, dims, twice) in [(2, 64, 1), (10, 768, 5), (60, 16, 0), (200, 64, 20), (300, 384, 150)] {
        let rows = unit_rows(items, dims, twice, rng);
        let values = products(&rows);
        let kernel = Kernel::from_dense(items, &values).unwrap();
        let rank = dims.min(items - twice);
        println!("{items}×{dims}: rank {} of {rank}, error {:.1e}", kernel.rank(), kernel.error());
        assert_eq!(kernel.rank(), rank);
        assert!(kernel.error() < 1e-5);
        #[cfg(feature = "npy")]
        in_half_precision(items, &values);
    }
}

#[cfg(feature = "npy")]
fn in_half_precision(items: usize, values: &[f32]) {
    let half: Vec<half::f16> = values.iter().map(|&value| half::f16::from_f32(value)).collect();
    let kernel = Kernel::from_dense(items, &half).unwrap();
    println!("in half precision: rank {}, error {:.1e}", kernel.rank(), kernel.error());
    assert!(kernel.error() < 0.02 && kernel.rank() <= items);
}

#[test]
fn a_rounded_kernel_has_nearly_the_law_of_its_rows() {
    let rng = &mut StdRng::seed_from_u64(3);
    let rows = unit_rows(60, 8, 0, rng);
    let values = products(&rows);
    let refused = Kernel::from_dense(60, &widened(&values));
    assert!(matches!(refused, Err(Error::NotPositiveSemidefinite { .. })), "{refused:?}");
    let kernel = Kernel::from_dense(60, &values).unwrap();
    let exact = Features::from_rows(60, 8, rows.concat()).unwrap();
    let [rounded, exact] = [kernel.features(), &exact].map(|features| KDpp::new(features, 5).unwrap());
    let sampler = rounded.sampler(Method::Auto, &Engine::cpu()).unwrap();
    assert!(sampler.law_error() < 1e-9, "{}", sampler.law_error());
    let [rounded, exact] = [rounded, exact].map(|model| model.inference(&Engine::cpu()).unwrap());
    let [of_rounded, of_exact] = [&rounded, &exact].map(|law| law.log_partition_function().value);
    assert!(abs_diff_eq!(of_rounded, of_exact, epsilon = 1e-5), "{of_rounded} {of_exact}");
    let [of_rounded, of_exact] = [rounded, exact].map(|law| law.inclusion_probabilities().unwrap().value);
    for (rounded, exact) in of_rounded.iter().zip(&of_exact) {
        assert!(abs_diff_eq!(rounded, exact, epsilon = 1e-5), "{rounded} {exact}");
    }
}

#[test]
fn a_kernel_may_be_off_by_as_much_as_is_said() {
    let values = [1.0, 0.5, 0.5 + 1e-5, 1.0];
    assert_error!(Kernel::from_dense(2, &values), Error::Asymmetric { .. }, ["not symmetric"]);
    assert_eq!(Kernel::from_dense_within(2, &values, 1e-4).unwrap().rank(), 2);
    assert_error!(
        Kernel::from_dense_within(2, &[1.0, 1.1, 1.1, 1.0], 0.01),
        Error::NotPositiveSemidefinite { eigenvalue, tolerance }
            if abs_diff_eq!(eigenvalue, -0.1, epsilon = 1e-12) && abs_diff_eq!(tolerance, 0.021, epsilon = 1e-12),
        ["eigenvalue is -", "tolerance is 2"]
    );
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_error!(
            Kernel::from_dense_within(1, &[1.0], tolerance),
            Error::NotPositive { what: "the tolerance of the kernel", .. },
            ["tolerance of the kernel", "positive"]
        );
    }
    // Exact values in f32 are as exact as in f64.
    let [single, double] =
        [Kernel::from_dense(2, &[2.0_f32, 1.0, 1.0, 2.0]), Kernel::from_dense(2, &[2.0, 1.0, 1.0, 2.0])];
    let [single, double] = [single, double].map(Result::unwrap);
    assert_eq!((single.rank(), single.error()), (2, 0.0));
    assert_eq!(single.features().row(0), double.features().row(0));
}

#[test]
#[cfg(feature = "npy")]
fn files_are_read_by_their_type() {
    use oracles::npy::{file, npy};
    let rows = unit_rows(60, 8, 0, &mut StdRng::seed_from_u64(3));
    let values = products(&rows);
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let single = file(&npy("<f4", false, &[60, 60], &bytes));
    assert_eq!(Kernel::open_npy(single.path()).unwrap().rank(), 8);
    let bytes: Vec<u8> = widened(&values).iter().flat_map(|value| value.to_le_bytes()).collect();
    let double = file(&npy("<f8", false, &[60, 60], &bytes));
    assert_error!(Kernel::open_npy(double.path()), Error::NotPositiveSemidefinite { .. }, ["tolerance"]);
    assert_eq!(Kernel::open_npy_within(double.path(), 1e-5).unwrap().rank(), 8);
    // Integers have no rounding.
    let integers = file(&npy("|u1", false, &[2, 2], &[1, 2, 2, 1]));
    assert_error!(Kernel::open_npy(integers.path()), Error::NotPositiveSemidefinite { .. }, ["e-10"]);
}
