//! Bounds from eigenvalues alone.

use faer::Mat;

use super::{Problem, choice::Choices, gamma::lower_product};
use crate::{Result, linalg::eigen, map::Counts};

/// The smaller of two products of eigenvalues, in logarithms.
///
/// ```text
/// det K_S ≤ Π_{j≤k} λ_j(K),     det K_S ≤ Π_l det K_{S∩P_l} ≤ Π_l Π_{j≤κ_l} λ_j(K_{P_l})
/// ```
///
/// by Cauchy's interlacing and by Fischer's inequality; each at the counts that make it largest. Where the size is free,
/// Π max(1, λ_j).
///
/// # Cost
/// 2mr², and O(r³) per part.
pub(crate) fn spectral_bound(problem: &Problem) -> Result<f64> {
    let dims = problem.dims();
    let parts = problem.counts.low.len();
    let mut grams: Vec<Mat<f64>> = (0..parts).map(|_| Mat::zeros(dims, dims)).collect();
    let mut weights = vec![0.0; parts];
    for (l, gram) in grams.iter_mut().enumerate() {
        let members: Vec<usize> = (0..problem.len()).filter(|&item| problem.group(item) == l).collect();
        let rows = Mat::from_fn(dims, members.len(), |j, i| problem.row(members[i])[j]);
        lower_product(gram, rows.as_ref());
        weights[l] = members.iter().map(|&item| problem.weights[item]).fold(f64::NEG_INFINITY, f64::max);
    }
    bound_from_grams(&grams, &problem.counts, &weights, problem.set_error())
        .map(|bound| bound + problem.offset)
}

/// The same from the Gram matrices of the parts (their lower halves are read), each with a weight for every item
/// chosen.
pub(super) fn bound_from_grams(
    grams: &[Mat<f64>],
    counts: &Counts,
    weights: &[f64],
    floor: f64,
) -> Result<f64> {
    let Some(first) = grams.first() else { return Ok(0.0) };
    let mut sum = Mat::<f64>::zeros(first.nrows(), first.ncols());
    grams.iter().for_each(|gram| sum += gram);
    let logarithms = |gram: &Mat<f64>, count: usize| -> Result<Vec<f64>> {
        let values = eigen(gram.as_ref())?.values;
        let known = values.into_iter().map(|value| (value.max(0.0) + floor).ln());
        // Beyond the rank there is only what rounding has left.
        Ok(known.chain(std::iter::repeat(floor.ln())).take(count).collect())
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
    let by_parts = Choices { groups, counts: counts.clone() }.best(&values).value;
    Ok(whole.min(by_parts))
}

/// The largest sum of a number of leading eigenvalues and as many weights as the counts allow.
fn of_whole(logarithms: &[f64], counts: &Counts, weights: &[f64]) -> f64 {
    let times = |count: usize, weight: f64| if count > 0 { count as f64 * weight } else { 0.0 };
    let needed: usize = counts.low.iter().sum();
    let mut sum: f64 = logarithms[..needed].iter().sum::<f64>()
        + counts.low.iter().zip(weights).map(|(&low, &weight)| times(low, weight)).sum::<f64>();
    let spare = |(l, &weight): (usize, &f64)| std::iter::repeat_n(weight, counts.high[l] - counts.low[l]);
    let mut spare: Vec<f64> = weights.iter().enumerate().flat_map(spare).collect();
    spare.sort_by(|a, b| b.total_cmp(a));
    let mut best = if needed >= counts.least { sum } else { f64::NEG_INFINITY };
    for (size, (value, weight)) in (needed + 1..).zip(logarithms[needed..].iter().zip(spare)) {
        sum += value + weight;
        if size >= counts.least {
            best = best.max(sum);
        }
    }
    best
}
