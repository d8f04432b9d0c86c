//! The weights of the parts that minimise the bound Γ.

use super::{
    Subproblem,
    choice::Choices,
    columns::Held,
    gamma::{Gamma, GammaPoint},
    interior_point::{Bounded, is_over, maximise},
    node::usable,
};
use crate::Result;

/// The most items for which weights are worth the time.
const MOST_ITEMS: usize = 150;
const MOST_STEPS: usize = 20;

/// Computes the logarithms of the part weights, at most 0, that about minimise the bound of the Γ relaxation.
///
/// ```text
/// ln det K_S = ln det (D K D)_S − Σ_l |S∩P_l| τ_l,   D_ii² = e^τ_l for i in part l
/// ∂f/∂τ_l = Σ_{i∈P_l} x_i (e^τ_l a_iᵀ ∇Γ a_i − 1)
/// ```
///
/// The bound holds for any τ. Under ranges it may be far off without weights: if items must be chosen from a part of
/// short rows, Γ spreads the lengths of the long rows over them. Under fixed counts all parts already have the same
/// scale.
///
/// # Cost
/// At most 20 relaxations.
///
/// # Source
/// Chen, Fampa and Lee, *Generalized scaling for the constrained maximum-entropy sampling problem* (2024). One weight
/// per part and the steps are this library's.
pub(crate) fn balance(problem: &Subproblem, enough: &dyn Fn(f64, f64) -> bool) -> Result<Vec<f64>> {
    const LEAST_GAIN: f64 = 1e-3;
    const LONGER: f64 = 1.5;
    const SHORTER: f64 = 0.3;
    const SHORTEST: f64 = 0.05;
    let nothing = vec![0.0; problem.counts.low.len()];
    if problem.counts.is_fixed() || nothing.len() == 1 {
        return Ok(nothing);
    }
    if problem.len() > MOST_ITEMS {
        // The longest rows represent all items.
        let mut longest = Held::new(problem).start();
        longest.sort_unstable();
        let part = problem.part(&longest);
        return if part.len() < problem.len() { balance(&part, enough) } else { Ok(nothing) };
    }
    let choices = Choices::of(problem);
    let close = |bound: f64, value: f64| bound - value < 0.1 * LEAST_GAIN || is_over(enough);
    let evaluate = |log_weights: Vec<f64>, start: Option<Vec<f64>>| -> Result<Weighted> {
        let gamma = Gamma::of(&problem.reweighted(&log_weights)).compressed();
        let bounded = maximise(&gamma, &choices, start, &close)?;
        Ok(Weighted { log_weights, gamma, bounded })
    };
    let Some(mut best) = usable(evaluate(nothing.clone(), None))? else { return Ok(nothing) };
    let (mut length, mut meagre) = (1.0, 0);
    for _ in 0..MOST_STEPS {
        if is_over(enough) || length < SHORTEST || meagre == 2 {
            break;
        }
        let other = evaluate(best.moved(&choices, length), Some(best.bounded.x.clone()));
        let Some(other) = usable(other)? else { break };
        let gain = best.bounded.maximum - other.bounded.maximum;
        if gain > 0.0 {
            (best, length) = (other, length * LONGER);
            meagre = if gain < LEAST_GAIN { meagre + 1 } else { 0 };
        } else {
            length *= SHORTER;
        }
    }
    Ok(best.log_weights)
}

/// A relaxation with weights, and its bound.
struct Weighted {
    log_weights: Vec<f64>,
    gamma: Gamma,
    bounded: Bounded<GammaPoint>,
}

impl Weighted {
    /// Moves the weights towards Σ x_i a_iᵀ ∇Γ a_i = Σ x_i in every part.
    fn moved(&self, choices: &Choices, length: f64) -> Vec<f64> {
        /// The largest change of a weight in one step.
        const FURTHEST: f64 = 3.0;
        let Bounded { x, point, .. } = &self.bounded;
        let slope = |i: usize| point.as_ref().gradient[i] - self.gamma.linear[i] - point.split.size_slope;
        let step = |items: &Vec<usize>| {
            let count: f64 = items.iter().map(|&i| x[i]).sum();
            let share: f64 = items.iter().map(|&i| x[i] * slope(i)).sum();
            let step = length * (count / share).ln();
            if step.is_finite() { step.clamp(-FURTHEST, FURTHEST) } else { 0.0 }
        };
        let moved = self.log_weights.iter().zip(&choices.groups).map(|(weight, items)| weight + step(items));
        let moved: Vec<f64> = moved.collect();
        // A common factor does not matter.
        let largest = moved.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        moved.into_iter().map(|weight| weight - largest).collect()
    }
}
