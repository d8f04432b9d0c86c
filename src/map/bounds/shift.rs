//! The Γ relaxation of a kernel of full rank, with a diagonal taken out of the kernel first.

use faer::Mat;

use super::{
    choice::Choices,
    dense::DenseKernel,
    gamma::{Gamma, GammaPoint},
    interior_point::{Bounded, maximise},
    relaxation::Value,
};
use crate::{
    Result,
    linalg::{column, eigen},
};

/// Kernels whose smallest eigenvalue is below this fraction of their largest do not have full rank here.
const FULL_RANK: f64 = 1e-10;

/// Γ with a diagonal D = diag(e^ψ) taken out of the kernel.
///
/// ```text
/// ln det K_S = Σ_{i∈S} ψ_i + ln det(I + B_S B_Sᵀ),   B Bᵀ = D^{−½} K D^{−½} − I
/// ```
///
/// for any D with K ⪰ D. The identity need not be relaxed, so only B goes through Γ; the more of K that is in D
/// the tighter. ψ is chosen by descent on the bound: D is scaled to be as large as K allows, and
///
/// ```text
/// ∂f/∂ψ_i = x_i − (G E K E)_ii,   E = diag(√x) D^{−½},   G = ∇Γ(E K E − diag(x))
/// ```
///
/// On the covariance of 63 monitoring stations (C63) this leaves a third to a sixth of the gap of Γ alone.
///
/// # Cost
/// O(m³) for a ψ, then as [`Gamma`].
///
/// # Source
/// A multiple of the identity: Li, *The augmented factorization bound for maximum-entropy sampling* (2024). A
/// diagonal, in other relaxations: Chen, Fampa and Lee, *Generalized scaling for the constrained maximum-entropy
/// sampling problem* (2024).
#[derive(Clone, Debug)]
pub(super) struct ShiftedGamma {
    pub(super) gamma: Gamma,
    /// ψ.
    pub(super) scaling: Vec<f64>,
    /// u_i², for the eigenvector of the eigenvalue that keeps D from being larger.
    smallest: Vec<f64>,
}

impl ShiftedGamma {
    /// With D as a multiple of diag(e^ψ); `None` where the kernel does not have full rank.
    pub(super) fn new(kernel: &DenseKernel, scaling: &[f64]) -> Result<Option<Self>> {
        let size = kernel.matrix.nrows();
        let factors: Vec<f64> = scaling.iter().map(|psi| (-0.5 * psi).exp()).collect();
        let scaled = Mat::from_fn(size, size, |i, j| kernel.matrix[(i, j)] * factors[i] * factors[j]);
        let spectrum = eigen(scaled.as_ref())?;
        let (largest, least) = (spectrum.values[0], spectrum.values[size - 1]);
        let largest_factor = factors.iter().copied().fold(0.0, f64::max);
        let error = kernel.error * largest_factor * largest_factor + size as f64 * f64::EPSILON * largest;
        if !(least > FULL_RANK * largest && least > 1e3 * error) {
            return Ok(None);
        }
        let root = |p: usize| ((spectrum.values[p] - least) / least).max(0.0).sqrt();
        let rows = Mat::from_fn(size - 1, size, |p, i| spectrum.vectors[(i, p)] * root(p));
        let scaling: Vec<f64> = scaling.iter().map(|psi| psi + least.ln()).collect();
        let linear = scaling.iter().zip(&kernel.weights).map(|(psi, weight)| psi + weight).collect();
        let smallest = column(spectrum.vectors.as_ref(), size - 1).iter().map(|u| u * u).collect();
        let shift = 1.0 + error / least;
        let gamma = Gamma { rows, linear, constant: kernel.constant, sets: kernel.sets, shift };
        Ok(Some(Self { gamma, scaling, smallest }))
    }

    /// The slope of the bound in ψ, at a maximum x.
    fn slope(&self, x: &[f64], point: &GammaPoint) -> Vec<f64> {
        let (split, coordinates) = (&point.split, point.coordinates.as_ref());
        let diagonal = |i: usize| 1.0 + coordinates.row(i).squared_norm_l2();
        let mut slope: Vec<f64> = (0..x.len()).map(|i| 1.0 - split.tail_slope * diagonal(i)).collect();
        for (p, own) in split.slopes.iter().enumerate() {
            let eigenvalue = point.eigenvalues[p];
            if eigenvalue <= 0.0 {
                continue;
            }
            for ((slope, y), x) in slope.iter_mut().zip(column(coordinates, p)).zip(x) {
                *slope -= (own - split.tail_slope) * y * y * (1.0 + x / eigenvalue);
            }
        }
        slope.iter_mut().zip(x).for_each(|(slope, x)| *slope *= x);
        // Scaling D to what the kernel allows moves all of ψ.
        let total: f64 = slope.iter().sum();
        slope.iter_mut().zip(&self.smallest).for_each(|(slope, u)| *slope -= u * total);
        slope
    }
}

/// How much to spend on ψ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descent {
    pub(super) steps: usize,
    /// Ends when a step gains less than this share of what the bound is above the target.
    pub(super) share: f64,
    pub(super) target: f64,
}

/// The best bound over ψ, from a given one, and the ψ.
pub(super) fn descend(
    kernel: &DenseKernel,
    choices: &Choices,
    scaling: &[f64],
    start: Option<Vec<f64>>,
    descent: Descent,
    enough: &dyn Fn(f64, &Value) -> bool,
) -> Result<Option<(ShiftedGamma, Bounded<GammaPoint>)>> {
    const LEAST_LENGTH: f64 = 0.05;
    let Some(mut relaxation) = ShiftedGamma::new(kernel, scaling)? else { return Ok(None) };
    let mut best = maximise(&relaxation.gamma, choices, start, enough)?;
    let mut length = 2.0;
    for _ in 0..descent.steps {
        if best.upper_bound < descent.target {
            break;
        }
        let slope = relaxation.slope(&best.x, &best.point);
        let scaling: Vec<f64> =
            relaxation.scaling.iter().zip(&slope).map(|(psi, slope)| psi - length * slope).collect();
        let Some(other) = ShiftedGamma::new(kernel, &scaling)? else { break };
        let mut bounded = maximise(&other.gamma, choices, Some(best.x.clone()), enough)?;
        bounded.steps += best.steps;
        let gain = best.upper_bound - bounded.upper_bound;
        if gain > 0.0 {
            let least = descent.share * (best.upper_bound - descent.target);
            (relaxation, best) = (other, bounded);
            length *= 1.3;
            if gain < least {
                break;
            }
        } else {
            best.steps = bounded.steps;
            length *= 0.4;
            if length < LEAST_LENGTH {
                break;
            }
        }
    }
    Ok(Some((relaxation, best)))
}
