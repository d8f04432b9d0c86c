//! Coordinates in which determinants are bounded.

use faer::{Mat, Side};

use super::{
    candidate::running_sums,
    share::{Share, scaled},
};
use crate::{
    Error, Result,
    engine::Engine,
    linalg::{eigen, scale_columns, sigmoid, thinning::Thinning},
    parallel::map_ordered,
    polynomial::spectrum::TiltedSpectrum,
    watch::Step,
};

/// The matrix B, in the eigenvectors U of Σ y_l G_l with eigenvalues λ_j.
///
/// ```text
/// v_i = B^-½ a_i = Fᵀ a_i,   F = U diag(β_j)^-½
/// ```
///
/// The larger β is, the more nearly the rows are whitened.
#[derive(Clone, Debug)]
pub(super) struct Whitening {
    /// β_j ≥ 1, descending.
    pub(super) beta: Vec<f64>,
    /// tr Ĝ_l.
    pub(super) traces: Vec<f64>,
    /// Eigenvalues of every Ĝ_l, descending; empty if they are not needed.
    pub(super) spectra: Vec<Vec<f64>>,
}

/// A family of B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Family {
    /// β_j = 1 + s c λ_j, where the DPP with kernel c K has the expected size wanted.
    Smooth(f64),
    /// β_j = max(1, λ_j / λ_q): the q largest are shrunk to the next one.
    Clipped(usize),
}

impl Family {
    fn beta(self, values: &[f64], scale: f64) -> Vec<f64> {
        match self {
            Self::Smooth(strength) => values.iter().map(|value| 1.0 + strength * scale * value).collect(),
            Self::Clipped(heavy) => clipped(values, heavy),
        }
    }
}

impl Whitening {
    /// A whitening without traces and spectra. `scale` is c.
    pub(super) fn of(found: &TiltedSpectrum, (scale, family): (f64, Family)) -> Self {
        let beta = family.beta(&found.spectrum.values, scale);
        Self { beta, traces: Vec::new(), spectra: Vec::new() }
    }

    /// Adds traces only.
    pub(super) fn with_traces(self, found: &TiltedSpectrum) -> Self {
        Self { traces: found.traces(&self.sizes(found)), ..self }
    }

    /// Adds traces and spectra.
    ///
    /// # Errors
    /// [`Error::Eigen`]; [`Error::Ended`] if the engine's watch ends it.
    pub(super) fn with_spectra(
        self,
        found: &TiltedSpectrum,
        shares: &[Share],
        engine: &Engine,
    ) -> Result<Self> {
        let sizes = self.sizes(found);
        let spectra = map_ordered(shares.len(), |group| {
            let values = shares[group].eigenvalues_above(&sizes)?;
            engine.proceed_after_steps(Step::Search, 1)?;
            Ok(values)
        });
        let spectra = spectra.into_iter().collect::<Result<_>>()?;
        Ok(Self { traces: shares.iter().map(|share| share.trace(&sizes)).collect(), spectra, ..self })
    }

    /// Adds traces, and spectra as if every group were like one of a few.
    ///
    /// # Errors
    /// [`Error::Eigen`] if an eigendecomposition fails.
    pub(super) fn with_spectra_of_few(self, found: &TiltedSpectrum, few: &[(usize, Share)]) -> Result<Self> {
        let (sizes, found) = (self.sizes(found), self.with_traces(found));
        let spectra = map_ordered(few.len(), |at| few[at].1.eigenvalues_above(&sizes));
        let spectra = spectra.into_iter().collect::<Result<Vec<_>>>()?;
        let like = |(group, trace): (usize, &f64)| {
            let at = group % few.len();
            let ratio = trace / found.traces[few[at].0].max(f64::MIN_POSITIVE);
            spectra[at].iter().map(|value| value * ratio).collect()
        };
        Ok(Self { spectra: found.traces.iter().enumerate().map(like).collect(), ..found })
    }

