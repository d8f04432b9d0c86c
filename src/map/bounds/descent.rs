//! Descent on the bound, which finds the parameters of relaxations.

use faer::Mat;

use super::{
    choice::Choices,
    interior_point::{Bounded, is_over, maximise},
    relaxation::Relaxation,
};
use crate::{
    Error, Result,
    linalg::{column, column_mut, kernels},
};

/// The effort spent on the parameters of a relaxation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descent {
    pub(super) steps: usize,
    /// The share of the bound's excess over the target. The descent ends when a step gains less.
    pub(super) share: f64,
    pub(super) target: f64,
}

impl Descent {
    /// The least gain for a step to count.
    pub(super) fn least_gain(&self, bound: f64) -> f64 {
        const LEAST: f64 = 3e-5;
        let share = self.share * (bound - self.target);
        if share.is_finite() { share.max(LEAST) } else { LEAST }
    }
}

/// Relaxations of one problem that differ in their parameters ψ.
pub(super) trait Family {
    type Member: Relaxation;

    fn member(&self, parameters: &[f64]) -> Result<Self::Member>;

    /// The slope of the bound in ψ at a maximum x.
    fn slope(member: &Self::Member, x: &[f64], point: &Point<Self>) -> Vec<f64>;

    /// Roughly the inverse of the bound's second derivative in every ψ.
    fn metric(x: &[f64]) -> Vec<f64>;
}

type Point<F> = <<F as Family>::Member as Relaxation>::Point;

/// A bound and its ψ.
struct Tuned<F: Family + ?Sized> {
    parameters: Vec<f64>,
    member: F::Member,
    bounded: Bounded<Point<F>>,
}

impl<F: Family> Tuned<F> {
    fn slope(&self) -> Vec<f64> {
        F::slope(&self.member, &self.bounded.x, &self.bounded.point)
    }
}

/// Minimises the bound over ψ from a given ψ. Returns the best ψ and its bound.
///
/// # Source
/// Broyden, Fletcher, Goldfarb and Shanno: Nocedal and Wright, *Numerical optimization* (2006), chapter 6.
pub(super) fn descend<F: Family>(
    family: &F,
    choices: &Choices,
    parameters: &[f64],
    start: Option<Vec<f64>>,
    descent: Descent,
    enough: &dyn Fn(f64, f64) -> bool,
) -> Result<(Vec<f64>, Bounded<Point<F>>)> {
    const SHORTER: f64 = 0.3;
    const SHORTEST: f64 = 1e-3;
    /// The number of consecutive meagre steps after which the descent ends.
    const PATIENCE: usize = 2;
    let evaluate = |parameters: Vec<f64>, start: Option<Vec<f64>>| -> Result<Tuned<F>> {
        let member = family.member(&parameters)?;
        let bounded = maximise(&member, choices, start, enough)?;
        Ok(Tuned { parameters, member, bounded })
    };
    let mut best = evaluate(parameters.to_vec(), start)?;
    let is_done = |best: &Tuned<F>| best.bounded.upper_bound < descent.target || is_over(enough);
    if descent.steps == 0 || is_done(&best) {
        return Ok((best.parameters, best.bounded));
    }
    let (mut slope, mut metric) = (best.slope(), Metric::new(&F::metric(&best.bounded.x)));
    let mut steps = best.bounded.steps;
    let (mut length, mut meagre) = (1.0, 0);
    let mut lowest: Option<Tuned<F>> = None;
    for _ in 0..descent.steps {
        if is_done(&best) {
            break;
        }
        let direction = metric.direction(&slope);
        let moved: Vec<f64> =
            best.parameters.iter().zip(&direction).map(|(psi, d)| psi + length * d).collect();
        let other = match evaluate(moved, Some(best.bounded.x.clone())) {
            Err(Error::Eigen { .. }) => None,
            other => Some(other?),
        };
        steps += other.as_ref().map_or(0, |other| other.bounded.steps);
        // A relaxation that is solved only until its bound is below the target may be far from its maximum.
        let proves = |other: &Tuned<F>| other.bounded.upper_bound < descent.target;
        let falls = |other: &Tuned<F>| other.bounded.maximum < best.bounded.maximum;
        let Some(other) = other.filter(|other| proves(other) || falls(other)) else {
            length *= SHORTER;
            if length < SHORTEST {
                break;
            }
            continue;
        };
        if proves(&other) {
            best = other;
            break;
        }
        let difference =
            |new: &[f64], old: &[f64]| new.iter().zip(old).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let new_slope = other.slope();
        metric.update(&difference(&other.parameters, &best.parameters), &difference(&new_slope, &slope));
        slope = new_slope;
        let is_meagre =
            best.bounded.maximum - other.bounded.maximum < descent.least_gain(best.bounded.maximum);
        // With the best scales for rows, the bound may be below the relaxation's maximum, and rise while the maximum
        // falls.
        lowest = Some(lower(lowest, std::mem::replace(&mut best, other)));
        length = 1.0;
        meagre = if is_meagre { meagre + 1 } else { 0 };
        if meagre == PATIENCE {
            break;
        }
    }
    let Tuned { parameters, mut bounded, .. } = lower(lowest, best);
    bounded.steps = steps;
    Ok((parameters, bounded))
}

fn lower<F: Family>(known: Option<Tuned<F>>, other: Tuned<F>) -> Tuned<F> {
    match known {
        Some(known) if known.bounded.upper_bound <= other.bounded.upper_bound => known,
        _ => other,
    }
}

/// An approximation of the inverse of the second derivative.
struct Metric(Mat<f64>);

impl Metric {
    fn new(diagonal: &[f64]) -> Self {
        let size = diagonal.len();
        Self(Mat::from_fn(size, size, |i, j| if i == j { diagonal[i] } else { 0.0 }))
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
