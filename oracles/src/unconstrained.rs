//! Kernels, sets and the softmax extension, for tests of unconstrained problems.

use partition_dpp::Features;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::{
    exact::{Minors, Set, items_of},
    random::normals,
};

pub fn features(rows: &[Vec<f64>]) -> Features {
    Features::from_rows(rows.len(), rows[0].len(), rows.concat()).unwrap()
}

pub fn gaussian(items: usize, dims: usize, scale: f64, seed: u64) -> Vec<Vec<f64>> {
    normals(items * dims, seed).chunks(dims).map(|row| row.iter().map(|x| x * scale).collect()).collect()
}

pub fn uniforms(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..count).map(|_| rng.random()).collect()
}

/// Returns rows of full rank, of deficient rank, with more dimensions than items, and with repeated and zero rows.
pub fn zoo(seeds: u64) -> Vec<Vec<Vec<f64>>> {
    let mut zoo = Vec::new();
    for seed in 0..seeds {
        for (items, dims, scale) in
            [(9, 9, 0.4), (8, 12, 0.3), (11, 4, 0.7), (10, 3, 2.0), (6, 1, 1.0), (1, 3, 1.0)]
        {
            zoo.push(gaussian(items, dims, scale, 100 * seed + dims as u64));
        }
        let mut repeated = gaussian(10, 6, 0.6, 900 + seed);
        repeated[7].copy_from_slice(&gaussian(10, 6, 0.6, 900 + seed)[2]);
        repeated[9] = vec![0.0; 6];
        repeated[0] = repeated[5].iter().map(|x| 2.0 * x).collect();
        zoo.push(repeated);
    }
    zoo
}

/// Returns every set with its determinant.
pub fn all_sets(rows: &[Vec<f64>]) -> Vec<(Vec<usize>, f64)> {
    let minors = Minors::of_features(rows);
    minors.sets().map(|set| (items_of(set), minors.log_det(set).exp())).collect()
}

/// Returns Gaussian rows for which no set has a determinant below 1, and ln of the largest determinant.
pub fn nonnegative(seed: u64) -> (Vec<Vec<f64>>, f64) {
    let rows = gaussian(8, 8, 1.0, seed);
    let minors = Minors::of_features(&rows);
    let mean = |set: Set| minors.log_det(set) / f64::from(set.count_ones());
    let least = minors.sets().skip(1).map(mean).fold(f64::INFINITY, f64::min);
    let scale = (-0.5 * least).exp();
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| x * scale).collect()).collect();
    let minors = Minors::of_features(&rows);
    assert!(minors.sets().all(|set| minors.log_det(set) > -1e-9));
    (rows, minors.optimum(|_| true))
}

/// Returns ln Σ_S det(K_S) Π x_i Π (1 − x_i), computed by the definition.
pub fn expectation(sets: &[(Vec<usize>, f64)], x: &[f64]) -> f64 {
    let weight = |set: &[usize]| -> f64 {
        (0..x.len()).map(|i| if set.contains(&i) { x[i] } else { 1.0 - x[i] }).product()
    };
    sets.iter().map(|(set, det)| det * weight(set)).sum::<f64>().ln()
}

/// Returns points inside the cube, on its faces, and near its corners.
pub fn points(items: usize, seed: u64) -> Vec<Vec<f64>> {
    let inside = uniforms(items, seed);
    let face = inside.iter().map(|&x| if x < 0.3 { 0.0 } else { x }).collect();
    let near = inside.iter().map(|&x| if x < 0.8 { 1e-9 * x } else { 1.0 - 1e-9 * x }).collect();
    let large = inside.iter().map(|x| 0.9 + 0.1 * x).collect();
    vec![vec![0.5; items], inside, face, near, large]
}

/// Returns central differences, one-sided if x is at an end.
pub fn differences(value: impl Fn(&[f64]) -> f64, x: &[f64]) -> Vec<f64> {
    (0..x.len())
        .map(|i| {
            let step = 1e-6;
            let (low, high) = ((x[i] - step).max(0.0), (x[i] + step).min(1.0));
            let at = |xi: f64| {
                let mut moved = x.to_vec();
                moved[i] = xi;
                value(&moved)
            };
            (at(high) - at(low)) / (high - low)
        })
        .collect()
}
