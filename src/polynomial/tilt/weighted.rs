//! The tilt for weights of counts.

use faer::{Mat, Side};

use super::{Summand, Tilt, inner_product, line_search, newton_step, weighted_gram};
use crate::{Result, engine::Engine, linalg::whiten, model::CountWeights};

const TOLERANCE: f64 = 1e-3;
const MAX_STEPS: usize = 100;
/// Weights beyond e^±600 are clamped; every tilt is exact.
const FARTHEST: f64 = 600.0;

/// Finds the tilt for weights of counts.
///
/// It minimises the convex
///
/// ```text
/// F(t) = ln det(I + Σ e^(t_l + o_l) G_l) + Σ_l ln Σ_c w_l(c) e^(−c t_l)
/// ```
///
/// and returns ln of the weights of the given Gram matrices, t_l + o_l, with the `offsets` o_l of scaled rows.
///
/// At this tilt, the expected counts of the DPP match the means of counts c with probability ∝ w_l(c) e^(−c t_l), so
/// likely proposals are also likely to be accepted. Stopping early costs only acceptance.
pub(crate) fn weighted_tilt<G: Summand>(
    engine: &Engine,
    grams: &[G],
    offsets: &[f64],
    weights: &CountWeights,
) -> Result<Tilt> {
    let problem = Problem { grams, offsets, weights };
    let mut t = problem.start();
    let Some(mut state) = problem.at(&t) else { return Ok(problem.tilt(&t)) };
    for _ in 0..MAX_STEPS {
        if state.gradient.iter().map(|g| g.abs()).sum::<f64>() <= TOLERANCE {
            break;
        }
        engine.proceed()?;
        let step = newton_step(&state.hessian, &state.gradient, &t);
        let search = line_search(&t, &step, &state.gradient, state.value, |point| {
            problem.at(point).map(|state| (state.value, state))
        });
        let Some((point, next)) = search else { break };
        (t, state) = (point, next);
    }
    Ok(problem.tilt(&t))
}

struct Problem<'a, G> {
    grams: &'a [G],
    offsets: &'a [f64],
    weights: &'a CountWeights,
}

/// F and its derivatives at a point.
struct State {
    value: f64,
    gradient: Vec<f64>,
    hessian: Mat<f64>,
}

impl<G: Summand> Problem<'_, G> {
    fn log_weights(&self, t: &[f64]) -> Vec<f64> {
        t.iter().zip(self.offsets).map(|(t, offset)| (t + offset).clamp(-FARTHEST, FARTHEST)).collect()
    }

    fn tilt(&self, t: &[f64]) -> Tilt {
        Tilt { log_weights: self.log_weights(t), imbalance: 0.0 }
    }

    /// The minimiser for independent parts whose eigenvalues are all equal.
    fn start(&self) -> Vec<f64> {
        let of = |(group, gram): (usize, &G)| {
            let (dims, trace) = (gram.dims() as f64, gram.trace());
            let count = |t: f64| {
                let value = (t + self.offsets[group]).exp() * trace / dims;
                // ∞ / ∞ stands for a count of every dimension.
                if value.is_finite() { dims * value / (1.0 + value) } else { dims }
            };
            let (mut below, mut above) = (-FARTHEST, FARTHEST);
            for _ in 0..60 {
                let middle = 0.5 * (below + above);
                if count(middle) < self.weights.law(group, middle).mean {
                    below = middle;
                } else {
                    above = middle;
                }
            }
            above
        };
        self.grams.iter().enumerate().map(of).collect()
    }

    /// F and its derivatives, with N_l = L⁻¹ y_l G_l L⁻ᵀ and LLᵀ = I + Σ y_l G_l.
    ///
    /// Expected counts are tr N_l; their derivatives are δ_ab tr N_a − ⟨N_a, N_b⟩.
    fn at(&self, t: &[f64]) -> Option<State> {
        let log_weights = self.log_weights(t);
        let (groups, dims) = (self.grams.len(), self.grams[0].dims());
        let whole = Mat::<f64>::identity(dims, dims) + weighted_gram(self.grams, &log_weights);
        let factor = whole.llt(Side::Lower).ok()?.L().to_owned();
        let share = |(gram, t): (&G, &f64)| whiten(factor.as_ref(), &*gram.matrix() * faer::Scale(t.exp()));
        let shares: Vec<Mat<f64>> = self.grams.iter().zip(&log_weights).map(share).collect();
        let means: Vec<f64> = shares.iter().map(|n| (0..dims).map(|j| n[(j, j)]).sum()).collect();
        let laws: Vec<_> = t.iter().enumerate().map(|(group, &t)| self.weights.law(group, t)).collect();
        let log_det: f64 = (0..dims).map(|j| 2.0 * factor[(j, j)].ln()).sum();
        let value = log_det + laws.iter().map(|law| law.log_sum).sum::<f64>();
        let gradient: Vec<f64> = means.iter().zip(&laws).map(|(mean, law)| mean - law.mean).collect();
        let hessian = Mat::from_fn(groups, groups, |a, b| {
            let cross = inner_product(shares[a].as_ref(), shares[b].as_ref());
            if a == b { means[a] - cross + laws[a].variance } else { -cross }
        });
        (value.is_finite() && gradient.iter().all(|g| g.is_finite())).then_some(State {
            value,
            gradient,
            hessian,
        })
    }
}
