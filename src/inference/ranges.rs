//! Inference under ranges of part counts, from the nodes of a torus.

use super::{Marginals, Nodes, RowInference};
use crate::{
    Estimate, PartitionDpp, Result,
    engine::Engine,
    estimate::accurate,
    model::SetProbabilities,
    polynomial::{generating_function::GeneratingFunction, torus::RangeSum},
};

/// A sum over allowed counts, with its nodes.
#[derive(Debug)]
pub(super) struct RangeNodes {
    pub(super) nodes: Nodes,
    /// ln of the sum.
    pub(super) log_sum: Estimate<f64>,
}

impl PartitionDpp {
    /// ```text
    /// Z = Σ_c Z_c over all allowed counts c
    ///   = mean over nodes of g(y e^{iθ}) Π_l Σ_{lo_l ≤ c ≤ hi_l} y_l^−c e^{−icθ_l},   g(z) = det(I + Σ z_l G_l)
    /// ```
    ///
    /// Nodes lie on the radius at which the expected counts match the ranges. There Z is the fraction of g(y) that
    /// the exact sampler accepts, and the number of digits lost is the number of its leading zeros.
    pub(super) fn inference_under_ranges(&self, engine: &Engine) -> Result<RowInference> {
        let (ground, groups) = (self.ground().clone(), self.groups());
        let mut log_z = ground.log_det_included();
        let mut marginals = Marginals::Forced(accurate(self.beyond_rank())?);
        log_z.error += self.beyond_rank();
        if !groups.is_empty() {
            let RangeNodes { nodes, log_sum, .. } = self.range_nodes(engine)?;
            log_z.value += log_sum.value;
            log_z.error += log_sum.error;
            marginals = Marginals::Torus(Box::new(nodes));
        }
        let sets = SetProbabilities::under_quota(self, log_z);
        Ok(RowInference { sets, groups, marginals, engine: engine.clone() })
    }

    /// The nodes of the sum over all allowed counts of the open parts. There must be at least one open part.
    pub(super) fn range_nodes(&self, engine: &Engine) -> Result<RangeNodes> {
        let (rows, counts) = (self.rows(), self.counts());
        let spectrum = self.spectrum(engine, &rows)?;
        let (function, reference) = match counts.total() {
            None => GeneratingFunction::of_free_size(&spectrum, &rows.scales(), 0.0)?,
            Some(k) => GeneratingFunction::of_size(&spectrum, &rows.scales(), k)?,
        };
        let most = counts.total().unwrap_or_else(|| counts.high.iter().sum()).min(function.rank());
        let laws = function.count_laws(counts.total())?;
        let sum = RangeSum::new(laws, counts, self.correction(reference.log_weights()));
        let torus = sum.torus(self.nodes_allowed())?;
        let extractors = sum.extractors(engine, &torus)?;
        let found = torus.sum(engine, &function, &extractors)?;
        let lost = accurate(found.error / found.value)?;
        let (log_mass, log_unit) = (reference.log_value(), sum.log_unit());
        let terms = (function.rank() + self.open().len() + 4) as f64;
        let largest = log_mass.abs().max(log_unit.abs()).max(1.0);
        // In the worst case, all sets affected by the error of the spectrum are in the ranges.
        let error = accurate(spectrum.spectrum.error / found.value)?;
        let log_sum = Estimate {
            value: log_mass + found.value.ln() + log_unit,
            error: lost + error + terms * f64::EPSILON * largest,
        };
        Ok(RangeNodes { nodes: Nodes { function, torus, extractors, most, error }, log_sum })
    }
}
