//! Items with zero variance in a dense kernel are never chosen and cannot be included.

use approx::relative_eq;
use oracles::{assert_error, random::normals};
use partition_dpp::{
    Engine, Error, KDpp, Kernel,
    map::{BranchAndBound, Solver},
};

const ITEMS: usize = 6;
const ZERO: usize = 2;

/// Returns G Gᵀ for Gaussian rows, with the row of one item multiplied by `length`.
fn kernel(seed: u64, dims: usize, length: f64) -> Kernel {
    let mut rows = normals(ITEMS * dims, seed);
    rows[ZERO * dims..(ZERO + 1) * dims].iter_mut().for_each(|x| *x *= length);
    let dot =
        |i: usize, j: usize| -> f64 { (0..dims).map(|d| rows[i * dims + d] * rows[j * dims + d]).sum() };
    let values: Vec<f64> = (0..ITEMS * ITEMS).map(|at| dot(at / ITEMS, at % ITEMS)).collect();
    Kernel::from_dense(ITEMS, &values).unwrap()
}

#[test]
fn an_item_without_variance_is_never_chosen() {
    for (seed, dims) in (1..20).flat_map(|seed| [(seed, 4), (seed, 6), (seed, 8)]) {
        for length in [0.0, 1e-160] {
            let kernel = kernel(seed, dims, length);
            assert_eq!(kernel.features().row(ZERO), vec![0.0; kernel.rank()]);
            let k_dpp = KDpp::new(kernel.features(), 2).unwrap();
            let inclusion = k_dpp.inference(&Engine::cpu()).unwrap().inclusion_probabilities().unwrap().value;
            assert_eq!(inclusion[ZERO].to_bits(), 0);
            let best = BranchAndBound::default().solve(&k_dpp, &Engine::cpu()).unwrap();
            assert!(!best.subset.as_slice().contains(&ZERO));
            assert_error!(k_dpp.including(&[ZERO]), Error::DependentItems { item: ZERO }, ["item 2"]);
        }
    }
}

#[test]
fn a_short_row_is_not_a_row_of_zeros() {
    let inclusion = |length: f64| {
        let kernel = kernel(1, 4, length);
        let k_dpp = KDpp::new(kernel.features(), 2).unwrap();
        assert!(k_dpp.clone().including(&[ZERO]).is_ok());
        k_dpp.inference(&Engine::cpu()).unwrap().inclusion_probabilities().unwrap().value[ZERO]
    };
    let unit = inclusion(1e-6);
    for length in [1e-18, 1e-100] {
        let expected = unit * (length / 1e-6_f64).powi(2);
        assert!(
            relative_eq!(inclusion(length), expected, epsilon = 0.0, max_relative = 1e-9),
            "{length:e}: {}",
            inclusion(length)
        );
    }
}
