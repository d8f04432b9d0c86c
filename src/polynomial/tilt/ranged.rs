//! The tilt for ranges of counts.

use faer::{Mat, MatRef, Side};

use super::{
    Covariance, Moments, Summand, Tilt, Weighable,
    covariance::{FEW, Model},
    longest_step, weighted_gram,
};
use crate::{
    Result,
    engine::Engine,
    linalg::{inverse_of_lower, whiten},
    model::Counts,
};

/// Steps that lower F by less than this are not taken, since acceptance would increase by no more.
const TOLERANCE: f64 = 1e-4;
/// Relative rounding of an expected count.
const ROUNDING: f64 = 1e-9;
const MAX_STEPS: usize = 100;
const MAX_SWEEPS: usize = 200;
/// Groups between two checks of the watch.
const GROUPS: usize = 1024;
/// Weights beyond e^±600 are clamped; every tilt is exact.
const FARTHEST: f64 = 600.0;

/// Finds the tilt for ranges of counts.
///
/// It minimises the convex
///
/// ```text
/// F(t, u) = ln det(I + Σ e^(t_l + u + o_l) G_l) + Σ_l max(−lo_l t_l, −hi_l t_l) − k u
/// ```
///
/// with u = 0 unless the total k is fixed, and returns ln of the weights of the given Gram matrices, t_l + u + o_l.
/// The `offsets` o_l are the weights of the law itself, since the Gram matrices may be scaled. Stopping early costs
/// only acceptance.
///
/// Proximal Newton steps use the second-order model of the determinant, and take the kinks at t_l = 0 exactly. The
/// start is the minimiser for independent parts of unlimited rank, so parts may be any number of decades apart.
///
/// # Source
/// Lee, Sun and Saunders, *Proximal Newton-type methods for minimizing composite functions* (2014).
pub(crate) fn ranged_tilt<G: Summand>(
    engine: &Engine,
    grams: &[G],
    offsets: &[f64],
    ranges: &Counts,
) -> Result<Tilt> {
    tilt_of_ranges(engine, &Grams { grams, engine }, offsets, ranges)
}

/// Like [`ranged_tilt`], for counts that are other functions of the part weights.
///
/// F has their ln g in place of the determinant.
pub(crate) fn tilt_of_ranges(
    engine: &Engine,
    counts: &dyn Weighable,
    offsets: &[f64],
    ranges: &Counts,
) -> Result<Tilt> {
    let problem = Problem { counts, offsets, ranges };
    // If a range ends at the rank of its part, any weight is a minimiser: use none.
    if let Some(untilted) = problem.untilted()? {
        return Ok(untilted);
    }
    let mut point = problem.start();
    let Some(mut state) = problem.at(&point)? else { return Ok(problem.tilt(&point)) };
    for _ in 0..MAX_STEPS {
        let (step, promised) = problem.step(engine, &point, &state)?;
        if promised.is_nan() || promised < TOLERANCE {
            break;
        }
        let mut length = 1.0;
        let found = loop {
            engine.proceed()?;
            let next: Vec<f64> = point.iter().zip(&step).map(|(x, d)| x + length * d).collect();
            if let Some(found) = problem.at(&next)?
                && found.value <= state.value - 1e-4 * length * promised
            {
                break Some((next, found));
            }
            length *= 0.5;
            if length < 1e-6 {
                break None;
            }
        };
        let Some(found) = found else { break };
        (point, state) = found;
    }
    Ok(problem.tilt(&point))
}

/// A point is t_1 … t_p, and u if the total is fixed.
struct Problem<'a> {
    counts: &'a dyn Weighable,
    offsets: &'a [f64],
    ranges: &'a Counts,
}

/// F at a point, and its derivatives apart from the kinks.
struct State {
    value: f64,
    gradient: Vec<f64>,
    moments: Moments,
}

