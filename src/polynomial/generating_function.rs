//! The generating function of part counts at a tilt: small, real, and normalised.

use faer::{Mat, MatRef, Par, Side, linalg::triangular_solve::solve_lower_triangular_in_place};

use super::{
    ConditionalBernoulli, CountLaws,
    poisson_binomial::poisson_binomial,
    spectrum::TiltedSpectrum,
    tilt::{Tilt, determinantal_tilt, weighted_gram},
};
use crate::{
    Error, Result,
    estimate::REFUSED,
    linalg::{self, complement, sigmoid, softplus, whiten},
};

/// E Π z_l^{|S∩P_l|} under a DPP, as a determinant.
///
/// ```text
/// φ(z) = det(C + Σ_l z_l N_l) = g(zy)/g(y),   C + Σ_l N_l = I,   N_l = Σ_{i∈P_l} u_i u_iᵀ
/// ```
///
/// The rows u_i = w_l s_l Mᵀ a_i give the marginal kernel of the DPP: Pr(i ∈ S) = ‖u_i‖².
#[derive(Clone, Debug)]
pub(crate) struct GeneratingFunction {
    /// C, r×r.
    base: Mat<f64>,
    /// N_l, r×r, one per group.
    pub(crate) shares: Vec<Mat<f64>>,
    /// M, n×r.
    pub(crate) map: Mat<f64>,
    /// w_l.
    pub(crate) weights: Vec<f64>,
}

/// The normalisation of φ: g(y), and the weights y.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    /// ln g(y).
    log_value: f64,
    /// ln y_l for the rows as given (not scaled).
    log_weights: Vec<f64>,
}

impl Reference {
    /// ln g(y).
    pub(crate) fn log_value(&self) -> f64 {
        self.log_value
    }

    /// ln y_l for the rows as given.
    pub(crate) fn log_weights(&self) -> &[f64] {
        &self.log_weights
    }

    /// ln of a coefficient of g from the same coefficient of φ.
    pub(crate) fn log_coefficient(&self, counts: &[usize], coefficient: f64) -> f64 {
        let linear: f64 = self.log_weights.iter().zip(counts).map(|(t, &count)| t * count as f64).sum();
        coefficient.ln() + self.log_value - linear
    }
}

impl GeneratingFunction {
    /// The DPP of expected size k on weighted rows, whose scales are `scales`.
    pub(crate) fn of_size(spectrum: &TiltedSpectrum, scales: &[f64], k: usize) -> Result<(Self, Reference)> {
        let coins = ConditionalBernoulli::new(&spectrum.spectrum.values, k)?;
        let (log_value, log_scale) = coins.log_mass();
        let function = Self::with_coins(spectrum, &coins.odds(), &coins.failures());
        function.relative_to(spectrum, scales, log_value, log_scale)
    }

    /// The DPP itself, on weighted rows.
    ///
    /// Eigenvector j is used with probability λ_j/(1+λ_j), where λ is scaled by e^`log_scale`.
    pub(crate) fn of_free_size(
        spectrum: &TiltedSpectrum,
        scales: &[f64],
        log_scale: f64,
    ) -> Result<(Self, Reference)> {
        let logs = spectrum.spectrum.values.iter().map(|value| value.ln() + log_scale);
        let success: Vec<f64> = logs.clone().map(sigmoid).collect();
        let failure: Vec<f64> = logs.clone().map(|log| sigmoid(-log)).collect();
        let log_value = logs.map(softplus).sum();
        Self::with_coins(spectrum, &success, &failure).relative_to(spectrum, scales, log_value, log_scale)
    }

