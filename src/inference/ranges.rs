//! Inference under ranges of part counts, from the nodes of a torus.

use super::{Constraint, Inference, Marginals, Nodes};
use crate::{
    PartitionDpp, Result,
    engine::Engine,
    estimate::accurate,
    polynomial::{correction::Correction, generating_function::GeneratingFunction, torus::RangeSum},
};

impl<'a> PartitionDpp<'a> {
    /// ```text
    /// Z = Σ_c Z_c over all allowed counts c
    ///   = mean over nodes of g(y e^{iθ}) Π_l Σ_{lo_l ≤ c ≤ hi_l} y_l^−c e^{−icθ_l},   g(z) = det(I + Σ z_l G_l)
    /// ```
    ///
    /// Nodes lie at the radius at which the ranges' counts are the expected ones. There Z is the fraction of g(y) that the
    /// exact sampler accepts, and as many digits are lost as it has leading zeros.
    pub(super) fn inference_under_ranges(&self, engine: &'a dyn Engine) -> Result<Inference<'a>> {
        let (ground, groups) = (self.ground().clone(), self.groups());
        let mut log_z = ground.log_det_included();
        let mut marginals = Marginals::Forced(accurate(self.beyond_rank())?);
        log_z.error += self.beyond_rank();
        if !groups.is_empty() {
            let (rows, counts) = (self.rows(), self.counts());
            let spectrum = self.spectrum(engine, &rows)?;
            let (function, reference) = match counts.total() {
                None => GeneratingFunction::of_free_size(&spectrum, &rows.scales(), 0.0)?,
                Some(k) => GeneratingFunction::of_size(&spectrum, &rows.scales(), k)?,
            };
            let correction = Correction::new(&counts, reference.log_weights());
            let sum = RangeSum::new(&function, &counts, &correction)?;
            let (torus, extractors) = sum.torus(engine, self.nodes_allowed())?;
            let values = torus.values(engine, &function)?;
            let found = torus.extracted(&values, &extractors, function.rank(), engine.info().precision);
            let lost = accurate(found.error / found.value)?;
            let log_mass = reference.log_value();
            log_z.value += log_mass + found.value.ln() - correction.least;
            let terms = (function.rank() + groups.len() + 4) as f64;
            let largest = log_mass.abs().max(correction.least.abs()).max(1.0);
            // In the worst case all sets affected by the spectrum's error are in the ranges.
            let error = accurate(spectrum.spectrum.error / found.value)?;
            log_z.error += lost + error + terms * f64::EPSILON * largest;
            let most = counts.total().unwrap_or_else(|| counts.high.iter().sum()).min(function.rank());
            marginals = Marginals::Torus(Box::new(Nodes { function, torus, extractors, most, error }));
        }
        let constraint = Constraint::Quota(self.partition().clone(), self.quota().clone());
        Ok(Inference { ground, groups, constraint, marginals, log_z, engine })
    }
}