impl Problem<'_> {
    fn groups(&self) -> usize {
        self.offsets.len()
    }

    fn log_weights(&self, point: &[f64]) -> Vec<f64> {
        let (t, u) = point.split_at(self.groups());
        let common = u.first().copied().unwrap_or_default();
        let weight = |(t, offset): (&f64, &f64)| (t + common + offset).clamp(-FARTHEST, FARTHEST);
        t.iter().zip(self.offsets).map(weight).collect()
    }

    fn tilt(&self, point: &[f64]) -> Tilt {
        Tilt { log_weights: self.log_weights(point), imbalance: 0.0 }
    }

    /// The zero tilt if the expected counts are in their ranges without a tilt; it is then the minimiser.
    fn untilted(&self) -> Result<Option<Tilt>> {
        let point = vec![0.0; self.groups()];
        if self.ranges.total().is_some() {
            return Ok(None);
        }
        let Some(State { gradient, .. }) = self.at(&point)? else { return Ok(None) };
        let within = |(group, mean): (usize, &f64)| {
            let (low, high) = (self.ranges.low[group] as f64, self.ranges.high[group] as f64);
            low <= mean * (1.0 + ROUNDING) && mean * (1.0 - ROUNDING) <= high
        };
        Ok(gradient.iter().enumerate().all(within).then(|| self.tilt(&point)))
    }

    /// Weights for counts e^(t + u + o) tr G clamped to the range of every part.
    ///
    /// If the total is fixed, u is such that these counts sum to it.
    fn start(&self) -> Vec<f64> {
        let (low, high) = (&self.ranges.low, &self.ranges.high);
        let traces = self.counts.log_traces();
        let logs: Vec<f64> = traces.iter().zip(self.offsets).map(|(log, offset)| log + offset).collect();
        let real = |group: usize| logs[group] > f64::NEG_INFINITY;
        // ln of the count at a common weight.
        let count = |group: usize, common: f64| {
            let (low, high) = ((low[group] as f64).ln(), (high[group] as f64).ln());
            if real(group) { (logs[group] + common).max(low).min(high) } else { f64::NEG_INFINITY }
        };
        let common = self.ranges.total().map(|total| {
            let all = |common: f64| (0..logs.len()).map(|group| count(group, common).exp()).sum::<f64>();
            let ends = logs.iter().filter(|log| log.is_finite()).map(|log| -log);
            let (mut below, mut above) =
                ends.fold((0.0_f64, 0.0_f64), |(least, most), x| (least.min(x), most.max(x)));
            (below, above) = (below - 10.0, above + (total as f64).ln() + 10.0);
            for _ in 0..60 {
                let middle = 0.5 * (below + above);
                if all(middle) < total as f64 { below = middle } else { above = middle }
            }
            above
        });
        let weight = |group: usize| {
            let common = common.unwrap_or_default();
            if real(group) { count(group, common) - logs[group] - common } else { 0.0 }
        };
        (0..logs.len()).map(weight).chain(common).collect()
    }

    /// max(−lo t, −hi t).
    fn kink(&self, group: usize, t: f64) -> f64 {
        (-(self.ranges.low[group] as f64) * t).max(-(self.ranges.high[group] as f64) * t)
    }

    /// F and its derivatives at a point.
    ///
    /// Derivatives by u are sums over all groups.
    fn at(&self, point: &[f64]) -> Result<Option<State>> {
        let groups = self.groups();
        let found = self.counts.moments(&self.log_weights(point))?;
        let Some(moments) = found else { return Ok(None) };
        let mut value = moments.log_value;
        value += (0..groups).map(|group| self.kink(group, point[group])).sum::<f64>();
        let mut gradient = moments.means.clone();
        if let Some(total) = self.ranges.total() {
            value -= total as f64 * point[groups];
            gradient.push(gradient.iter().sum::<f64>() - total as f64);
        }
        let is_finite = value.is_finite() && gradient.iter().all(|g| g.is_finite());
        Ok(is_finite.then_some(State { value, gradient, moments }))
    }

    /// Minimises the second-order model with its kinks, one variable at a time.
    ///
    /// No variable moves by more than [`longest_step`]. Also returns by how much the step lowers the model without
    /// its second order.
    ///
    /// # Errors
    /// Errors of the engine.
    fn step(&self, engine: &Engine, point: &[f64], state: &State) -> Result<(Vec<f64>, f64)> {
        let groups = self.groups();
        let covariance = self.counts.covariance(&self.log_weights(point), &state.moments)?;
        let gradient = &state.gradient;
        let mut model = Model::new(gradient, &covariance);
        for _ in 0..MAX_SWEEPS {
            let mut moved: f64 = 0.0;
            for (a, &at) in point.iter().enumerate() {
                if a.is_multiple_of(GROUPS) {
                    engine.proceed()?;
                }
                let (slope, curvature) = (model.slope(a), model.curvature(a));
                let wanted = if a < groups {
                    self.along_kink(a, at + model.step[a], slope, curvature)
                } else {
                    -slope / curvature
                };
                let most = longest_step(at);
                let change = (model.step[a] + wanted).clamp(-most, most) - model.step[a];
                model.change(a, change);
                moved = moved.max(change.abs());
            }
            if moved < 1e-4 {
                break;
            }
        }
        let step = model.step;
        let smooth: f64 = step.iter().zip(gradient).map(|(d, g)| d * g).sum();
        let kinks: f64 = (0..groups).map(|l| self.kink(l, point[l] + step[l]) - self.kink(l, point[l])).sum();
        Ok((step, -(smooth + kinks)))
    }

    /// The x that minimises slope·x + curvature·x²/2 + kink(t + x).
    fn along_kink(&self, group: usize, t: f64, slope: f64, curvature: f64) -> f64 {
        let to = |count: usize| (count as f64 - slope) / curvature;
        let (above, below) = (to(self.ranges.low[group]), to(self.ranges.high[group]));
        if t + above > 0.0 {
            above
        } else if t + below < 0.0 {
            below
        } else {
            -t
        }
    }
}

