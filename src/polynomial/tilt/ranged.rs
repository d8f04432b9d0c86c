//! The tilt for ranges of counts.

use faer::{Mat, MatRef, Side};

use super::{inner_product, newton_step, weighted_gram};
use crate::linalg::whiten;

/// Imbalance of expected counts that is good enough.
const TOLERANCE: f64 = 1e-2;
const MAX_STEPS: usize = 60;

/// Weights of the parts, and of all items.
#[derive(Clone, Debug)]
pub(crate) struct RangedTilt {
    /// t_l: positive where a part would have too few items by itself, negative where too many.
    pub(crate) parts: Vec<f64>,
    /// What all parts are weighted with besides, so that the total is met; 0 without a total.
    pub(crate) common: f64,
}

impl RangedTilt {
    /// t_l + u.
    pub(crate) fn log_weights(&self) -> Vec<f64> {
        self.parts.iter().map(|t| t + self.common).collect()
    }
}

/// What a part's expected count is drawn to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pull {
    /// Nothing: t = 0.
    None,
    /// The least allowed, t > 0.
    Low,
    /// The most allowed, t < 0.
    High,
    /// The only count allowed.
    Exact,
}

/// Minimises the convex
///
/// ```text
/// F(t, u) = ln det(I + Σ e^(t_l + u) G_l) + Σ max(−lo_l t_l, −hi_l t_l) − k u
/// ```
///
/// by Newton steps on the weights that are drawn anywhere, until no other is. `offsets` are added to t_l for the given
/// Gram matrices, which may be scaled. Every tilt is exact: stopping early costs acceptance only.
pub(crate) fn ranged_tilt(
    grams: &[Mat<f64>],
    offsets: &[f64],
    ranges: &[(usize, usize)],
    total: Option<usize>,
) -> RangedTilt {
    let mut tilt = RangedTilt { parts: vec![0.0; grams.len()], common: 0.0 };
    let exact = |&(low, high): &(usize, usize)| if low == high { Pull::Exact } else { Pull::None };
    let mut pulls: Vec<Pull> = ranges.iter().map(exact).collect();
    for _ in 0..3 * grams.len() + 5 {
        let Some(means) = balance(grams, offsets, ranges, total, &pulls, &mut tilt) else { break };
        let mut changed = false;
        for (part, &(low, high)) in ranges.iter().enumerate() {
            let pull = match pulls[part] {
                Pull::None if means[part] < low as f64 - TOLERANCE => Pull::Low,
                Pull::None if means[part] > high as f64 + TOLERANCE => Pull::High,
                Pull::Low if tilt.parts[part] < 0.0 => Pull::None,
                Pull::High if tilt.parts[part] > 0.0 => Pull::None,
                same => same,
            };
            changed |= pull != pulls[part];
            if pull == Pull::None {
                tilt.parts[part] = 0.0;
            }
            pulls[part] = pull;
        }
        if !changed {
            break;
        }
    }
    tilt
}

/// Newton steps on the weights that are drawn; the expected counts in the end, `None` if they cannot be computed.
fn balance(
    grams: &[Mat<f64>],
    offsets: &[f64],
    ranges: &[(usize, usize)],
    total: Option<usize>,
    pulls: &[Pull],
    tilt: &mut RangedTilt,
) -> Option<Vec<f64>> {
    let drawn: Vec<(usize, usize)> = (0..grams.len())
        .filter_map(|part| match pulls[part] {
            Pull::None => None,
            Pull::Low | Pull::Exact => Some((part, ranges[part].0)),
            Pull::High => Some((part, ranges[part].1)),
        })
        .collect();
    let weights = |tilt: &RangedTilt| -> Vec<f64> {
        tilt.log_weights().iter().zip(offsets).map(|(t, offset)| t + offset).collect()
    };
    // All parts fixed fix the total, too: one weight too many, which the ridge of the Newton step takes care of.
    let variables = drawn.len() + usize::from(total.is_some());
    let (mut means, mut hessian) = moments(grams, &weights(tilt))?;
    for _ in 0..MAX_STEPS {
        let mut gradient: Vec<f64> = drawn.iter().map(|&(part, count)| means[part] - count as f64).collect();
        gradient.extend(total.map(|total| means.iter().sum::<f64>() - total as f64));
        if gradient.iter().map(|g| g.abs()).sum::<f64>() <= 0.5 * TOLERANCE {
            break;
        }
        let members = |at: usize| drawn.get(at).map_or(0..grams.len(), |&(part, _)| part..part + 1);
        let entry = |a: usize, b: usize| {
            members(a)
                .flat_map(|l| members(b).map(move |m| (l, m)))
                .map(|(l, m)| hessian[(l, m)])
                .sum::<f64>()
        };
        let step = newton_step(&Mat::from_fn(variables, variables, entry), &gradient);
        // Shortened until the imbalance falls: the objective is convex, so short steps do.
        let size = gradient.iter().map(|g| g * g).sum::<f64>();
        let mut length = 1.0;
        let accepted = loop {
            let mut next = tilt.clone();
            drawn.iter().zip(&step).for_each(|(&(part, _), d)| next.parts[part] += length * d);
            next.common += total.map_or(0.0, |_| length * step[variables - 1]);
            if let Some((means, hessian)) = moments(grams, &weights(&next)) {
                let off = |&(part, count): &(usize, usize)| (means[part] - count as f64).powi(2);
                let of_total = total.map_or(0.0, |total| (means.iter().sum::<f64>() - total as f64).powi(2));
                if drawn.iter().map(off).sum::<f64>() + of_total < size {
                    break Some((next, means, hessian));
                }
            }
            length *= 0.5;
            if length < 1e-6 {
                break None;
            }
        };
        let Some(found) = accepted else { break };
        (*tilt, means, hessian) = found;
    }
    Some(means)
}

/// E|S∩P_l| under the DPP, and their derivatives: with N_l = L⁻¹ e^{t_l} G_l L⁻ᵀ, LLᵀ = I + Σ e^{t_l} G_l, means are
/// tr N_l, derivatives δ_ab tr N_a − ⟨N_a, N_b⟩.
fn moments(grams: &[Mat<f64>], weights: &[f64]) -> Option<(Vec<f64>, Mat<f64>)> {
    let dims = grams[0].nrows();
    let identity = Mat::<f64>::identity(dims, dims);
    let sum: MatRef<'_, f64> = identity.as_ref();
    let factor = (sum + weighted_gram(grams, weights)).llt(Side::Lower).ok()?.L().to_owned();
    let whitened: Vec<Mat<f64>> = grams
        .iter()
        .zip(weights)
        .map(|(gram, t)| whiten(factor.as_ref(), gram * faer::Scale(t.exp())))
        .collect();
    let means: Vec<f64> = whitened.iter().map(|n| (0..dims).map(|j| n[(j, j)]).sum()).collect();
    let entry = |a: usize, b: usize| {
        let cross = inner_product(whitened[a].as_ref(), whitened[b].as_ref());
        if a == b { means[a] - cross } else { -cross }
    };
    let hessian = Mat::from_fn(grams.len(), grams.len(), entry);
    means.iter().all(|mean| mean.is_finite()).then_some((means, hessian))
}
