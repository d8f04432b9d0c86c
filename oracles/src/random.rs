//! Test data from a fixed generator.

use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Returns standard normal numbers by the Box–Muller method. The limits of several tests were chosen for these
/// numbers.
pub fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..count)
        .map(|_| {
            let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
            (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
        })
        .collect()
}

/// Returns rows in clusters and their labels, one part per cluster.
///
/// Each part lies mostly in the first `strong` dimensions of its block. All other dimensions are scaled by `weak`.
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
