//! The diagonal that is split off a kernel, by descent on the bound.

use faer::Mat;

use super::{
    choice::Choices,
    dense::DenseKernel,
    gamma::GammaPoint,
    interior_point::{Bounded, is_over, maximise},
    shift::ShiftedGamma,
};
use crate::{
    Result,
    linalg::{column, column_mut, kernels},
};

/// The effort spent on the parameters of a relaxation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descent {
    pub(super) steps: usize,
    /// The descent ends when a step gains less than this share of the bound's excess over the target.
    pub(super) share: f64,
    pub(super) target: f64,
}

impl Descent {
    /// The least gain of a step.
    pub(super) fn least_gain(&self, bound: f64) -> f64 {
        const LEAST: f64 = 3e-5;
        let share = self.share * (bound - self.target);
        if share.is_finite() { share.max(LEAST) } else { LEAST }
    }
}

/// A bound, and its ψ.
struct Tuned {
    scaling: Vec<f64>,
    relaxation: ShiftedGamma,
    bounded: Bounded<GammaPoint>,
}

/// Minimises the bound over ψ from a given ψ; returns the best ψ and its bound.
///
/// # Source
/// Broyden, Fletcher, Goldfarb and Shanno: Nocedal and Wright, *Numerical optimization* (2006), chapter 6.
pub(super) fn descend(
    kernel: &DenseKernel,
    choices: &Choices,
    scaling: &[f64],
    start: Option<Vec<f64>>,
    descent: Descent,
    enough: &dyn Fn(f64, f64) -> bool,
) -> Result<(Vec<f64>, Bounded<GammaPoint>)> {
    const SHORTER: f64 = 0.3;
    const SHORTEST: f64 = 1e-3;
    /// Meagre steps in a row after which the descent ends.
    const PATIENCE: usize = 2;
    let evaluate = |scaling: Vec<f64>, start: Option<Vec<f64>>| -> Result<Tuned> {
        let relaxation = ShiftedGamma::new(kernel, &scaling)?;
        let bounded = maximise(&relaxation.gamma, choices, start, enough)?;
        Ok(Tuned { scaling, relaxation, bounded })
    };
    let mut best = evaluate(scaling.to_vec(), start)?;
    let mut slope = best.relaxation.slope(&best.bounded.x, &best.bounded.point);
    let mut metric = Metric::new(scaling.len());
    let mut steps = best.bounded.steps;
    let (mut length, mut meagre) = (1.0, 0);
    for _ in 0..descent.steps {
        if best.bounded.upper_bound < descent.target || is_over(enough) {
            break;
        }
        let direction = metric.direction(&slope);
        let moved: Vec<f64> = best.scaling.iter().zip(&direction).map(|(psi, d)| psi + length * d).collect();
        let other = evaluate(moved, Some(best.bounded.x.clone()))?;
        steps += other.bounded.steps;
        let gain = best.bounded.upper_bound - other.bounded.upper_bound;
        if gain <= 0.0 {
            length *= SHORTER;
            if length < SHORTEST {
                break;
            }
            continue;
        }
        let new_slope = other.relaxation.slope(&other.bounded.x, &other.bounded.point);
        let difference =
            |new: &[f64], old: &[f64]| new.iter().zip(old).map(|(a, b)| a - b).collect::<Vec<f64>>();
        metric.update(&difference(&other.scaling, &best.scaling), &difference(&new_slope, &slope));
        let least = descent.least_gain(best.bounded.upper_bound);
        (best, slope, length) = (other, new_slope, 1.0);
        meagre = if gain < least { meagre + 1 } else { 0 };
        if meagre == PATIENCE {
            break;
        }
    }
    best.bounded.steps = steps;
    Ok((best.scaling, best.bounded))
}

/// An approximation of the inverse of the second derivative.
struct Metric(Mat<f64>);

impl Metric {
    /// A multiple of the identity.
    fn new(size: usize) -> Self {
        const SCALE: f64 = 4.0;
        Self(Mat::from_fn(size, size, |i, j| if i == j { SCALE } else { 0.0 }))
    }

    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; vector.len()];
        for (j, &value) in vector.iter().enumerate() {
            kernels::add_scaled(&mut out, value, column(self.0.as_ref(), j));
        }
        out
    }

    fn direction(&self, slope: &[f64]) -> Vec<f64> {
        /// The largest change of a ψ_i in one step.
        const FURTHEST: f64 = 1.0;
        let mut direction = self.times(slope);
        let largest = direction.iter().fold(0.0, |max, d| f64::max(max, d.abs()));
        kernels::scale(&mut direction, -(FURTHEST / largest.max(FURTHEST)));
        direction
    }

    /// H ← (I − s yᵀ/sᵀy) H (I − y sᵀ/sᵀy) + s sᵀ/sᵀy.
    fn update(&mut self, step: &[f64], change: &[f64]) {
        let along = kernels::dot(step, change);
        if along <= 1e-12 {
            return;
        }
        let image = self.times(change);
        let factor = (1.0 + kernels::dot(change, &image) / along) / along;
        for j in 0..step.len() {
            let column = column_mut(self.0.as_mut(), j);
            kernels::add_scaled(column, factor * step[j] - image[j] / along, step);
            kernels::add_scaled(column, -step[j] / along, &image);
        }
    }
}
