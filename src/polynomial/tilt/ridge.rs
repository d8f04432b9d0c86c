//! The tilt of a ridge law.

use faer::{Mat, Side};

use super::{
    Covariance, Moments, Weighable,
    covariance::{FEW, packed},
    tilt_of_ranges,
};
use crate::{
    Result,
    engine::{Engine, Group, Items, Rows, in_double},
    linalg::{log_sum, sigmoid, softplus, whiten},
    model::{FreeItems, FreeRidge, log_probability},
};

/// ln of the group weights at which the expected counts of a ridge law without its quota match the quota.
///
/// For ranges, the expected counts are as near as the ranges need.
///
/// # Cost
/// Each of 3 to 10 steps takes up to three passes over the rows of items that differ in quality, about 3mn²
/// operations.
pub(crate) fn ridge_tilt(engine: &Engine, free: &FreeRidge) -> Result<Vec<f64>> {
    let counts = RidgeCounts::new(in_double(engine), free)?;
    let tilt = tilt_of_ranges(engine, &counts, &counts.log_traces, &free.counts)?;
    Ok(tilt.log_weights.iter().zip(&counts.log_traces).map(|(w, log)| w - log).collect())
}

/// Expected counts if every item is e^t times as likely.
///
/// Part weights are in units in which small counts equal their weights.
struct RidgeCounts<'r> {
    engine: &'r Engine,
    free: &'r FreeRidge,
    /// ln Σ q_i² (δ + ‖a_i‖²) of every group.
    log_traces: Vec<f64>,
    /// I + Σ a_i a_iᵀ/δ over certain items.
    base: Mat<f64>,
    /// Σ a_i a_iᵀ of every group, if all items have the same quality.
    even: Option<Vec<Mat<f64>>>,
}

impl<'r> RidgeCounts<'r> {
    fn new(engine: &'r Engine, free: &'r FreeRidge) -> Result<Self> {
        let (features, delta) = (free.features(), free.log_delta().exp());
        let rows = unscaled(features, &free.groups);
        let norms = engine.row_norms(&rows)?;
        let mut logs = vec![Vec::new(); free.groups.len()];
        for ((item, group), norm) in rows.iter().zip(norms) {
            logs[group].push(free.log_odds(item) + (norm / delta).ln_1p());
        }
        let mut base = Mat::identity(features.dims(), features.dims());
        if !free.certain.is_empty() {
            let certain = [FreeItems::Listed(free.certain.clone().into())];
            base += engine.part_grams(&unscaled(features, &certain), None)?.remove(0)
                * faer::Scale(delta.recip());
        }
        let even = free.is_even().then(|| engine.part_grams(&rows, None)).transpose()?;
        let log_traces = logs.iter().map(|logs| log_sum(logs)).collect();
        Ok(Self { engine, free, log_traces, base, even })
    }

    /// Σ e^(2 f(x_i)) a_i a_iᵀ/δ of every group.
    fn grams(&self, t: &[f64], f: impl Fn(f64) -> f64) -> Result<Vec<Mat<f64>>> {
        let (features, log_delta) = (self.free.features(), self.free.log_delta());
        if let Some(even) = &self.even {
            let scaled =
                |(gram, t): (&Mat<f64>, &f64)| gram * faer::Scale((2.0 * f(log_delta + t) - log_delta).exp());
            return Ok(even.iter().zip(t).map(scaled).collect());
        }
        let weighted = self.free.weighted(features, t, 0.0, |_, x| f(x) - 0.5 * log_delta)?;
        self.engine.part_grams(&unscaled(&weighted, &self.free.groups), None)
    }
}

/// The rows as given.
fn unscaled<'f>(features: &'f crate::Features, groups: &'f [FreeItems]) -> Rows<'f> {
    let groups = groups.iter().map(|items| Group { items: Items::from(items), scale: 1.0 });
    Rows::with_scales(features, groups.collect())
}

impl Weighable for RidgeCounts<'_> {
    fn log_traces(&self) -> Vec<f64> {
        vec![0.0; self.log_traces.len()]
    }

    /// With M = I + Σ p_i a_i a_iᵀ/δ, and H_j = Σ p_i (1 − p_i)^j a_i a_iᵀ/δ over a group:
    ///
    /// ```text
    /// E|S∩P_l| = Σ p_i + tr M⁻¹ H_1,   Cov_ab = δ_ab (Σ p_i (1 − p_i) + tr M⁻¹ (2 H_2 − H_1)) − tr M⁻¹ H_1a M⁻¹ H_1b
    /// ```
    fn moments(&self, log_weights: &[f64]) -> Result<Option<Moments>> {
        let t: Vec<f64> = log_weights.iter().zip(&self.log_traces).map(|(w, log)| w - log).collect();
        let power = |j: f64| move |x: f64| 0.5 * (log_probability(x) + j * log_probability(-x));
        let mut whole = self.base.clone();
        self.grams(&t, power(0.0))?.iter().for_each(|gram| whole += gram);
        let Ok(factor) = whole.llt(Side::Lower) else { return Ok(None) };
        let (factor, dims) = (factor.L().to_owned(), whole.nrows());
        let white = |grams: Vec<Mat<f64>>| -> Vec<Mat<f64>> {
            grams.into_iter().map(|gram| whiten(factor.as_ref(), gram)).collect()
        };
        let (first, second) = (white(self.grams(&t, power(1.0))?), white(self.grams(&t, power(2.0))?));
        let trace = |matrix: &Mat<f64>| (0..dims).map(|j| matrix[(j, j)]).sum::<f64>();
        let own = |(group, t): (usize, &f64)| {
            self.free.sums(group, *t, |x| [softplus(x), sigmoid(x), sigmoid(x) * sigmoid(-x)])
        };
        let own: Vec<[f64; 3]> = t.iter().enumerate().map(own).collect();
        let means = own.iter().zip(&first).map(|([_, mean, _], gram)| mean + trace(gram)).collect();
        let variance = |a: usize| own[a][2] + 2.0 * trace(&second[a]) - trace(&first[a]);
        let variances = (0..t.len()).map(variance).collect();
        let log_det: f64 = (0..dims).map(|j| 2.0 * factor[(j, j)].ln()).sum();
        let log_value = log_det + own.iter().map(|[log, ..]| log).sum::<f64>();
        Ok(Some(Moments { log_value, means, shares: first, variances }))
    }

    fn covariance(&self, _: &[f64], moments: &Moments) -> Result<Covariance> {
        let Moments { shares, variances, .. } = moments;
        if shares.len() <= FEW {
            return Ok(Covariance::whole(variances, shares));
        }
        let rows = shares.iter().flat_map(packed).collect();
        Ok(Covariance::Packed { variances: variances.clone(), rows })
    }
}
