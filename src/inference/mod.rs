//! Exact probabilities: normalisers, log-probabilities of sets, inclusion probabilities, part counts.

mod dpp;
mod k_dpp;
mod label_copies;
mod part_counts;
mod partition_dpp;
mod ranges;
mod ridge;
mod row_inference;

use std::fmt;

pub use part_counts::{EstimatedProbability, PartCounts};
use ridge::RidgeInference;
pub(crate) use row_inference::RowInference;
use row_inference::{Marginals, Nodes};

use crate::{
    Estimate, Result, Subset,
    engine::{Engine, EngineInfo},
};

/// Probabilities under one law, computed by the `inference` methods of the models.
///
/// All logarithms are natural; the logarithm of probability zero is −∞.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Partition, PartitionDpp, Quota, Subset};
/// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
/// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
/// let quota = Quota::new(&partition, [1, 1])?;
/// let inference = PartitionDpp::new(&features, &partition, &quota)?.inference(&Engine::cpu())?;
/// // Z = det K over {0,2}, {0,3}, {1,2}, {1,3} = 1 + 1 + ¼ + 0.
/// assert!((inference.log_partition_function().value - 2.25_f64.ln()).abs() < 1e-12);
/// let set = Subset::new(vec![0, 3], 4)?;
/// let log_prob = inference.log_probability(&set)?;
/// assert!((log_prob.value - (1.0 / 2.25_f64).ln()).abs() <= log_prob.error);
/// let marginals = inference.inclusion_probabilities()?;
/// assert!((marginals.value[0] - 2.0 / 2.25).abs() < marginals.error + 1e-12);
/// # Ok(()) }
/// ```
pub struct Inference {
    of: Of,
}

impl fmt::Debug for Inference {
    /// Shows ln Z and the engine, without matrices.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut inference = f.debug_struct("Inference");
        let log_z = self.log_partition_function();
        inference.field("log_z", &log_z).field("engine", &self.engine()).finish_non_exhaustive()
    }
}

/// The kind of law.
#[derive(Debug)]
enum Of {
    Rows(Box<RowInference>),
    Ridge(Box<RidgeInference>),
}

impl From<RowInference> for Inference {
    fn from(of: RowInference) -> Self {
        Self { of: Of::Rows(Box::new(of)) }
    }
}

impl From<RidgeInference> for Inference {
    fn from(of: RidgeInference) -> Self {
        Self { of: Of::Ridge(Box::new(of)) }
    }
}

impl Inference {
    /// The engine that computes.
    #[must_use]
    pub fn engine(&self) -> EngineInfo {
        self.of.engine().info()
    }

    /// ln Z: the logarithm of the sum of det(K_S) over all sets that the law allows.
    #[must_use]
    pub fn log_partition_function(&self) -> Estimate<f64> {
        match &self.of {
            Of::Rows(of) => of.log_z(),
            Of::Ridge(of) => of.log_z,
        }
    }

    /// ln Pr(S) = ln det(K_S) − ln Z, with the errors of both terms.
    ///
    /// The value is −∞ if the law excludes the set or its determinant is zero, which is decided in exact arithmetic.
    ///
    /// # Cost
    /// O(n|S|²); about a hundred times as much if rows are nearly dependent.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`](crate::Error::ItemOutOfRange) if the set has items that do not exist.
    pub fn log_probability(&self, subset: &Subset) -> Result<Estimate<f64>> {
        match &self.of {
            Of::Rows(of) => of.sets.log_probability(subset),
            Of::Ridge(of) => of.log_probability(subset),
        }
    }

    /// Pr(i ∈ S) for every item: 1 for included items, 0 for excluded items and for items of parts with quota zero.
    ///
    /// # Cost
    /// One pass over A (2mnr operations). Under a quota, also 8r³ per node of the torus, or 4/3·r³ along lines of
    /// nodes. Memory: 16 bytes per item, and a few hundred bytes per node and part, but never a table of items by
    /// nodes.
    ///
    /// # Errors
    /// [`Error::Eigen`](crate::Error::Eigen), and errors of the engine.
    pub fn inclusion_probabilities(&self) -> Result<Estimate<Vec<f64>>> {
        match &self.of {
            Of::Rows(of) => of.inclusion_probabilities(),
            Of::Ridge(of) => of.inclusion_probabilities(),
        }
    }
}

impl Of {
    fn engine(&self) -> &Engine {
        match self {
            Self::Rows(of) => &of.engine,
            Self::Ridge(of) => &of.engine,
        }
    }
}
