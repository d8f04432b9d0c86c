//! Bounds from eigenvalues alone.

use faer::Mat;

use super::{Subproblem, choice::Choices, gamma::lower_product, relaxation::Majorant};
use crate::{
    Result,
    linalg::eigen,
    map::rounding::{VANISHING, of_eigenvalues, of_sum, of_value},
    model::Counts,
};

/// The smaller of two sums of logarithms of eigenvalues.
///
/// ```text
/// det K_S ≤ Π_{j≤k} λ_j(K),     det K_S ≤ Π_l det K_{S∩P_l} ≤ Π_l Π_{j≤κ_l} λ_j(K_{P_l})
/// ```
///
/// by Cauchy's interlacing theorem and by Fischer's inequality, each at the counts that make it largest. If the size
/// is free, the product is Π max(1, λ_j).
///
/// # Cost
/// 2mr² + O(r³) per part.
pub(crate) fn spectral_bound(problem: &Subproblem) -> Result<f64> {
    let dims = problem.dims;
    let parts = problem.counts.low.len();
    let mut grams: Vec<Mat<f64>> = (0..parts).map(|_| Mat::zeros(dims, dims)).collect();
    let mut weights = vec![0.0; parts];
    for (l, gram) in grams.iter_mut().enumerate() {
        let members: Vec<usize> = (0..problem.len()).filter(|&item| problem.group(item) == l).collect();
        let rows = Mat::from_fn(dims, members.len(), |j, i| problem.row(members[i])[j]);
        lower_product(gram, rows.as_ref());
        weights[l] = members.iter().map(|&item| problem.weights[item]).fold(f64::NEG_INFINITY, f64::max);
    }
    let all = 0..problem.len();
    let grams = Grams {
        grams: &grams,
        items: problem.len(),
        weights: &weights,
        longest: all.clone().map(|item| problem.length(item)).fold(0.0, f64::max),
        error: all.map(|item| problem.errors[item]).fold(0.0, f64::max),
    };
    let bound = bound_from_grams(&grams, &problem.counts)? + problem.offset;
    Ok(bound + of_value(bound))
}

/// The Gram matrices of the parts (only their lower halves are read), and the data for their errors.
#[expect(clippy::struct_field_names, reason = "they are what the rest is about")]
pub(super) struct Grams<'a> {
    pub(super) grams: &'a [Mat<f64>],
    /// The number of rows.
    pub(super) items: usize,
    /// The weight of each chosen item, by part.
    pub(super) weights: &'a [f64],
    /// The greatest length ‖v_i‖.
    pub(super) longest: f64,
    /// The largest error of any row.
    pub(super) error: f64,
}

/// The bound from Gram matrices.
///
/// The rounding errors of the largest k×k kernel, of the sums and of the eigenvalues are added to every eigenvalue.
pub(super) fn bound_from_grams(parts: &Grams<'_>, counts: &Counts) -> Result<f64> {
    let &Grams { grams, items, weights, longest, error } = parts;
    let Some(first) = grams.first() else { return Ok(0.0) };
    let mut sum = Mat::<f64>::zeros(first.nrows(), first.ncols());
    grams.iter().for_each(|gram| sum += gram);
    let error = error + VANISHING;
    let of_rows = counts.most as f64 * (2.0 * longest + error) * error;
    let logarithms = |gram: &Mat<f64>, count: usize| -> Result<Vec<f64>> {
        let trace: f64 = (0..gram.nrows()).map(|j| gram[(j, j)]).sum();
        let floor = of_rows + trace * (of_sum(items + grams.len()) + of_eigenvalues(gram.nrows()));
        let values = eigen(gram.as_ref())?.values;
        let known = values.into_iter().map(|value| value.max(0.0) + floor);
        // Beyond the rank there are only rounding errors.
        let all = known.chain(std::iter::repeat(floor)).take(count).map(f64::ln);
        Ok(all.map(|logarithm| logarithm + of_value(2.0 * logarithm)).collect())
    };
    let whole = of_whole(&logarithms(&sum, counts.most)?, counts, weights);
    if grams.len() == 1 {
        return Ok(whole);
    }
    let (mut groups, mut values) = (Vec::new(), Vec::new());
    for (l, gram) in grams.iter().enumerate() {
        let first = values.len();
        values.extend(logarithms(gram, counts.high[l])?.into_iter().map(|value| value + weights[l]));
        groups.push((first..values.len()).collect());
    }
    let by_parts = Majorant { intercept: 0.0, slopes: values };
    Ok(whole.min(by_parts.maximum(&Choices { groups, counts: counts.clone() })))
}

/// The largest sum of the logarithms of leading eigenvalues and equally many weights, over the allowed counts.
fn of_whole(logarithms: &[f64], counts: &Counts, weights: &[f64]) -> f64 {
    let times = |count: usize, weight: f64| if count > 0 { count as f64 * weight } else { 0.0 };
    let needed: usize = counts.low.iter().sum();
    let of_parts = counts.low.iter().zip(weights).map(|(&low, &weight)| times(low, weight));
    let first: Vec<f64> = logarithms[..needed].iter().copied().chain(of_parts).collect();
    let mut sum: f64 = first.iter().sum();
    let mut size: f64 = first.iter().map(|term| term.abs()).sum();
    let spare = |(l, &weight): (usize, &f64)| std::iter::repeat_n(weight, counts.high[l] - counts.low[l]);
    let mut spare: Vec<f64> = weights.iter().enumerate().flat_map(spare).collect();
    spare.sort_by(|a, b| b.total_cmp(a));
    let mut best = if needed >= counts.least { sum } else { f64::NEG_INFINITY };
    for (count, (value, weight)) in (needed + 1..).zip(logarithms[needed..].iter().zip(spare)) {
        sum += value + weight;
        size += value.abs() + weight.abs();
        if count >= counts.least {
            best = best.max(sum);
        }
    }
    if best == f64::NEG_INFINITY { best } else { best + of_sum(2 * counts.most + weights.len() + 4) * size }
}
