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

/// How far compressed rows of so many features are from the data's, up to a rotation of all, in units of ε times their
/// lengths.
///
/// A reflection costs a few roundings. Those of a sum are positive as often as negative, so they add up like √n. The
/// largest errors seen are below half of this, also for rows whose entries have one sign or differ in magnitude.
///
/// # Source
/// Connolly and Higham, *Probabilistic rounding error analysis of Householder QR factorization* (2023).
pub(crate) fn compression_rounding(dims: usize) -> f64 {
    8.0 + (dims as f64).sqrt()
}

/// Wide features (n > m) as m×m ones with the same A Aᵀ.
///
/// Aᵀ = Q R implies A Aᵀ = Rᵀ R, so A' = Rᵀ. Unlike an eigen-decomposition of A Aᵀ, this does not square the condition
/// number.
fn compress_wide(features: &Features) -> Result<Features> {
    let (items, dims) = (features.items(), features.dims());
    let mut transposed = Mat::<f64>::zeros(dims, items);
    let mut scales = Vec::with_capacity(items);
    for item in 0..items {
        // A power of two: nothing is rounded, and no square underflows.
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

    /// Σ x y in twice the precision: products by fused multiplication, sums with their errors.
    fn accurate_dot(x: &[f64], y: &[f64]) -> f64 {
        let (mut sum, mut rest) = (0.0_f64, 0.0_f64);
        for (x, y) in x.iter().zip(y) {
            let product = x * y;
            let total = sum + product;
            let part = total - sum;
            rest += (sum - (total - part)) + (product - part) + x.mul_add(*y, -product);
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
        let length = |i: usize| accurate_dot(&given[i], &given[i]).sqrt();
        let mut worst = 0.0_f64;
        for i in 0..items {
            for j in 0..=i {
                let gap = accurate_dot(&given[i], &given[j]) - accurate_dot(&found[i], &found[j]);
                worst = worst.max(gap.abs() / (f64::EPSILON * length(i) * length(j)));
            }
        }
        worst
    }

    /// In (−1, 1), without a pattern.
    fn noise(i: usize, j: usize) -> f64 {
        let x = (12.9898 * i as f64 + 78.233 * j as f64).sin() * 43_758.545_3;
        2.0 * (x - x.floor()) - 1.0
    }

    /// Both rows of a product are off by at most `compression_rounding`.
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