    /// C = diag(1 − b) and N_l = B^½ W_l B^½ for whitened shares W_l, not yet normalised.
    fn with_coins(spectrum: &TiltedSpectrum, success: &[f64], failure: &[f64]) -> Self {
        let roots: Vec<f64> = success.iter().map(|b| b.sqrt()).collect();
        let rank = roots.len();
        let scaled = |share: Mat<f64>| Mat::from_fn(rank, rank, |i, j| roots[i] * share[(i, j)] * roots[j]);
        Self {
            base: Mat::from_fn(rank, rank, |i, j| if i == j { failure[i] } else { 0.0 }),
            shares: spectrum.shares().into_iter().map(scaled).collect(),
            map: linalg::scale_columns(spectrum.spectrum.whitener().as_ref(), &roots),
            weights: spectrum.tilt.root_weights(),
        }
    }

    fn relative_to(
        self,
        spectrum: &TiltedSpectrum,
        scales: &[f64],
        log_value: f64,
        log_scale: f64,
    ) -> Result<(Self, Reference)> {
        // C + Σ N_l is the identity up to rounding, unless rounding dominates.
        let lost = Error::IllConditioned { deviation: f64::INFINITY, tolerance: REFUSED };
        let (function, log_det) = self.normalised().ok_or(lost)?;
        let log_weights = spectrum.tilt.log_weights.iter().zip(scales);
        let log_weights = log_weights.map(|(t, scale)| t + log_scale + 2.0 * scale.ln()).collect();
        Ok((function, Reference { log_value: log_value + log_det, log_weights }))
    }

    /// The function in coordinates with C + Σ N_l = I, and ln det(C + Σ N_l) in the previous ones.
    fn normalised(self) -> Option<(Self, f64)> {
        let whole = &self.base + weighted_gram(&self.shares, &vec![0.0; self.shares.len()]);
        let factor = whole.llt(Side::Lower).ok()?.L().to_owned();
        let log_det = (0..factor.nrows()).map(|j| 2.0 * factor[(j, j)].ln()).sum();
        let mut map = self.map.transpose().to_owned();
        solve_lower_triangular_in_place(factor.as_ref(), map.as_mut(), Par::Seq);
        let whitened = |matrix: Mat<f64>| whiten(factor.as_ref(), matrix);
        let function = Self {
            base: whitened(self.base),
            shares: self.shares.into_iter().map(whitened).collect(),
            map: map.transpose().to_owned(),
            weights: self.weights,
        };
        Some((function, log_det))
    }

    /// The DPP given picks with these directions (orthonormal, r×t), and the groups kept.
    ///
    /// Exhausted groups are dropped, and the DPP is tilted so that the expected counts are the quota. If rounding
    /// prevents that, all groups remain unchanged.
    pub(crate) fn after(&self, directions: MatRef<'_, f64>, quota: &[usize]) -> (Self, Vec<usize>) {
        let basis = complement(directions);
        let open: Vec<usize> = (0..quota.len()).filter(|&group| quota[group] > 0).collect();
        let inside = |matrix: &Mat<f64>| basis.transpose() * (matrix * &basis);
        let restricted = |groups: &[usize]| Self {
            base: inside(&self.base),
            shares: groups.iter().map(|&group| inside(&self.shares[group])).collect(),
            map: &self.map * &basis,
            weights: groups.iter().map(|&group| self.weights[group]).collect(),
        };
        let counts: Vec<usize> = open.iter().map(|&group| quota[group]).collect();
        if let Some((tilted, _)) = restricted(&open).tilted(&counts).normalised() {
            return (tilted, open);
        }
        let all: Vec<usize> = (0..quota.len()).collect();
        (restricted(&all), all)
    }

    /// The function of some groups, with the others at z = 0, and its factor; `None` if that is zero up to rounding.
    pub(crate) fn only(&self, groups: &[usize]) -> Option<(Self, f64)> {
        let part = Self {
            base: self.base.clone(),
            shares: groups.iter().map(|&group| self.shares[group].clone()).collect(),
            map: self.map.clone(),
            weights: groups.iter().map(|&group| self.weights[group]).collect(),
        };
        part.normalised().map(|(function, log_det)| (function, log_det.exp()))
    }

