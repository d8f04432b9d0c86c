//! The tilt of a DPP of any size.

use faer::{Mat, MatRef, Side};

use super::{
    Summand, Tilt, are_many, inner_product, line_search, newton_step,
    secant::{Secant, tolerance},
    weighted_gram, weighted_products,
};
use crate::linalg::{inverse_of_lower, whiten};

const TOLERANCE: f64 = 1e-3;
const MAX_STEPS: usize = 60;

/// Minimises the convex F(t) = ln det(C + Σ e^{t_l} G_l) − κ·t by damped Newton steps, from `start`.
///
/// With M = C + Σ y_l G_l = LLᵀ and N_l = y_l L⁻¹ G_l L⁻ᵀ: gradient_l = tr N_l − κ_l, Hessian_ab = δ_ab tr N_a −
/// ⟨N_a, N_b⟩. For many large groups, the Hessian is learnt from the gradients.
///
/// If parts are tight, the minimiser is at infinity. Every tilt is exact, so stopping at a small gradient, or when
/// `go_on` returns false, costs acceptance or precision, not correctness.
pub(crate) fn determinantal_tilt<G: Summand>(
    base: MatRef<'_, f64>,
    grams: &[G],
    quota: &[usize],
    start: Vec<f64>,
    go_on: &dyn Fn() -> bool,
) -> Tilt {
    let mut t = start;
    let Some((mut value, mut factor)) = evaluate(base, grams, quota, &t) else {
        return Tilt { log_weights: t, imbalance: f64::INFINITY };
    };
    let mut imbalance = f64::INFINITY;
    let is_learnt = are_many(grams.len(), base.nrows());
    let tolerance = tolerance(grams.len(), base.nrows(), TOLERANCE);
    let mut learnt = is_learnt.then(|| Secant::new(independent(quota, base.nrows())));
    for _ in 0..MAX_STEPS {
        let (gradient, hessian) = match &mut learnt {
            None => derivatives(grams, quota, &t, &factor),
            Some(learnt) => {
                let gradient = gradient(grams, quota, &t, &factor);
                let hessian = learnt.at(&t, &gradient).clone();
                (gradient, hessian)
            }
        };
        imbalance = gradient.iter().map(|g| g.abs()).sum();
        if imbalance <= tolerance {
            break;
        }
        let step = newton_step(&hessian, &gradient, &t);
        let search = line_search(&t, &step, &gradient, value, |point| {
            if !go_on() {
                return None;
            }
            evaluate(base, grams, quota, point).map(|(value, factor)| (value, (value, factor)))
        });
        let Some((point, state)) = search else { break };
        t = point;
        (value, factor) = state;
    }
    Tilt { log_weights: t, imbalance }
}

/// Weights at which every part alone has about its quota: t_l = ln(κ_l / tr G_l).
pub(super) fn by_trace<G: Summand>(grams: &[G], quota: &[usize]) -> Vec<f64> {
    grams.iter().zip(quota).map(|(gram, &count)| (count as f64 / gram.trace()).ln()).collect()
}

/// F(t) and the Cholesky factor of M.
fn evaluate<G: Summand>(
    base: MatRef<'_, f64>,
    grams: &[G],
    quota: &[usize],
    t: &[f64],
) -> Option<(f64, Mat<f64>)> {
    let factor = (base + weighted_gram(grams, t)).llt(Side::Lower).ok()?.L().to_owned();
    let log_det: f64 = (0..factor.nrows()).map(|j| 2.0 * factor[(j, j)].ln()).sum();
    let linear: f64 = t.iter().zip(quota).map(|(t, &count)| t * count as f64).sum();
    Some((log_det - linear, factor))
}

/// The Hessian as if all groups had the same directions: N_l = κ_l / n.
fn independent(quota: &[usize], dims: usize) -> Mat<f64> {
    let share = |a: usize| quota[a] as f64;
    // Positive definite, even if the quota takes all dimensions.
    let dims = dims as f64 + 1.0;
    Mat::from_fn(quota.len(), quota.len(), |a, b| {
        let own = if a == b { share(a) } else { 0.0 };
        own - share(a) * share(b) / dims
    })
}

/// tr N_l − κ_l = y_l ⟨G_l, M⁻¹⟩ − κ_l.
fn gradient<G: Summand>(grams: &[G], quota: &[usize], t: &[f64], factor: &Mat<f64>) -> Vec<f64> {
    let inverse = inverse_of_lower(factor.as_ref());
    let traces = weighted_products(grams, t, &(inverse.transpose() * &inverse));
    traces.iter().zip(quota).map(|(trace, &count)| trace - count as f64).collect()
}

fn derivatives<G: Summand>(
    grams: &[G],
    quota: &[usize],
    t: &[f64],
    factor: &Mat<f64>,
) -> (Vec<f64>, Mat<f64>) {
    let white = |(gram, t): (&G, &f64)| whiten(factor.as_ref(), &*gram.matrix() * faer::Scale(t.exp()));
    let whitened: Vec<Mat<f64>> = grams.iter().zip(t).map(white).collect();
    let traces: Vec<f64> = whitened.iter().map(|n| (0..n.nrows()).map(|j| n[(j, j)]).sum()).collect();
    let gradient = traces.iter().zip(quota).map(|(trace, &count)| trace - count as f64).collect();
    let parts = grams.len();
    let mut hessian = Mat::zeros(parts, parts);
    for a in 0..parts {
        for b in 0..=a {
            let cross = inner_product(whitened[a].as_ref(), whitened[b].as_ref());
            hessian[(a, b)] = if a == b { traces[a] - cross } else { -cross };
            hessian[(b, a)] = hessian[(a, b)];
        }
    }
    (gradient, hessian)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_need_no_second_derivatives() {
        let rows = |l: usize| Mat::from_fn(5, 3 + l, |i, j| ((l * 5 + i * 3 + j * j) as f64 * 0.7).cos());
        let grams: Vec<Mat<f64>> = (0..3).map(|l| rows(l) * rows(l).transpose()).collect();
        let (quota, t) = ([1, 2, 1], [0.4, -0.2, 1.1]);
        let base = Mat::identity(5, 5);
        let (_, factor) = evaluate(base.as_ref(), &grams, &quota, &t).unwrap();
        let (expected, _) = derivatives(&grams, &quota, &t, &factor);
        let found = gradient(&grams, &quota, &t, &factor);
        assert!(expected.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-13), "{expected:?} {found:?}");
    }
}
