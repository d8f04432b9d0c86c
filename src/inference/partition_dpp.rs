//! Inference for the Partition-DPP, from the nodes of a torus.

use faer::Mat;

use super::{Inference, Marginals, Nodes, RowInference};
use crate::{
    Estimate, PartitionDpp, Result,
    engine::Engine,
    estimate::accurate,
    linalg,
    model::{SetProbabilities, accurately},
    polynomial::{
        fixed_size::fixed_size_values,
        generating_function::GeneratingFunction,
        torus::{Torus, TorusPlan},
    },
};

impl PartitionDpp {
    /// Exact probabilities: the normaliser, inclusion probabilities, and log-probabilities of sets.
    ///
    /// ```text
    /// Z = Σ_c Z_c over all allowed counts c,   Z_c = y^−c · mean over nodes of g(y e^{iθ}) e^{−ic·θ}
    /// g(z) = det(I + Σ z_l G_l)
    /// ```
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each), O(pn³) per step of the tilt, and 8/3·r³ per node, regardless of the
    /// number of allowed counts. On the CPU, 24 or more nodes that differ only in the phase of the total cost as much
    /// as twelve nodes together, plus 7r² each.
    ///
    /// The number of nodes is half the product of these factors:
    /// - about 8√k + 10 for a fixed total (at most r + 1), which makes one part free;
    /// - κ_l + 1 for every other part under exact counts;
    /// - under a range, about hi_l − lo_l + 1 plus a few standard deviations of the part's count, or 1 if the range
    ///   does not bind.
    ///
    /// # Numerics
    /// Nodes lie on the radius at which the expected counts equal the quota. The number of digits lost is the number
    /// of leading zeros of the quota's probability there: one or two for a few parts.
    ///
    /// # Errors
    /// - [`Error::NodeBudget`](crate::Error::NodeBudget) with the number of nodes (see
    ///   [`with_node_budget`](PartitionDpp::with_node_budget));
    /// - [`Error::Eigen`](crate::Error::Eigen), [`Error::SizeAboveRank`](crate::Error::SizeAboveRank) if the rank is
    ///   too small in f64, [`Error::IllConditioned`](crate::Error::IllConditioned), and errors of the engine.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, Partition, PartitionDpp, Quota};
    /// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
    /// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
    /// let quota = Quota::new(&partition, [0..=1, 1..=1])?;
    /// let inference = PartitionDpp::new(&features, &partition, &quota)?.inference(&Engine::cpu())?;
    /// // det K over {2}, {3}: 1 and 2; over {0,2}, {0,3}, {1,2}, {1,3}: 1, 1, ¼ and 0.
    /// assert!((inference.log_partition_function().value - 5.25_f64.ln()).abs() < 1e-12);
    /// let marginals = inference.inclusion_probabilities()?;
    /// assert!((marginals.value[3] - 3.0 / 5.25).abs() < 1e-12);
    /// # Ok(()) }
    /// ```
    ///
    /// # Source
    /// Kathuria and Deshpande (2016), lemma 3.1, with nodes on circles.
    pub fn inference(&self, engine: &Engine) -> Result<Inference> {
        let as_given = |dpp: &Self| dpp.inference_as_given(engine);
        Ok(accurately(self, |dpp| dpp.graded(engine), as_given, RowInference::error)?.into())
    }

    /// Inference in the coordinates of the features.
    pub(crate) fn inference_as_given(&self, engine: &Engine) -> Result<RowInference> {
        if self.quota().exact_counts().is_some() {
            self.inference_of_counts(engine)
        } else {
            self.inference_under_ranges(engine)
        }
    }

    fn inference_of_counts(&self, engine: &Engine) -> Result<RowInference> {
        let ground = self.ground().clone();
        let counts = self.exact_counts("a coefficient")?;
        let mut log_z = ground.log_det_included();
        let mut marginals = Marginals::Forced(0.0);
        if !counts.is_empty() {
            let rows = self.rows();
            let spectrum = self.spectrum(engine, &rows)?;
            let scales = rows.scales();
            let (function, reference) = GeneratingFunction::of_size(&spectrum, &scales, counts.iter().sum())?;
            let plan = TorusPlan::for_coefficient(&function, &counts)?.within(self.nodes_allowed())?;
            let torus = Torus::new(plan);
            let extractors = torus.extractors(&counts);
            let found = torus.sum(engine, &function, &extractors)?;
            accurate(found.error / found.value)?;
            log_z.value += reference.log_coefficient(&counts, found.value);
            log_z.error +=
                found.error / found.value + spectrum.spectrum.error + rounding(log_z.value, &counts);
            let (most, error) = (counts.iter().sum(), spectrum.spectrum.error);
            marginals = Marginals::Torus(Box::new(Nodes { function, torus, extractors, most, error }));
        }
        let sets = SetProbabilities::under_quota(self, log_z);
        Ok(RowInference { sets, groups: self.groups(), marginals, engine: engine.clone() })
    }

    /// ln Z_κ by another algorithm, as a check of [`inference`](PartitionDpp::inference).
    ///
    /// The total is fixed by elementary symmetric polynomials of eigenvalues, and all parts but one by phases.
    ///
    /// # Cost
    /// The cost of inference, with one variable fewer and about 60r³ per node.
    ///
    /// # Errors
    /// The errors of [`inference`](PartitionDpp::inference); [`Error::CountsNotExact`](crate::Error::CountsNotExact)
    /// under ranges.
    pub fn log_partition_function_by_phases(&self, engine: &Engine) -> Result<Estimate<f64>> {
        accurately(self, |dpp| dpp.graded(engine), |dpp| dpp.log_z_by_phases(engine), |found| found.error)
    }

    fn log_z_by_phases(&self, engine: &Engine) -> Result<Estimate<f64>> {
        let counts = self.exact_counts("phases at a fixed size")?;
        let log_det = self.ground().log_det_included();
        if counts.is_empty() {
            return Ok(log_det);
        }
        let rows = self.rows();
        let spectrum = self.spectrum(engine, &rows)?;
        let k = counts.iter().sum();
        let (function, reference) = GeneratingFunction::of_size(&spectrum, &rows.scales(), k)?;
        let plan = TorusPlan::for_coefficient(&function, &counts)?.at_fixed_size();
        let torus = Torus::new(plan.within(self.nodes_allowed())?);
        let values = fixed_size_values(engine, &function, &torus.phases, k)?;
        let found = torus.coefficient(&values, &counts, function.rank(), engine.info().precision);
        accurate(found.error / found.value)?;
        let value = log_det.value + reference.log_coefficient(&counts, found.value);
        let error =
            log_det.error + found.error / found.value + spectrum.spectrum.error + rounding(value, &counts);
        Ok(Estimate { value, error })
    }

    /// ln Z_κ: the logarithm of the sum of det(K_S) over all sets that meet the quota.
    ///
    /// # Errors
    /// The errors of [`inference`](PartitionDpp::inference).
    pub fn log_partition_function(&self, engine: &Engine) -> Result<Estimate<f64>> {
        Ok(self.inference(engine)?.log_partition_function())
    }
}

/// The rounding error of a logarithm that is a sum of a few terms per item.
fn rounding(log_z: f64, counts: &[usize]) -> f64 {
    (counts.iter().sum::<usize>() + 4) as f64 * f64::EPSILON * log_z.abs().max(1.0)
}

impl Nodes {
    /// The factors F_l with Pr(i ∈ S) = ‖F_lᵀ s_l a_i‖², the error of these probabilities, and the fraction of sets
    /// that the law allows.
    pub(super) fn factors(&self, engine: &Engine) -> Result<(Vec<Mat<f64>>, f64, f64)> {
        let Self { function, torus, extractors, most, error } = self;
        let (mass, forms) = torus.sum_and_forms(engine, function, extractors)?;
        let mut factors = Vec::with_capacity(forms.len());
        for (form, weight) in forms.iter().zip(&function.weights) {
            let root = linalg::positive_root(form.as_ref(), weight * weight / mass.value)?;
            factors.push(linalg::square_root(&function.map * root));
        }
        Ok((factors, *most as f64 * mass.error / mass.value + error, mass.value))
    }
}
