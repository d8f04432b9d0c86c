//! Exact probabilities: normalisers, log-probabilities of sets, inclusion probabilities, part counts.

mod dpp;
mod k_dpp;
mod label_copies;
mod part_counts;
mod partition_dpp;
mod ranges;
mod ridge;
mod sets;

use faer::{Mat, MatRef, c64};

pub use part_counts::{EstimatedProbability, PartCounts};
pub use ridge::RidgeInference;
pub(crate) use sets::SetProbabilities;
use sets::{Constraint, IMPOSSIBLE};

use crate::{
    Estimate, Result, Subset,
    engine::{Engine, EngineInfo, Items, Rows, bounded_forms},
    linalg,
    model::FreeItems,
    polynomial::{generating_function::GeneratingFunction, spectrum::Spectrum, torus::Torus},
};

/// Probabilities under one law, made by the models' `inference` methods.
///
/// All logarithms are natural; probability zero is −∞.
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
#[derive(Debug)]
pub struct Inference {
    sets: SetProbabilities,
    /// The free items, by group.
    groups: Vec<FreeItems>,
    marginals: Marginals,
    engine: Engine,
}

/// How inclusion probabilities are computed.
#[derive(Debug)]
enum Marginals {
    /// Every item is forced; with this error.
    Forced(f64),
    /// ‖Fᵀ s a_i‖² with this factor F, and the error.
    Spectral(Mat<f64>, f64),
    /// From the nodes of a torus.
    Torus(Box<Nodes>),
}

impl Marginals {
    /// For eigenvectors that are chosen with these probabilities.
    fn spectral(spectrum: &Spectrum, probabilities: impl Iterator<Item = f64>) -> Self {
        let roots: Vec<f64> = probabilities.map(f64::sqrt).collect();
        let factor = linalg::scale_columns(spectrum.whitener().as_ref(), &roots);
        Self::Spectral(linalg::square_root(factor), spectrum.error)
    }
}

/// A generating function, its torus, and the coefficients wanted.
#[derive(Debug)]
struct Nodes {
    function: GeneratingFunction,
    torus: Torus,
    /// The factors of φ at every node.
    extractors: Vec<c64>,
    /// The most items of a set.
    most: usize,
    /// The error of the spectrum.
    error: f64,
}

/// Pr(i ∈ S) as forms of rows, apart from where the rows are.
#[derive(Debug)]
pub(crate) struct RowFactors {
    /// ‖F_lᵀ a_i‖² for rows as laws compute with them, by group; none if nothing is chosen.
    pub(crate) factors: Vec<Mat<f64>>,
    /// The error of these probabilities.
    pub(crate) error: f64,
    /// The share of sets that the law allows, at the tilt.
    pub(crate) mass: f64,
}

impl Inference {
    /// What inclusion probabilities are of rows with the same Gram matrices.
    pub(crate) fn row_factors(&self) -> Result<RowFactors> {
        let items = self.groups.iter().map(Items::from).collect();
        let scales = Rows::scaled(self.sets.ground.features(), items).scales();
        let (factors, error, mass) = match &self.marginals {
            Marginals::Forced(error) => (Vec::new(), *error, 1.0),
            Marginals::Spectral(factor, error) => (vec![factor.clone()], *error, 1.0),
            Marginals::Torus(nodes) => nodes.factors(&self.engine)?,
        };
        let scaled = factors.into_iter().zip(scales).map(|(factor, scale)| factor * faer::Scale(scale));
        Ok(RowFactors { factors: scaled.collect(), error, mass })
    }

    /// Estimated error of ln Z, and of the inputs of inclusion probabilities.
    fn error(&self) -> f64 {
        let marginals = match &self.marginals {
            Marginals::Forced(error) | Marginals::Spectral(_, error) => *error,
            Marginals::Torus(nodes) => nodes.error,
        };
        marginals.max(self.sets.log_z.error)
    }

    /// The engine that computes.
    #[must_use]
    pub fn engine(&self) -> EngineInfo {
        self.engine.info()
    }

    /// ln Z: the logarithm of the sum of det(K_S) over all sets that the law allows.
    #[must_use]
    pub fn log_partition_function(&self) -> Estimate<f64> {
        self.sets.log_z
    }

    /// ln Pr(S) = ln det(K_S) − ln Z, with the errors of both; −∞ for a set that the law excludes or whose
    /// determinant is zero, which is decided in exact arithmetic.
    ///
    /// # Cost
    /// O(n|S|²); some hundred times as much if rows are nearly dependent.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`](crate::Error::ItemOutOfRange) for a set of other items.
    pub fn log_probability(&self, subset: &Subset) -> Result<Estimate<f64>> {
        self.sets.log_probability(subset)
    }

    /// Pr(i ∈ S) for every item: 1 for included items, 0 for excluded ones and for parts with quota zero.
    ///
    /// # Cost
    /// One pass over A (2mnr operations); under a quota 8r³ more per node of the torus. Memory: 16 bytes
    /// per item, and some hundred per node and part: never their product.
    ///
    /// # Errors
    /// [`Error::Eigen`](crate::Error::Eigen), and those of the engine.
    pub fn inclusion_probabilities(&self) -> Result<Estimate<Vec<f64>>> {
        let mut probabilities = vec![0.0; self.sets.ground.features().items()];
        for &item in self.sets.ground.included() {
            probabilities[item as usize] = 1.0;
        }
        let rows = Rows::scaled(self.sets.ground.features(), self.groups.iter().map(Items::from).collect());
        let error = match &self.marginals {
            Marginals::Forced(error) => *error,
            Marginals::Spectral(factor, error) => {
                error + add_forms(&self.engine, &rows, std::slice::from_ref(factor), &mut probabilities)?
            }
            Marginals::Torus(nodes) => {
                let (factors, error, _) = nodes.factors(&self.engine)?;
                error + add_forms(&self.engine, &rows, &factors, &mut probabilities)?
            }
        };
        Ok(Estimate { value: probabilities, error })
    }
}

/// Adds ‖F_lᵀ s_l a_i‖² for every row; returns the largest error due to single precision.
fn add_forms(engine: &Engine, rows: &Rows<'_>, factors: &[Mat<f64>], out: &mut [f64]) -> Result<f64> {
    let factors: Vec<MatRef<'_, f64>> = factors.iter().map(Mat::as_ref).collect();
    let (forms, above) = bounded_forms(engine, rows, &factors)?;
    let rounding = above.iter().flatten().zip(&forms).map(|(above, form)| above - form).fold(0.0, f64::max);
    for ((item, _), form) in rows.iter().zip(forms) {
        out[item] = (out[item] + form).min(1.0);
    }
    Ok(rounding)
}
