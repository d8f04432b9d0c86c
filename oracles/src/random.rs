//! Test data from a fixed generator.

use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Returns standard normal deviates, by Box and Muller. Several tests have limits that were chosen for these numbers.
pub fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..count)
        .map(|_| {
            let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
            (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
        })
        .collect()
}

/// Rows in clusters, one part per cluster: each part lives mostly in its own block of dimensions,
/// of which `strong` matter most.
pub fn clustered(
    items: usize,
    dims: usize,
    parts: usize,
    strong: usize,
    weak: f64,
    seed: u64,
) -> (Vec<f64>, Vec<usize>) {
    let labels: Vec<usize> = (0..items).map(|i| i % parts).collect();
    let mut values = normals(items * dims, seed);
    let block = dims / parts;
    for (i, row) in values.chunks_exact_mut(dims).enumerate() {
        for (j, x) in row.iter_mut().enumerate() {
            if j / block != labels[i] || j % block >= strong {
                *x *= weak;
            }
        }
    }
    (values, labels)
}
