//! Inference under a quota, for a kernel with a ridge.

mod marginals;
mod nodes;
mod turned;

use self::nodes::RidgeNodes;
use super::Inference;
use crate::{
    Error, Estimate, Features, Result, RidgeDpp, Subset,
    engine::Engine,
    model::{FreeRidge, IMPOSSIBLE, accurately, log_determinant_estimate},
    polynomial::tilt::ridge_tilt,
};

/// Probabilities under a [`RidgeDpp`].
#[derive(Debug)]
pub(super) struct RidgeInference {
    dpp: RidgeDpp,
    free: FreeRidge,
    /// ln of the weights of the parts in which a choice is left.
    log_weights: Vec<f64>,
    /// The nodes; `None` if no choice is left in any part.
    nodes: Option<RidgeNodes>,
    pub(super) log_z: Estimate<f64>,
    pub(super) engine: Engine,
}

impl RidgeDpp {
    /// Computes ln Z now, and inclusion probabilities on demand.
    ///
    /// # Cost
    /// Without qualities, the cost of [`PartitionDpp::inference`](crate::PartitionDpp::inference). Qualities add N
    /// passes over the rows of every part for ln Z and 2N for inclusion probabilities (2mn² operations each), and
    /// 16Nr² bytes for every part. N is about 8√κ_l + κ_l for a single part with κ_l items, and about 8√k + k for
    /// every part under a fixed total.
    ///
    /// # Numerics
    /// Nodes lie on circles whose radius makes the expected counts equal the quota, and between the points at which
    /// the weights of items have poles.
    ///
    /// # Errors
    /// - [`Error::NodeBudget`] with the number of nodes, which is a product over parts;
    /// - [`Error::Eigen`], [`Error::IllConditioned`], and errors of the engine.
    pub fn inference(&self, engine: &Engine) -> Result<Inference> {
        Ok(self.ridge_inference(engine)?.into())
    }

    fn ridge_inference(&self, engine: &Engine) -> Result<RidgeInference> {
        let free = self.free_ridge()?;
        if free.groups.is_empty() {
            let log_z =
                self.log_weight(&free.certain.iter().map(|&item| item as usize).collect::<Vec<_>>())?;
            let (log_weights, nodes) = (Vec::new(), None);
            return Ok(RidgeInference {
                dpp: self.clone(),
                free,
                log_weights,
                nodes,
                log_z,
                engine: engine.clone(),
            });
        }
        let log_weights = ridge_tilt(engine, &free)?;
        let drawn = free.drawn(&log_weights)?;
        let new = |drawn: &_| RidgeNodes::new(engine, &free, &log_weights, drawn);
        let nodes = accurately(&drawn, |drawn| drawn.graded(engine), new, |nodes| nodes.log_sum.error)?;
        let log_z = nodes.log_sum;
        Ok(RidgeInference {
            dpp: self.clone(),
            free,
            log_weights,
            nodes: Some(nodes),
            log_z,
            engine: engine.clone(),
        })
    }

    /// The probability that a set meets the quota by chance.
    ///
    /// The set is one of the same total if the quota has a total, and one of any size otherwise.
    ///
    /// ```text
    /// Pr(lo_l ≤ |S∩P_l| ≤ hi_l for every l) = Z / Z without the quota
    /// ```
    ///
    /// # Errors
    /// The errors of [`inference`](RidgeDpp::inference).
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, Partition, Quota, RidgeDpp};
    /// let features = Features::from_rows(2, 2, vec![1.0, 0.0, 0.0, 2.0])?;
    /// let partition = Partition::from_labels(&["a", "b"])?;
    /// let dpp = RidgeDpp::new(&features, 1.0, &partition, &Quota::new(&partition, [0..=1, 1..=1])?)?;
    /// // Orthogonal rows are chosen independently, with probability ⅔ and ⅚.
    /// assert!((dpp.probability_by_chance(&Engine::cpu())?.value - 5.0 / 6.0).abs() < 1e-12);
    /// # Ok(()) }
    /// ```
    pub fn probability_by_chance(&self, engine: &Engine) -> Result<Estimate<f64>> {
        let (met, all) =
            (self.ridge_inference(engine)?.log_z, self.without_quota()?.ridge_inference(engine)?.log_z);
        let value = (met.value - all.value).exp().min(1.0);
        Ok(Estimate { value, error: value * (met.error + all.error) })
    }

    /// ln det of the kernel submatrix of a set, with qualities.
    ///
    /// # Cost
    /// O((n + |S|)|S|²).
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`] if the set has items that do not exist.
    pub fn log_det(&self, subset: &Subset) -> Result<Estimate<f64>> {
        self.check_items(subset)?;
        self.log_weight(subset.as_slice())
    }

    fn check_items(&self, subset: &Subset) -> Result<()> {
        let items = self.features().items();
        let beyond = subset.iter().find(|&item| item >= items);
        beyond.map_or(Ok(()), |item| Err(Error::ItemOutOfRange { item, items }))
    }

    fn log_weight(&self, items: &[usize]) -> Result<Estimate<f64>> {
        let (size, features) = (items.len(), self.features());
        if size == 0 {
            return Ok(Estimate { value: 0.0, error: 0.0 });
        }
        let mut rows = vec![0.0; size * features.dims()];
        for (&item, row) in items.iter().zip(rows.chunks_exact_mut(features.dims())) {
            features.read_row(item, 1.0, row);
        }
        let rows = Features::from_rows(size, features.dims(), rows)?.with_ridge(self.delta())?;
        let mut log_det = log_determinant_estimate(&rows, &Subset::new((0..size).collect(), size)?);
        let quality: f64 = items.iter().map(|&item| 2.0 * self.log_quality(item)).sum();
        log_det.value += quality;
        log_det.error += size as f64 * f64::EPSILON * quality.abs();
        Ok(log_det)
    }
}

impl RidgeInference {
    /// Implements [`Inference::log_probability`], in O((n + |S|)|S|²).
    pub(super) fn log_probability(&self, subset: &Subset) -> Result<Estimate<f64>> {
        self.dpp.check_items(subset)?;
        let is_allowed = self.dpp.included().iter().all(|&item| subset.contains(item as usize))
            && !subset.iter().any(|item| self.dpp.excludes(item))
            && self.dpp.quota().allows(&subset.part_counts(self.dpp.partition()));
        if !is_allowed {
            return Ok(IMPOSSIBLE);
        }
        let log_weight = self.dpp.log_weight(subset.as_slice())?;
        let value = log_weight.value - self.log_z.value;
        let rounding = f64::EPSILON * value.abs().max(subset.len() as f64);
        Ok(Estimate { value, error: log_weight.error + self.log_z.error + rounding })
    }

    /// Implements [`Inference::inclusion_probabilities`].
    pub(super) fn inclusion_probabilities(&self) -> Result<Estimate<Vec<f64>>> {
        let mut probabilities = vec![0.0; self.dpp.features().items()];
        self.free.certain.iter().for_each(|&item| probabilities[item as usize] = 1.0);
        let mut error = 0.0;
        if let Some(nodes) = &self.nodes {
            error =
                nodes.set_probabilities(&self.engine, &self.free, &self.log_weights, &mut probabilities)?;
        }
        Ok(Estimate { value: probabilities, error })
    }
}
