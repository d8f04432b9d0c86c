//! Inference under ranges of part counts, from the nodes of a torus.

use super::{Constraint, Inference, Marginals, Nodes};
use crate::{
    RangeDpp, Result,
    data::accurately,
    engine::Engine,
    polynomial::{
        accurate, count_ranges::Correction, generating_function::GeneratingFunction, torus::RangeSum,
    },
};

impl<'a> RangeDpp<'a> {
    /// Exact probabilities: normaliser, inclusion probabilities, log-probabilities of sets.
    ///
    /// ```text
    /// Z = Σ_c Z_c over all allowed counts c
    ///   = mean over nodes of g(y e^{iθ}) Π_l Σ_{lo_l ≤ c ≤ hi_l} y_l^−c e^{−icθ_l},   g(z) = det(I + Σ z_l G_l)
    /// ```
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each), O(pn³) per step of the tilt, and 8/3·r³ per node, whatever the number of
    /// counts allowed. A part takes about hi_l − lo_l + 1 nodes and some standard deviations of its count, at most r + 1;
    /// one where a range does not bind; and their numbers multiply. A fixed total takes about 8√k + 10, and frees one
    /// part of its own.
    ///
    /// # Numerics
    /// Nodes lie at the radius at which the ranges' counts are the expected ones, where Z is the fraction of g(y) that
    /// the exact sampler accepts: the digits are lost that it has zeros.
    ///
    /// # Errors
    /// - [`Error::NodeBudget`](crate::Error::NodeBudget), with the number of nodes (see
    ///   [`with_node_budget`](RangeDpp::with_node_budget));
    /// - [`Error::Eigen`](crate::Error::Eigen), [`Error::SizeAboveRank`](crate::Error::SizeAboveRank) where the rank
    ///   shows only at f64's accuracy, [`Error::IllConditioned`](crate::Error::IllConditioned), and those of the engine.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Features, Partition, RangeDpp, RangeQuota, engine};
    /// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
    /// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
    /// let quota = RangeQuota::new(&partition, &[0..=1, 1..=1])?;
    /// let inference = RangeDpp::new(&features, &partition, &quota)?.inference(&engine::Cpu)?;
    /// // det K over {2}, {3}: 1 and 2; over {0,2}, {0,3}, {1,2}, {1,3}: 1, 1, ¼ and 0.
    /// assert!((inference.log_partition_function().value - 5.25_f64.ln()).abs() < 1e-12);
    /// let marginals = inference.inclusion_probabilities()?;
    /// assert!((marginals.value[3] - 3.0 / 5.25).abs() < 1e-12);
    /// # Ok(()) }
    /// ```
    ///
    /// # Source
    /// Kathuria and Deshpande (2016), lemma 3.1, with nodes on circles.
    pub fn inference(&self, engine: &'a dyn Engine) -> Result<Inference<'a>> {
        accurately(self, |dpp| dpp.graded(engine), |dpp| dpp.inference_as_given(engine), Inference::error)
    }

    fn inference_as_given(&self, engine: &'a dyn Engine) -> Result<Inference<'a>> {
        let (ground, groups) = (self.ground().clone(), self.groups());
        let mut log_z = ground.log_det_included();
        let mut marginals = Marginals::Settled(accurate(self.beyond_rank())?);
        log_z.error += self.beyond_rank();
        if !groups.is_empty() {
            let (rows, ranges) = (self.rows(), self.ranges());
            let spectrum = self.spectrum(engine, &rows)?;
            let (function, reference) = match ranges.total() {
                None => GeneratingFunction::of_free_size(&spectrum, &rows.scales(), 0.0)?,
                Some(k) => GeneratingFunction::of_size(&spectrum, &rows.scales(), k)?,
            };
            let correction = Correction::new(&ranges, reference.log_weights());
            let sum = RangeSum::new(&function, &ranges, &correction)?;
            let (torus, extractors) = sum.torus(engine, self.node_budget())?;
            let values = torus.values(engine, &function)?;
            let found = torus.extracted(&values, &extractors, function.rank(), engine.info().precision);
            let lost = accurate(found.error / found.value)?;
            let log_mass = reference.log_value();
            log_z.value += log_mass + found.value.ln() - correction.least;
            let terms = (function.rank() + groups.len() + 4) as f64;
            let largest = log_mass.abs().max(correction.least.abs()).max(1.0);
            // Of all that the spectrum is wrong about, in the worst case every bit is in the ranges.
            let error = accurate(spectrum.spectrum.error / found.value)?;
            log_z.error += lost + error + terms * f64::EPSILON * largest;
            let most = ranges.total().unwrap_or_else(|| ranges.high().iter().sum()).min(function.rank());
            marginals = Marginals::Torus(Box::new(Nodes { function, torus, extractors, most, error }));
        }
        let constraint = Constraint::Ranges(self.partition(), self.quota().clone());
        Ok(Inference { ground, groups, constraint, marginals, log_z, engine })
    }

    /// ln Z: the logarithm of the sum of det(K_S) over all sets that the ranges allow.
    ///
    /// # Errors
    /// Those of [`inference`](RangeDpp::inference).
    pub fn log_partition_function(&self, engine: &'a dyn Engine) -> Result<crate::Estimate<f64>> {
        Ok(self.inference(engine)?.log_partition_function())
    }
}
