//! Wide features, n > m, as features with n = m.

use faer::Mat;

use super::Features;
use crate::{Result, linalg};

/// Features with n ≤ m: as given (nothing is copied), or compressed.
pub(crate) fn compress_if_wide(features: &Features) -> Result<Features> {
    // The factor of a kernel is never wide.
    if features.dims() <= features.items() {
        return Ok(features.clone());
    }
    compress_wide(features)?.weighted_as(features, 0..features.items())
}

/// A bound on the rounding error of compressed rows with this many features, up to a common rotation, in units of ε
/// times the rows' lengths.
///
/// A reflection costs a few rounding errors. The rounding errors of a sum are positive as often as negative, so they
/// grow as √n. The largest errors observed are below half of this bound, also for rows whose entries have one sign or
/// differ in magnitude.
///
/// # Source
/// Connolly and Higham, *Probabilistic rounding error analysis of Householder QR factorization* (2023).
pub(crate) fn compression_rounding(dims: usize) -> f64 {
    8.0 + (dims as f64).sqrt()
}

/// Compresses wide features (n > m) to m×m features with the same A Aᵀ.
///
/// Aᵀ = Q R implies A Aᵀ = Rᵀ R, so A' = Rᵀ. Unlike an eigendecomposition of A Aᵀ, this does not square the condition
/// number.
fn compress_wide(features: &Features) -> Result<Features> {
    let (items, dims) = (features.items(), features.dims());
    let mut transposed = Mat::<f64>::zeros(dims, items);
    let mut scales = Vec::with_capacity(items);
    for item in 0..items {
        // Dividing by a power of two rounds nothing, and then no square underflows.
        let row = linalg::column_mut(transposed.as_mut(), item);
        features.read_stored(item, 1.0, row);
        let scale = linalg::power_of_two_near(row.iter().fold(0.0, |most, x| f64::max(most, x.abs())));
        row.iter_mut().for_each(|x| *x /= scale);
        scales.push(scale);
    }
    let qr = transposed.qr();
    let r = qr.thin_R();
    // Column i of R is row i of A'; R is zero below the diagonal.
    let rows = (0..items).flat_map(|i| (0..items).map(move |j| (i, j)));
    let rows = rows.map(|(i, j)| if j <= i { r[(j, i)] * scales[i] } else { 0.0 }).collect::<Vec<_>>();
    Features::from_rows(items, items, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x as the sum of two numbers of 26 bits, whose products are exact.
    fn halves(x: f64) -> (f64, f64) {
        let scaled = 134_217_729.0 * x;
        let high = scaled - (scaled - x);
        (high, x - high)
    }

    /// Σ x y in twice the precision: products and sums with their errors. Without fused multiply-add, which is slow if
    /// the compiler may not assume that the processor has it.
    fn accurate_dot(x: &[f64], y: &[f64]) -> f64 {
        let (mut sum, mut rest) = (0.0_f64, 0.0_f64);
        for (x, y) in x.iter().zip(y) {
            let product = x * y;
            let total = sum + product;
            let part = total - sum;
            let ((a, b), (c, d)) = (halves(*x), halves(*y));
            let lost = ((a * c - product) + a * d + b * c) + b * d;
            rest += (sum - (total - part)) + (product - part) + lost;
            sum = total;
        }
        sum + rest
    }

    /// The largest |r_i·r_j − a_i·a_j| in units of ε ‖a_i‖ ‖a_j‖.
    fn worst(items: usize, dims: usize, entry: impl Fn(usize, usize) -> f64) -> f64 {
        let values: Vec<f64> = (0..items * dims).map(|at| entry(at / dims, at % dims)).collect();
        let features = Features::from_rows(items, dims, values).unwrap();
        let compressed = compress_if_wide(&features).unwrap();
        assert_eq!(compressed.dims(), items);
        let rows = |features: &Features| (0..items).map(|item| features.row(item)).collect::<Vec<_>>();
        let (given, found) = (rows(&features), rows(&compressed));
        let lengths: Vec<f64> = given.iter().map(|row| accurate_dot(row, row).sqrt()).collect();
        let mut worst = 0.0_f64;
        for i in 0..items {
            for j in 0..=i {
                let gap = accurate_dot(&given[i], &given[j]) - accurate_dot(&found[i], &found[j]);
                worst = worst.max(gap.abs() / (f64::EPSILON * lengths[i] * lengths[j]));
            }
        }
        worst
    }

    /// A value in (−1, 1), without a pattern.
    fn noise(i: usize, j: usize) -> f64 {
        let x = (12.9898 * i as f64 + 78.233 * j as f64).sin() * 43_758.545_3;
        2.0 * (x - x.floor()) - 1.0
    }

    /// Both rows of a product have errors of at most `compression_rounding`.
    #[test]
    fn products_of_rows_stay() {
        for (items, dims) in [(2, 3), (20, 21), (20, 4000), (150, 151), (150, 1000)] {
            let most = 2.0 * compression_rounding(dims);
            let scale = |j: usize| (-(j as f64) / 20.0).exp2();
            let found = [
                worst(items, dims, noise),
                worst(items, dims, |i, j| noise(i, j).abs()),
                worst(items, dims, |i, j| 1.0 + 1e-6 * noise(i, j)),
                worst(items, dims, |i, j| noise(i, j) * scale(j % 800)),
                worst(items, dims, |i, j| noise(i, j) * scale(i) + f64::from(u8::from(j == 0))),
                worst(items, dims, |i, j| noise(i, j) / (dims as f64).sqrt() + f64::from(u8::from(i == j))),
            ];
            assert!(found.iter().all(|&found| found <= 0.5 * most), "{items}×{dims}: {found:?} of {most}");
        }
    }
}