    /// The function with weights that make the quota the expected counts, not yet normalised.
    fn tilted(self, quota: &[usize]) -> Self {
        let start = vec![0.0; quota.len()];
        let tilt = determinantal_tilt(self.base.as_ref(), &self.shares, quota, start, &|| true).log_weights;
        let shares = self.shares.into_iter().zip(&tilt).map(|(share, t)| share * faer::Scale(t.exp()));
        let weights = self.weights.iter().zip(&tilt).map(|(weight, t)| weight * (0.5 * t).exp());
        Self { shares: shares.collect(), weights: weights.collect(), ..self }
    }

    /// A lower bound on ln inf φ(e^d) / e^(c·d) for counts c.
    ///
    /// It is slightly below the infimum, since the search stops near it. It is −∞ if the search stops, perhaps
    /// because `go_on` returns false, too far away to decide whether φ reaches these counts.
    pub(crate) fn log_capacity(&self, counts: &[usize], go_on: &dyn Fn() -> bool) -> f64 {
        let open: Vec<usize> = (0..counts.len()).filter(|&group| counts[group] > 0).collect();
        let shares: Vec<Mat<f64>> = open.iter().map(|&group| self.shares[group].clone()).collect();
        let counts: Vec<usize> = open.iter().map(|&group| counts[group]).collect();
        let (tilt, log_det) = if open.is_empty() {
            (Tilt::neutral(0), log_determinant(self.base.as_ref()))
        } else {
            let start = vec![0.0; open.len()];
            let tilt = determinantal_tilt(self.base.as_ref(), &shares, &counts, start, go_on);
            let whole = &self.base + weighted_gram(&shares, &tilt.log_weights);
            (tilt, log_determinant(whole.as_ref()))
        };
        // If φ does not reach a count, the gradient is at least 1.
        if tilt.imbalance >= 0.5 {
            return f64::NEG_INFINITY;
        }
        let linear: f64 = tilt.log_weights.iter().zip(&counts).map(|(d, &count)| d * count as f64).sum();
        log_det.map_or(f64::NEG_INFINITY, |log_det| log_det - linear - 2.0 * tilt.imbalance)
    }

    /// Expected counts.
    pub(crate) fn means(&self) -> Vec<f64> {
        self.shares.iter().map(|share| (0..share.nrows()).map(|j| share[(j, j)]).sum()).collect()
    }

    /// The laws of the counts; the law of the total is only computed if `total` is given.
    pub(crate) fn count_laws(&self, total: Option<usize>) -> Result<CountLaws> {
        let group = |group: usize| Ok(poisson_binomial(&self.coins(group)?));
        let groups = (0..self.shares.len()).map(group).collect::<Result<_>>()?;
        let coins = total.map_or(Ok(Vec::new()), |_| self.total_coins())?;
        Ok(CountLaws { means: self.means(), groups, total: poisson_binomial(&coins) })
    }

    /// r.
    pub(crate) fn rank(&self) -> usize {
        self.base.nrows()
    }

    /// Probabilities of the coins whose sum is the size: the eigenvalues of Σ N_l = I − C, descending.
    pub(crate) fn total_coins(&self) -> Result<Vec<f64>> {
        let total = weighted_gram(&self.shares, &vec![0.0; self.shares.len()]);
        Ok(linalg::eigen(total.as_ref())?.values.into_iter().map(|p| p.clamp(0.0, 1.0)).collect())
    }

    /// Probabilities of the coins whose sum is the count of a group: the eigenvalues of N_l, descending.
    pub(crate) fn coins(&self, group: usize) -> Result<Vec<f64>> {
        let eigen = linalg::eigen(self.shares[group].as_ref())?;
        Ok(eigen.values.into_iter().map(|p| p.clamp(0.0, 1.0)).collect())
    }
}

/// ln det of a positive definite matrix; `None` for other matrices.
fn log_determinant(matrix: MatRef<'_, f64>) -> Option<f64> {
    let factor = matrix.llt(Side::Lower).ok()?.L().to_owned();
    Some((0..factor.nrows()).map(|j| 2.0 * factor[(j, j)].ln()).sum())
}
