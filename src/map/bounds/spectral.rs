//! Bounds from eigenvalues alone.

use faer::Mat;

use super::{Problem, gamma::lower_product};
use crate::{Result, linalg::eigen, map::Size};

/// The smaller of two products of eigenvalues, in logarithms.
///
/// ```text
/// det K_S ≤ Π_{j≤k} λ_j(K),     det K_S ≤ Π_l det K_{S∩P_l} ≤ Π_l Π_{j≤κ_l} λ_j(K_{P_l})
/// ```
///
/// by Cauchy's interlacing and by Fischer's inequality; where the size is free, Π max(1, λ_j).
///
/// # Cost
/// 2mr², and O(r³) per part.
pub(crate) fn spectral_bound(problem: &Problem) -> Result<f64> {
    let dims = problem.dims();
    let mut grams: Vec<Mat<f64>> = problem.counts.iter().map(|_| Mat::zeros(dims, dims)).collect();
    let mut weights = vec![0.0; problem.counts.len()];
    for (l, gram) in grams.iter_mut().enumerate() {
        let members: Vec<usize> = (0..problem.len()).filter(|&item| problem.group(item) == l).collect();
        let rows = Mat::from_fn(dims, members.len(), |j, i| problem.row(members[i])[j]);
        lower_product(gram, rows.as_ref());
        weights[l] = members.iter().map(|&item| problem.weights[item]).fold(f64::NEG_INFINITY, f64::max);
    }
    bound_from_grams(&grams, &problem.counts, &weights, problem.size, problem.set_error())
        .map(|bound| bound + problem.offset)
}

/// The same from the Gram matrices of the parts (their lower halves are read), each with a weight for every item
/// chosen.
pub(super) fn bound_from_grams(
    grams: &[Mat<f64>],
    counts: &[usize],
    weights: &[f64],
    size: Size,
    floor: f64,
) -> Result<f64> {
    let Some(first) = grams.first() else { return Ok(0.0) };
    let mut sum = Mat::<f64>::zeros(first.nrows(), first.ncols());
    grams.iter().for_each(|gram| sum += gram);
    let logarithms = |gram: &Mat<f64>| -> Result<Vec<f64>> {
        Ok(eigen(gram.as_ref())?.values.iter().map(|value| (value.max(0.0) + floor).ln()).collect())
    };
    let all = logarithms(&sum)?;
    if size == Size::Free {
        return Ok(all.iter().map(|value| (value + weights[0]).max(0.0)).sum());
    }
    let largest = |logarithms: &[f64], count: usize| -> f64 {
        // Beyond the rank there is only what rounding has left.
        logarithms.iter().copied().chain(std::iter::repeat(floor.ln())).take(count).sum()
    };
    let scales: f64 =
        counts.iter().zip(weights).filter(|(count, _)| **count > 0).map(|(&k, w)| k as f64 * w).sum();
    let mut by_parts = 0.0;
    for (gram, &count) in grams.iter().zip(counts) {
        by_parts += largest(&logarithms(gram)?, count);
    }
    Ok(scales + by_parts.min(largest(&all, counts.iter().sum())))
}
