//! Part weights y = e^t that make the quota the expected counts.
//!
//! Multiplying part l by y_l does not change the law given the counts, only which counts are likely. The
//! determinantal tilt makes E|S∩P_l| = κ_l under the DPP. The homogeneous tilt does so under the k-DPP; the
//! acceptance bound holds at it.

mod covariance;
mod determinantal;
mod homogeneous;
mod ranged;
mod ridge;
mod secant;
mod weighted;

use faer::{Mat, prelude::Solve};

use covariance::Covariance;
pub(crate) use determinantal::determinantal_tilt;
pub(crate) use homogeneous::homogeneous_tilt;
pub(crate) use ranged::ranged_tilt;
use ranged::tilt_of_ranges;
pub(crate) use ridge::ridge_tilt;
pub(crate) use secant::are_many;
pub(crate) use weighted::weighted_tilt;

use super::gram::Summand;
pub(crate) use super::gram::inner_product;
use crate::{Result, parallel::map_ordered};

/// Logarithms of the part weights.
#[derive(Clone, Debug)]
pub(crate) struct Tilt {
    /// t_l = ln y_l.
    pub(crate) log_weights: Vec<f64>,
    /// Σ_l |E|S∩P_l| − κ_l| at the end of the iteration.
    pub(crate) imbalance: f64,
}

impl Tilt {
    /// Weight 1 for a single group.
    pub(crate) fn neutral(groups: usize) -> Self {
        Self { log_weights: vec![0.0; groups], imbalance: 0.0 }
    }

    /// Whether coordinates graded for equal weights are also graded for these weights.
    pub(crate) fn are_alike(&self) -> bool {
        /// A factor of e^8 costs only digits that are not needed.
        const ALIKE: f64 = 8.0;
        let ends = |(low, high): (f64, f64), &t: &f64| (low.min(t), high.max(t));
        let (low, high) = self.log_weights.iter().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
        high - low <= ALIKE
    }

    /// √y_l.
    pub(crate) fn root_weights(&self) -> Vec<f64> {
        self.log_weights.iter().map(|t| (0.5 * t).exp()).collect()
    }
}

/// Part counts as functions of the part weights.
pub(crate) trait Weighable {
    /// ln of the expected counts at weight 1, if they grew in proportion to the weights.
    fn log_traces(&self) -> Vec<f64>;

    /// The generating function at weights e^w, and its first derivatives; `None` if they exceed f64.
    ///
    /// # Errors
    /// Errors of the engine.
    fn moments(&self, log_weights: &[f64]) -> Result<Option<Moments>>;

    /// The second derivatives at these weights, given their moments.
    ///
    /// # Errors
    /// Errors of the engine.
    fn covariance(&self, log_weights: &[f64], moments: &Moments) -> Result<Covariance>;
}

/// ln g(e^w), and its first derivatives by w.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    pub(crate) log_value: f64,
    pub(crate) means: Vec<f64>,
    /// N_l of every group; empty if they are left out for many groups.
    shares: Vec<Mat<f64>>,
    /// v_l of every group, as in [`Covariance`]: the variance of its count is v_l − ⟨N_l, N_l⟩.
    variances: Vec<f64>,
}

/// y_l ⟨G_l, X⟩ of every group.
fn weighted_products<G: Summand>(grams: &[G], log_weights: &[f64], form: &Mat<f64>) -> Vec<f64> {
    map_ordered(grams.len(), |l| log_weights[l].exp() * grams[l].product(form))
}

/// C = Σ y_l G_l.
pub(crate) fn weighted_gram<G: Summand>(grams: &[G], log_weights: &[f64]) -> Mat<f64> {
    let weights: Vec<f64> = log_weights.iter().map(|t| t.exp()).collect();
    G::sum(grams, &weights)
}

/// The largest change of a t_l near 0 in one step, which changes a weight at most twentyfold.
const MAX_STEP: f64 = 3.0;

/// The largest change of a t_l in one step.
///
/// It is a quarter of t if that is more, since far out the way is long, and too long a step is halved.
fn longest_step(t: f64) -> f64 {
    MAX_STEP.max(0.25 * t.abs())
}

/// Solves (H + ridge) d = −g for a positive semidefinite H, and shortens d to the longest step allowed from t.
fn newton_step(hessian: &Mat<f64>, gradient: &[f64], t: &[f64]) -> Vec<f64> {
    let parts = gradient.len();
    let trace: f64 = (0..parts).map(|l| hessian[(l, l)]).sum();
    let ridge = 1e-10 * trace + f64::MIN_POSITIVE;
    let regular = Mat::from_fn(parts, parts, |a, b| hessian[(a, b)] + if a == b { ridge } else { 0.0 });
    let right = Mat::from_fn(parts, 1, |l, _| -gradient[l]);
    let step = regular.partial_piv_lu().solve(&right);
    let longest = (0..parts).map(|l| step[(l, 0)].abs()).fold(0.0, f64::max);
    let most = t.iter().map(|&t| longest_step(t)).fold(MAX_STEP, f64::max);
    if !longest.is_finite() {
        // The system is singular, so move every weight against its gradient.
        return gradient.iter().map(|g| -g.signum()).collect();
    }
    let shrink = (most / longest).min(1.0);
    (0..parts).map(|l| step[(l, 0)] * shrink).collect()
}

/// Halves the step until `objective` decreases enough, and returns the point and its state.
fn line_search<S>(
    start: &[f64],
    step: &[f64],
    gradient: &[f64],
    value: f64,
    mut evaluate: impl FnMut(&[f64]) -> Option<(f64, S)>,
) -> Option<(Vec<f64>, S)> {
    let slope: f64 = step.iter().zip(gradient).map(|(d, g)| d * g).sum();
    let mut length = 1.0;
    for _ in 0..30 {
        let point: Vec<f64> = start.iter().zip(step).map(|(t, d)| t + length * d).collect();
        if let Some((found, state)) = evaluate(&point) {
            // Near the minimum rounding hides the decrease, so allow for it.
            if found <= value + 1e-4 * length * slope + 1e-12 * (1.0 + value.abs()) {
                return Some((point, state));
            }
        }
        length *= 0.5;
    }
    None
}