/// Gram matrices of the groups with weight 1.
struct Grams<'a, G> {
    grams: &'a [G],
    engine: &'a Engine,
}

impl<G: Summand> Grams<'_, G> {
    /// L with LLᵀ = I + Σ y_l G_l, and ln of the squared determinant of L.
    fn factor(&self, log_weights: &[f64]) -> Option<(Mat<f64>, f64)> {
        let dims = self.grams[0].dims();
        let identity = Mat::<f64>::identity(dims, dims);
        let sum: MatRef<'_, f64> = identity.as_ref();
        let factor = (sum + weighted_gram(self.grams, log_weights)).llt(Side::Lower).ok()?;
        let factor = factor.L().to_owned();
        let log_value = (0..dims).map(|j| 2.0 * factor[(j, j)].ln()).sum();
        Some((factor, log_value))
    }
}

impl<G: Summand> Weighable for Grams<'_, G> {
    fn log_traces(&self) -> Vec<f64> {
        self.grams.iter().map(|gram| gram.trace().ln()).collect()
    }

    /// The moments, with N_l = L⁻¹ y_l G_l L⁻ᵀ and LLᵀ = I + Σ y_l G_l.
    ///
    /// Expected counts are tr N_l; their derivatives are δ_ab tr N_a − ⟨N_a, N_b⟩. For many groups only the traces
    /// are computed, as ⟨y_l G_l, L⁻ᵀ L⁻¹⟩.
    fn moments(&self, log_weights: &[f64]) -> Result<Option<Moments>> {
        let Some((factor, log_value)) = self.factor(log_weights) else { return Ok(None) };
        if self.grams.len() > FEW {
            let inverse = inverse_of_lower(factor.as_ref());
            let inverse = inverse.transpose() * &inverse;
            let mut means = Vec::with_capacity(self.grams.len());
            for (at, (gram, t)) in self.grams.iter().zip(log_weights).enumerate() {
                if at % GROUPS == 0 {
                    self.engine.proceed()?;
                }
                means.push(t.exp() * gram.product(&inverse));
            }
            let (shares, variances) = (Vec::new(), Vec::new());
            return Ok(Some(Moments { log_value, means, shares, variances }));
        }
        let white = |(gram, t): (&G, &f64)| whiten(factor.as_ref(), &*gram.matrix() * faer::Scale(t.exp()));
        let shares: Vec<Mat<f64>> = self.grams.iter().zip(log_weights).map(white).collect();
        let means: Vec<f64> = shares.iter().map(|n| (0..n.nrows()).map(|j| n[(j, j)]).sum()).collect();
        Ok(Some(Moments { log_value, variances: means.clone(), means, shares }))
    }

    fn covariance(&self, log_weights: &[f64], moments: &Moments) -> Result<Covariance> {
        match moments.shares.is_empty().then(|| self.factor(log_weights)).flatten() {
            Some((factor, _)) => {
                let of = (self.grams, log_weights);
                Covariance::packed(moments.means.clone(), factor.as_ref(), of, &|| self.engine.proceed())
            }
            None => Ok(Covariance::whole(&moments.variances, &moments.shares)),
        }
    }
}
