//! Inference for laws of rows: one factor per part, from eigenvectors or from the nodes of a torus.

use faer::{Mat, MatRef, c64};

use crate::{
    Estimate, Result,
    engine::{Engine, Items, Rows, bounded_forms},
    linalg,
    model::{FreeItems, SetProbabilities},
    polynomial::{generating_function::GeneratingFunction, spectrum::Spectrum, torus::Torus},
};

/// Probabilities under a law of rows without a ridge.
#[derive(Debug)]
pub(crate) struct RowInference {
    pub(super) sets: SetProbabilities,
    /// The free items, by group.
    pub(super) groups: Vec<FreeItems>,
    pub(super) marginals: Marginals,
    pub(super) engine: Engine,
}

/// The method for inclusion probabilities.
#[derive(Debug)]
pub(super) enum Marginals {
    /// Every item is forced; holds the error.
    Forced(f64),
    /// ‖Fᵀ s a_i‖² with this factor F; holds F and the error.
    Spectral(Mat<f64>, f64),
    /// From the nodes of a torus.
    Torus(Box<Nodes>),
}

impl Marginals {
    /// Marginals if eigenvectors are chosen with these probabilities.
    pub(super) fn spectral(spectrum: &Spectrum, probabilities: impl Iterator<Item = f64>) -> Self {
        let roots: Vec<f64> = probabilities.map(f64::sqrt).collect();
        let factor = linalg::scale_columns(spectrum.whitener().as_ref(), &roots);
        Self::Spectral(linalg::square_root(factor), spectrum.error)
    }
}

/// A generating function, its torus, and the requested coefficients.
#[derive(Debug)]
pub(super) struct Nodes {
    pub(super) function: GeneratingFunction,
    pub(super) torus: Torus,
    /// The factors of φ at every node.
    pub(super) extractors: Vec<c64>,
    /// The largest number of items of a set.
    pub(super) most: usize,
    /// The error of the spectrum.
    pub(super) error: f64,
}

/// Pr(i ∈ S) as quadratic forms of rows, independent of where the rows are stored.
#[derive(Debug)]
pub(crate) struct RowFactors {
    /// The factors F_l in Pr(i ∈ S) = ‖F_lᵀ a_i‖², by group, for rows as used in computations; empty if nothing is
    /// chosen.
    pub(crate) factors: Vec<Mat<f64>>,
    /// The error of these probabilities.
    pub(crate) error: f64,
    /// The fraction of sets that the law allows, at the tilt.
    pub(crate) mass: f64,
}

impl RowInference {
    /// The factors that give inclusion probabilities for any rows with the same Gram matrices.
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

    pub(crate) fn log_z(&self) -> Estimate<f64> {
        self.sets.log_z
    }

    /// The estimated error of ln Z and of the inputs of inclusion probabilities.
    pub(super) fn error(&self) -> f64 {
        let marginals = match &self.marginals {
            Marginals::Forced(error) | Marginals::Spectral(_, error) => *error,
            Marginals::Torus(nodes) => nodes.error,
        };
        marginals.max(self.sets.log_z.error)
    }

    pub(super) fn inclusion_probabilities(&self) -> Result<Estimate<Vec<f64>>> {
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

/// Adds ‖F_lᵀ s_l a_i‖² for every row and returns the largest error from single precision.
fn add_forms(engine: &Engine, rows: &Rows<'_>, factors: &[Mat<f64>], out: &mut [f64]) -> Result<f64> {
    let factors: Vec<MatRef<'_, f64>> = factors.iter().map(Mat::as_ref).collect();
    let (forms, above) = bounded_forms(engine, rows, &factors)?;
    let rounding = above.iter().flatten().zip(&forms).map(|(above, form)| above - form).fold(0.0, f64::max);
    for ((item, _), form) in rows.iter().zip(forms) {
        out[item] = (out[item] + form).min(1.0);
    }
    Ok(rounding)
}
