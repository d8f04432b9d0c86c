//! Eigenvectors and eigenvalues of the weighted kernel, accurate enough for the law at hand.

use faer::{Mat, MatRef};

use crate::{
    Result,
    engine::{Engine, RowMap, Rows},
    linalg,
};

/// Eigenvectors that all draws together use with at most this probability are dropped.
const UNUSED: f64 = 1e-13;
/// Total-variation error of the law that is accepted from an eigen-decomposition.
const LAW_TOLERANCE: f64 = 1e-11;
/// Rounds of refinement; each gains about six digits.
const MAX_ROUNDS: usize = 4;

/// The nonzero spectrum of K̃ = Ã Ãᵀ with rows ã_i = w_l s_l a_i, through C = Ãᵀ Ã = U Λ Uᵀ.
///
/// Eigenvector j of K̃ is Ã u_j / √λ_j; it is never stored.
#[derive(Clone, Debug)]
pub(crate) struct Spectrum {
    /// λ_1 ≥ … ≥ λ_r.
    pub(crate) values: Vec<f64>,
    /// U, n×r.
    pub(crate) vectors: Mat<f64>,
}

impl Spectrum {
    /// U Λ^-½, n×r: takes weighted rows to rows of an orthonormal m×r matrix.
    pub(crate) fn whitener(&self) -> Mat<f64> {
        let factors: Vec<f64> = self.values.iter().map(|value| value.sqrt().recip()).collect();
        linalg::scale_columns(self.vectors.as_ref(), &factors)
    }

    /// Decomposes `gram` = Σ w_l² G_l.
    ///
    /// `usage` tells how likely each eigenvector is to be used, given the eigenvalues in
    /// descending order. Rarely used eigenvectors may be inaccurate in proportion, and those that
    /// are never used are dropped: that is what decides the rank, not a cut in λ.
    ///
    /// # Numerics
    /// A Gram matrix squares the condition number, so its small eigenpairs are noise. Where
    /// that would change the law, the Gram matrix of Ã U Λ^-½ is formed (one more pass over the
    /// rows) and diagonalised to high relative accuracy; this repeats until it is the identity.
    pub(crate) fn resolve(
        engine: &dyn Engine,
        rows: &Rows<'_>,
        weights: &[f64],
        gram: MatRef<'_, f64>,
        usage: impl Fn(&[f64]) -> Result<Vec<f64>>,
    ) -> Result<Self> {
        let dims = gram.nrows() as f64;
        let eigen = linalg::eigen(gram)?;
        let largest = eigen.values[0];
        let noise = dims * f64::EPSILON * largest;
        // Directions below the noise may be real: keep them until they have been measured.
        let values = eigen.values.iter().map(|value| value.max(noise)).collect();
        let mut spectrum = Self { values, vectors: eigen.vectors };
        let mut probability = spectrum.drop_unused(&usage)?;
        let predicted: f64 =
            spectrum.values.iter().zip(&probability).map(|(value, p)| p * noise / value).sum();
        if predicted <= 0.1 * LAW_TOLERANCE {
            return Ok(spectrum);
        }
        for _ in 0..MAX_ROUNDS {
            let whitener = spectrum.whitener();
            let map = RowMap { weights, factor: whitener.as_ref() };
            let grams = engine.part_grams(rows, Some(&map))?;
            let whitened =
                grams.into_iter().reduce(|sum, gram| sum + gram).unwrap_or_else(|| Mat::zeros(0, 0));
            if deviation(&whitened, &probability) <= LAW_TOLERANCE {
                break;
            }
            spectrum.rotate(&whitened, largest * (dims * f64::EPSILON).powi(2));
            probability = spectrum.drop_unused(&usage)?;
        }
        Ok(spectrum)
    }

    /// Cuts the tail that draws do not use; returns the usage of the rest.
    fn drop_unused(&mut self, usage: impl Fn(&[f64]) -> Result<Vec<f64>>) -> Result<Vec<f64>> {
        let mut probability = usage(&self.values)?;
        let mut rank = self.values.len();
        let mut dropped = 0.0;
        while rank > 1 && dropped + probability[rank - 1] <= UNUSED {
            rank -= 1;
            dropped += probability[rank];
        }
        self.values.truncate(rank);
        probability.truncate(rank);
        self.vectors.resize_with(self.vectors.nrows(), rank, |_, _| 0.0);
        Ok(probability)
    }

    /// Rayleigh–Ritz in the basis U with the accurately scaled Λ^½ E Λ^½, E = Gram(Ã U Λ^-½).
    fn rotate(&mut self, whitened: &Mat<f64>, zero: f64) {
        let alive: Vec<usize> =
            (0..self.values.len()).filter(|&j| self.values[j] * whitened[(j, j)] > zero).collect();
        let roots: Vec<f64> = alive.iter().map(|&j| self.values[j].sqrt()).collect();
        let graded = Mat::from_fn(alive.len(), alive.len(), |a, b| {
            roots[a] * whitened[(alive[a], alive[b])] * roots[b]
        });
        let eigen = linalg::graded_eigen(graded.as_ref());
        let basis = Mat::from_fn(self.vectors.nrows(), alive.len(), |i, a| self.vectors[(i, alive[a])]);
        self.vectors = basis * &eigen.vectors;
        self.values = eigen.values;
    }
}

/// How far the law is from exact if the whitened Gram matrix is not the identity: entry (i, j)
/// matters as often as eigenvectors i and j are used.
fn deviation(whitened: &Mat<f64>, probability: &[f64]) -> f64 {
    let mut worst = 0.0;
    for j in 0..whitened.ncols() {
        for i in 0..=j {
            let gap = f64::abs(whitened[(i, j)] - if i == j { 1.0 } else { 0.0 });
            worst = f64::max(worst, gap * (probability[i] * probability[j]).sqrt());
        }
    }
    worst
}