    /// Ĝ_l in the coordinates of the eigenvectors, or turned to other coordinates.
    pub(super) fn grams(&self, found: &TiltedSpectrum, turn: Option<&Mat<f64>>) -> Vec<Mat<f64>> {
        let sizes = self.sizes(found);
        map_ordered(found.groups(), |group| {
            let gram = scaled(&found.share(group), &sizes);
            turn.map_or_else(|| gram.clone(), |turn| turn * &gram * turn.transpose())
        })
    }

    /// √(λ_j / β_j).
    fn sizes(&self, found: &TiltedSpectrum) -> Vec<f64> {
        let values = found.spectrum.values.iter();
        values.zip(&self.beta).map(|(value, beta)| (value / beta).sqrt()).collect()
    }

    /// Number of directions with β above 1.
    pub(super) fn heavy(&self) -> usize {
        self.beta.iter().filter(|&&beta| beta > 1.0).count()
    }

    /// B^-½ for rows in the coordinates of the features.
    pub(super) fn thinning(&self, found: &TiltedSpectrum) -> Thinning {
        Thinning::new(vectors(found).as_ref(), &self.beta)
    }

    /// F, n×r.
    pub(super) fn factor(&self, found: &TiltedSpectrum) -> Mat<f64> {
        scale_columns(found.spectrum.whitener().as_ref(), &self.sizes(found))
    }

    /// ln Π_{j≤t} β_j for t from 0 to r.
    pub(super) fn log_products(&self) -> Vec<f64> {
        running_sums(self.beta.iter().map(|beta| beta.ln()))
    }

    /// The number of dimensions of the rows.
    pub(super) fn rank(&self) -> usize {
        self.beta.len()
    }
}

/// U, n×r.
pub(super) fn vectors(found: &TiltedSpectrum) -> Mat<f64> {
    let roots: Vec<f64> = found.spectrum.values.iter().map(|value| value.sqrt()).collect();
    scale_columns(found.spectrum.whitener().as_ref(), &roots)
}

/// The c at which Σ c λ_j / (1 + c λ_j) = k, or a slightly smaller sum if k is the number of values.
pub(super) fn scale_of_size(values: &[f64], k: usize) -> f64 {
    let wanted = (k as f64).min(values.len() as f64 - 0.5);
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let expected = |log: f64| logs.iter().map(|value| sigmoid(value + log)).sum::<f64>();
    let spread = logs.iter().fold(0.0_f64, |most, log| most.max(log.abs()));
    let (mut low, mut high) = (-spread - 60.0, spread + 60.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if expected(middle) < wanted { low = middle } else { high = middle }
    }
    (0.5 * (low + high)).exp()
}

/// The shares of all groups.
pub(super) fn shares(found: &TiltedSpectrum) -> Vec<Share> {
    found.shares().into_iter().map(Share::new).collect()
}

/// The shares of a few evenly spaced groups.
pub(super) fn shares_of_few(found: &TiltedSpectrum, few: usize) -> Vec<(usize, Share)> {
    let groups = found.groups();
    let few = few.min(groups);
    (0..few).map(|at| at * groups / few).map(|group| (group, Share::new(found.share(group)))).collect()
}

/// Eigenvalues of a positive semidefinite matrix, descending, and none below the rounding error of zero.
pub(super) fn eigenvalues(matrix: &Mat<f64>) -> Result<Vec<f64>> {
    let size = matrix.nrows();
    let found = match matrix.self_adjoint_eigenvalues(Side::Lower) {
        Ok(ascending) => ascending.into_iter().rev().collect(),
        Err(_) => eigen(matrix.as_ref())?.values,
    };
    if found.iter().any(|value: &f64| !value.is_finite()) {
        return Err(Error::Eigen { size });
    }
    let least = size as f64 * f64::EPSILON * found.first().copied().unwrap_or(0.0).max(0.0);
    Ok(found.into_iter().map(|value| value.max(least)).collect())
}

/// β_j = max(1, λ_j / λ_q) for eigenvalues in descending order, counted from zero: the q largest are shrunk to the
/// next one.
pub(super) fn clipped(values: &[f64], q: usize) -> Vec<f64> {
    let Some(&next) = values.get(q) else { return vec![1.0; values.len()] };
    values.iter().map(|value| if next > 0.0 { (value / next).max(1.0) } else { 1.0 }).collect()
}
