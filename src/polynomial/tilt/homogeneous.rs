//! The tilt of the k-DPP, at which the acceptance bound holds.

use faer::Mat;

use super::{
    Summand, Tilt, are_many,
    determinantal::{by_trace, determinantal_tilt},
    inner_product, line_search, newton_step,
    secant::{Secant, tolerance},
    weighted_gram, weighted_products,
};
use crate::{
    Result,
    engine::Engine,
    linalg::{self, Grading},
    polynomial::ConditionalBernoulli,
};

const TOLERANCE: f64 = 1e-4;
const MAX_STEPS: usize = 40;

/// Minimises the convex F(t) = ln e_k(spec Σ e^{t_l} G_l) − κ·t, starting from the determinantal tilt.
///
/// The gradient is exactly the k-DPP's expected part counts minus κ. The Hessian, their covariance, is approximated
/// by the covariance of the DPP with the same expected size, conditioned on its size. Steps are thus quasi-Newton,
/// and a few suffice. For many large groups, the Hessian is learnt from the gradients.
///
/// # Source
/// Gurvits, *Van der Waerden/Schrijver–Valiant like conjectures and stable homogeneous
/// polynomials* (2008): the minimum is the capacity of the wanted coefficient.
pub(crate) fn homogeneous_tilt<G: Summand>(
    engine: &Engine,
    grams: &[G],
    quota: &[usize],
    grading: Grading,
) -> Result<Tilt> {
    let dims = grams[0].dims();
    let identity = Mat::identity(dims, dims);
    let go_on = || engine.proceed().is_ok();
    let start = by_trace(grams, quota);
    let mut t = determinantal_tilt(identity.as_ref(), grams, quota, start, &go_on).log_weights;
    engine.proceed()?;
    if grams.len() == 1 {
        return Ok(Tilt { log_weights: t, imbalance: 0.0 });
    }
    let how = (grading, are_many(grams.len(), dims));
    let tolerance = tolerance(grams.len(), dims, TOLERANCE);
    let mut state = State::at(engine, grams, quota, &t, how)?;
    let mut imbalance = f64::INFINITY;
    let mut learnt = Secant::new(independent(quota));
    for _ in 0..MAX_STEPS {
        let gradient: Vec<f64> =
            state.counts.iter().zip(quota).map(|(count, &wanted)| count - wanted as f64).collect();
        imbalance = gradient.iter().map(|g| g.abs()).sum();
        if imbalance <= tolerance {
            break;
        }
        let hessian = state.hessian.as_ref().unwrap_or_else(|| learnt.at(&t, &gradient));
        let step = newton_step(hessian, &gradient, &t);
        engine.proceed()?;
        let search = line_search(&t, &step, &gradient, state.value, |point| {
            State::at(engine, grams, quota, point, how).ok().map(|state| (state.value, state))
        });
        let Some((point, next)) = search else { break };
        (t, state) = (point, next);
    }
    engine.proceed()?;
    Ok(Tilt { log_weights: t, imbalance })
}

/// F and its derivatives at one point.
struct State {
    value: f64,
    /// E|S∩P_l| under the tilted k-DPP.
    counts: Vec<f64>,
    /// `None` for many large groups.
    hessian: Option<Mat<f64>>,
}

impl State {
    /// Omits the Hessian if it is to be learnt.
    fn at<G: Summand>(
        engine: &Engine,
        grams: &[G],
        quota: &[usize],
        t: &[f64],
        (grading, is_learnt): (Grading, bool),
    ) -> Result<Self> {
        engine.proceed()?;
        let k: usize = quota.iter().sum();
        let eigen = linalg::eigen_graded(weighted_gram(grams, t).as_ref(), grading, || engine.proceed())?;
        let noise = eigen.values.len() as f64 * f64::EPSILON * eigen.values[0];
        let floor = if grading == Grading::None { noise } else { 0.0 };
        let rank =
            eigen.values.iter().take_while(|&&value| value > floor).count().max(k.min(eigen.values.len()));
        let values: Vec<f64> = eigen.values[..rank].iter().map(|value| value.max(floor)).collect();
        let law = ConditionalBernoulli::new(&values, k)?;
        let linear: f64 = t.iter().zip(quota).map(|(t, &count)| t * count as f64).sum();

        // N_l = Λ^-½ Uᵀ y_l G_l U Λ^-½: the share of part l in each eigenvector; Σ N_l = I.
        let factors: Vec<f64> = values.iter().map(|value| value.sqrt().recip()).collect();
        let whitener = linalg::scale_columns(eigen.vectors.subcols(0, rank), &factors);
        let (value, inclusion) = (law.log_normalizer() - linear, law.inclusion_probabilities());
        if is_learnt {
            let form = linalg::scale_columns(whitener.as_ref(), &inclusion) * whitener.transpose();
            return Ok(Self { value, counts: weighted_products(grams, t, &form), hessian: None });
        }
        let shares: Vec<Mat<f64>> = grams
            .iter()
            .zip(t)
            .map(|(gram, t)| whitener.transpose() * ((&*gram.matrix() * &whitener) * faer::Scale(t.exp())))
            .collect();
        let counts =
            shares.iter().map(|share| (0..rank).map(|j| inclusion[j] * share[(j, j)]).sum()).collect();
        Ok(Self { value, counts, hessian: Some(conditional_covariance(&shares, &law.odds())) })
    }
}

/// The covariance if every pick came from part l with probability κ_l / k, plus a term along (1, …, 1).
fn independent(quota: &[usize]) -> Mat<f64> {
    let (parts, k) = (quota.len() as f64, quota.iter().sum::<usize>() as f64);
    let share = |a: usize| quota[a] as f64;
    Mat::from_fn(quota.len(), quota.len(), |a, b| {
        let own = if a == b { share(a) } else { 0.0 };
        own - share(a) * share(b) / k + k / (parts * parts)
    })
}

/// The covariance of the part counts of the DPP with eigenvalues b, conditioned on its size to second order.
///
/// A term along (1, …, 1), in which F is constant, is added.
fn conditional_covariance(shares: &[Mat<f64>], odds: &[f64]) -> Mat<f64> {
    let parts = shares.len();
    let roots: Vec<f64> = odds.iter().map(|b| b.sqrt()).collect();
    let scaled: Vec<Mat<f64>> = shares
        .iter()
        .map(|share| Mat::from_fn(share.nrows(), share.ncols(), |i, j| roots[i] * share[(i, j)] * roots[j]))
        .collect();
    let mut covariance =
        Mat::from_fn(parts, parts, |a, b| -inner_product(scaled[a].as_ref(), scaled[b].as_ref()));
    for a in 0..parts {
        covariance[(a, a)] += (0..odds.len()).map(|j| scaled[a][(j, j)]).sum::<f64>();
    }
    let sums: Vec<f64> = (0..parts).map(|a| (0..parts).map(|b| covariance[(a, b)]).sum()).collect();
    let total: f64 = sums.iter().sum();
    let trace: f64 = (0..parts).map(|a| covariance[(a, a)]).sum();
    let along = if total > 1e-12 * trace { total.recip() } else { 0.0 };
    Mat::from_fn(parts, parts, |a, b| {
        covariance[(a, b)] - along * sums[a] * sums[b] + trace / (parts * parts) as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grams() -> Vec<Mat<f64>> {
        let entry =
            |l: usize, i: usize, j: usize| ((l * 7 + i * i * 3 + j * j * (i + 1)) as f64 * 1.3 + 0.2).sin();
        let rows = |l: usize| Mat::from_fn(6, 4 + l, |i, j| entry(l, i, j));
        (0..3).map(|l| rows(l) * rows(l).transpose()).collect()
    }

    /// Counts from one product with every Gram matrix equal counts from the shares, and lead to the same tilt.
    #[test]
    fn learnt_curvature_finds_the_same_tilt() {
        let (grams, quota, engine) = (grams(), [2, 1, 1], Engine::host());
        let t = [0.3, -0.8, 0.1];
        let at = |learnt| State::at(engine, &grams, &quota, &t, (Grading::None, learnt)).unwrap();
        let (exact, learnt) = (at(false), at(true));
        assert!((exact.value - learnt.value).abs() < 1e-14 && learnt.hessian.is_none());
        assert!(
            exact.counts.iter().zip(&learnt.counts).all(|(a, b)| (a - b).abs() < 1e-9),
            "{:?} {:?}",
            exact.counts,
            learnt.counts
        );
        let tilt = homogeneous_tilt(engine, &grams, &quota, Grading::None).unwrap().log_weights;
        let mut secant = Secant::new(independent(&quota));
        let mut t = vec![0.0; 3];
        for _ in 0..20 {
            let state = State::at(engine, &grams, &quota, &t, (Grading::None, true)).unwrap();
            let gradient: Vec<f64> =
                state.counts.iter().zip(quota).map(|(count, wanted)| count - wanted as f64).collect();
            let step = newton_step(secant.at(&t, &gradient), &gradient, &t);
            t.iter_mut().zip(step).for_each(|(t, step)| *t += step);
        }
        // Equal up to a common factor.
        let gaps: Vec<f64> = t.iter().zip(&tilt).map(|(a, b)| a - b).collect();
        assert!(gaps.iter().all(|gap| (gap - gaps[0]).abs() < 1e-4), "{gaps:?}");
    }
}
