//! Tilt, eigenvectors and eigenvalues of the weighted kernel, accurate enough for the law at hand.

mod laws;
mod rounding;
mod under_quota;

use std::sync::OnceLock;

use faer::Mat;

pub(crate) use laws::keep_probabilities;
use rounding::Rounding;

use crate::{
    Result,
    engine::{Engine, RowMap, Rows, in_double},
    estimate::accurate,
    linalg::{self, Grading, kernels::dot},
    model::GroundSet,
    parallel::map_ordered,
    polynomial::{
        gram::{Gram, Summand},
        tilt::{Tilt, are_many, weighted_gram},
    },
};

/// The last eigenvectors are dropped if the sum of the probabilities that draws use them is at most this.
const UNUSED: f64 = 1e-13;
/// Largest total variation error of the law accepted from an eigen-decomposition.
const LAW_TOLERANCE: f64 = 1e-11;
/// Rounding up to this need not be measured.
const SETTLED: f64 = 0.1 * LAW_TOLERANCE;
/// The same for exact counts of many groups, since one more pass over the rows and its Gram matrices take long.
const SETTLED_OF_MANY: f64 = 1e-10;
/// The most refinements; each gains about eight digits.
const MAX_ROUNDS: usize = 12;

/// The nonzero spectrum of K̃ = Ã Ãᵀ with rows ã_i = √y_l s_l a_i, through C = Ãᵀ Ã = U Λ Uᵀ.
///
/// Eigenvector j of K̃ is Ã u_j / √λ_j; it is never stored.
#[derive(Clone, Debug)]
pub(crate) struct Spectrum {
    /// λ_1 ≥ … ≥ λ_r.
    pub(crate) values: Vec<f64>,
    /// U, n×r.
    vectors: Mat<f64>,
    /// Estimated total variation error of the law, from the inaccuracy of both and from omitted directions.
    pub(crate) error: f64,
}

/// A tilt and the spectrum at it.
#[derive(Clone, Debug)]
pub(crate) struct TiltedSpectrum {
    pub(crate) tilt: Tilt,
    pub(crate) spectrum: Spectrum,
    /// Gram matrices of the groups with weight 1, in some coordinates.
    grams: Vec<Gram>,
    /// ln of the weights of the groups.
    log_weights: Vec<f64>,
    /// The map from these coordinates to whitened ones; `None` if they are whitened, perhaps with more dimensions.
    whitener: Option<Mat<f64>>,
    diagonals: OnceLock<Option<Vec<Vec<f64>>>>,
}

impl TiltedSpectrum {
    /// The Gram matrix of every group's whitened rows √y_l s_l Λ^-½ Uᵀ a_i, r×r.
    ///
    /// The matrices sum to the identity, up to rounding.
    pub(crate) fn shares(&self) -> Vec<Mat<f64>> {
        map_ordered(self.groups(), |group| self.share(group))
    }

    /// The Gram matrix of one group's whitened rows.
    pub(crate) fn share(&self, group: usize) -> Mat<f64> {
        let (gram, weight) = (&self.grams[group], self.log_weights[group].exp());
        if let Some(whitener) = &self.whitener {
            return gram.turned(whitener, weight);
        }
        let rank = self.spectrum.values.len();
        gram.matrix().submatrix(0, 0, rank, rank) * faer::Scale(weight)
    }

    /// The number of groups.
    pub(crate) fn groups(&self) -> usize {
        self.grams.len()
    }

    /// tr(D share D) of every group for a diagonal D, without forming the shares.
    pub(crate) fn traces(&self, sizes: &[f64]) -> Vec<f64> {
        let squares: Vec<f64> = sizes.iter().map(|size| size * size).collect();
        if let Some(diagonals) = self.diagonals() {
            let of = |(diagonal, t): (&Vec<f64>, &f64)| t.exp() * dot(diagonal, &squares);
            return diagonals.iter().zip(&self.log_weights).map(of).collect();
        }
        let form = self
            .whitener
            .as_ref()
            .map(|whitener| linalg::scale_columns(whitener.as_ref(), &squares) * whitener.transpose());
        map_ordered(self.groups(), |group| {
            let (gram, weight) = (&self.grams[group], self.log_weights[group].exp());
            let sum = match &form {
                Some(form) => gram.product(form),
                None => squares.iter().zip(gram.diagonal()).map(|(square, own)| square * own).sum(),
            };
            weight * sum
        })
    }

    /// The diagonals of all shares at weight 1, if rows are kept.
    ///
    /// Products with the rows are computed only once.
    fn diagonals(&self) -> Option<&Vec<Vec<f64>>> {
        let whitener = self.whitener.as_ref()?;
        let of = |group: usize| self.grams[group].turned_diagonal(whitener);
        let all = || map_ordered(self.groups(), of).into_iter().collect();
        self.diagonals.get_or_init(all).as_ref()
    }

    /// Whether the groups' rows are kept in place of their Gram matrices.
    pub(crate) fn keeps_rows(&self) -> bool {
        self.grams.iter().any(|gram| matches!(gram, Gram::Rows(_)))
    }

    /// Whether the error is at most a few times the rounding error in any coordinates, for sets of this size.
    pub(crate) fn is_at_rounding(&self, size: f64) -> bool {
        /// The accepted multiple of 8ε√r per eigenvector used, the largest error of products with rows.
        const FEW: f64 = 8.0;
        let of_products = 8.0 * f64::EPSILON * size * (self.spectrum.values.len() as f64).sqrt();
        self.spectrum.error <= FEW * of_products
    }

    /// The result, from Gram matrices in whitened coordinates.
    fn measured(tilt: Tilt, spectrum: Spectrum, whitened: Vec<Gram>) -> Self {
        let (log_weights, diagonals) = (vec![0.0; whitened.len()], OnceLock::new());
        Self { tilt, spectrum, grams: whitened, log_weights, whitener: None, diagonals }
    }
}

/// Gram matrices of the groups in an orthonormal basis of the features' span.
struct Coordinates {
    /// n×(basis size).
    basis: Mat<f64>,
    grams: Vec<Gram>,
    grading: Grading,
    /// Eigenvalues below this fraction of the largest may be rounding; 0 if every direction is genuine.
    rounding: f64,
    /// The number of directions left out as rounding.
    lost: usize,
}

impl Spectrum {
    /// Finds the tilt and decomposes Σ y_l G_l, for the rows of a ground set or their components beyond its included
    /// items.
    ///
    /// `tilt` computes the weights from Gram matrices. `usage` returns the probability that each eigenvector is used,
    /// given the eigenvalues in descending order. Rarely used eigenvectors may be less accurate, and unused ones are
    /// dropped. This determines the rank, instead of a threshold on λ. Rounding up to `settled` is not measured.
    ///
    /// # Numerics
    /// A Gram matrix squares the condition number, so directions below 1e-8 of the largest are noise in it. If that
    /// would change the law, the Gram matrices are recomputed in the basis U with each direction scaled to its size,
    /// in one more pass over the rows. They are then graded and accurate in every entry.
    ///
    /// Tilt and eigenvectors are recomputed to high relative accuracy until the weighted rows are orthonormal within
    /// 1e-11 (as far as draws use them), or as nearly as f64 allows: about ε times the condition number of the
    /// weighted rows. Errors above 1e-4 are refused. Singular values below n·ε of the largest count as zero, and
    /// the error includes the probability that they would be used. In triangular coordinates none counts as zero.
    pub(crate) fn resolve(
        engine: &Engine,
        rows: &Rows<'_>,
        ground: &GroundSet,
        tilt: impl Fn(&[Gram], Grading) -> Result<Tilt>,
        (usage, settled): (impl Fn(&[f64]) -> Result<Vec<f64>>, f64),
    ) -> Result<TiltedSpectrum> {
        let engine = in_double(engine);
        let given = Coordinates::given(engine, rows, ground)?;
        let rounding = Rounding::new(rows, ground, &given.grams);
        let (mut found, lost) = Self::resolve_from(engine, rows, given, tilt, (&usage, settled))?;
        // An upper bound on the lost eigenvalues; the weights may have changed since they were dropped.
        let most = rounding_square(rows) * found.spectrum.values[0];
        let error = found.spectrum.error + rounding.error(engine, &found, &vec![most; lost], usage)?;
        found.spectrum.error = accurate(error)?;
        Ok(found)
    }

    /// Like `resolve`, and also returns the number of directions left out.
    fn resolve_from(
        engine: &Engine,
        rows: &Rows<'_>,
        mut at: Coordinates,
        tilt: impl Fn(&[Gram], Grading) -> Result<Tilt>,
        (usage, settled): (&impl Fn(&[f64]) -> Result<Vec<f64>>, f64),
    ) -> Result<(TiltedSpectrum, usize)> {
        let dims = rows.features().dims();
        let settled = if are_many(at.grams.len(), at.grams[0].dims()) { settled } else { SETTLED };
        let mut best = f64::INFINITY;
        for round in 1.. {
            if at.grams[0].dims() == 0 {
                // Only rounding is left.
                accurate(f64::INFINITY)?;
            }
            let found = tilt(&at.grams, at.grading)?;
            let gram = weighted_gram(&at.grams, &found.log_weights);
            let eigen = linalg::eigen_graded(gram.as_ref(), at.grading, || engine.proceed())?;
            let noise = dims as f64 * f64::EPSILON * eigen.values[0];
            // Directions below the noise may be genuine, so keep them until they are measured.
            let floor =
                if at.grading == Grading::None { noise.max(f64::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
            let values: Vec<f64> = eigen.values.iter().map(|value| value.max(floor)).collect();
            let unknown = match at.grading {
                Grading::None => vec![noise; values.len()],
                Grading::Descending => unknown(&gram, &eigen.vectors),
            };
            let whole = Self { values, vectors: &at.basis * &eigen.vectors, error: 0.0 };
            if eigen.values[0] <= 0.0 {
                // All rows are zero, so nothing is ever chosen.
                return Ok(at.whitened_by(found, whole, &eigen.vectors));
            }
            let (mut used, probability) = whole.used(usage, &unknown)?;
            let measured = used.values.last().is_none_or(|&least| least > floor);
            let rounding: f64 =
                used.values.iter().zip(&probability).map(|(value, p)| p * noise / value).sum();
            if at.grading == Grading::None && measured && rounding <= settled {
                used.error += rounding;
                return Ok(at.whitened_by(found, used, &eigen.vectors));
            }
            let whitened = measure(engine, rows, &found, &whole)?;
            let deviation = deviation(&whitened, &probability);
            used.error += deviation;
            // The basis is stored in f64, so beyond some condition number further rounds do not help. In graded
            // coordinates no round helps.
            let most = if at.rounding > 0.0 { MAX_ROUNDS } else { 1 };
            let last = round == most || (measured && deviation > 0.25 * best);
            if last || (measured && deviation <= LAW_TOLERANCE) {
                accurate(deviation)?;
                return Ok((TiltedSpectrum::measured(found, used, whitened), at.lost));
            }
            best = best.min(if measured { deviation } else { f64::INFINITY });
            at = at.scaled_back(&whole, &whitened, &found.log_weights);
        }
        unreachable!("the last round returns")
    }

    /// U Λ^-½, n×r, which maps weighted rows to rows of an orthonormal m×r matrix.
    pub(crate) fn whitener(&self) -> Mat<f64> {
        linalg::scale_columns(self.vectors.as_ref(), &self.inverse_roots())
    }

    fn inverse_roots(&self) -> Vec<f64> {
        self.values.iter().map(|value| value.sqrt().recip()).collect()
    }

    /// Drops the last eigenvectors, which draws do not use, and returns the probabilities that the rest is used.
    ///
    /// The error becomes the probability that the dropped ones are used. `unknown` is the error of every eigenvalue.
    fn used(&self, usage: impl Fn(&[f64]) -> Result<Vec<f64>>, unknown: &[f64]) -> Result<(Self, Vec<f64>)> {
        let mut probability = usage(&self.values)?;
        let mut rank = self.values.len();
        let mut dropped = 0.0;
        while rank > 1 && dropped + probability[rank - 1] <= UNUSED {
            rank -= 1;
            dropped += probability[rank];
        }
        if rank < self.values.len() {
            let most = self.values.iter().zip(unknown).map(|(value, unknown)| value + unknown);
            let most: Vec<f64> = self.values[..rank].iter().copied().chain(most.skip(rank)).collect();
            dropped = usage(&most)?[rank..].iter().sum();
        }
        probability.truncate(rank);
        let vectors = self.vectors.subcols(0, rank).to_owned();
        Ok((Self { values: self.values[..rank].to_vec(), vectors, error: dropped }, probability))
    }
}

impl Coordinates {
    /// The coordinates of the features, or of a subspace of them.
    fn given(engine: &Engine, rows: &Rows<'_>, ground: &GroundSet) -> Result<Self> {
        let dims = rows.features().dims();
        let ones = vec![1.0; rows.groups().len()];
        let map = ground.beyond().map(|basis| RowMap { weights: &ones, factor: basis.as_ref() });
        let grams = Gram::of_groups(engine, rows, map.as_ref())?;
        let basis = ground.beyond().map_or_else(|| Mat::identity(dims, dims), Clone::clone);
        // In graded coordinates, the error of an entry is the rounding of its row and column.
        let grading = if ground.is_graded() { Grading::Descending } else { Grading::None };
        let rounding = if ground.is_graded() { 0.0 } else { rounding_square(rows) };
        Ok(Self { basis, grams, grading, rounding, lost: 0 })
    }

    /// Makes coordinates from the Gram matrices W_l of rows whitened with weights √y_l and U Λ^-½.
    ///
    /// In the basis U, G_l = Λ^½ W_l Λ^½ / y_l. Directions that may be rounding are left out.
    fn scaled_back(self, spectrum: &Spectrum, whitened: &[Gram], log_weights: &[f64]) -> Self {
        let dims = spectrum.vectors.nrows();
        let sizes: Vec<f64> = spectrum.values.iter().map(|value| value.sqrt()).collect();
        let zero = self.rounding * sizes[0] * sizes[0];
        let diagonals: Vec<Vec<f64>> = whitened.iter().map(Gram::diagonal).collect();
        let held = |j: usize| diagonals.iter().map(|diagonal| diagonal[j]).sum::<f64>() * sizes[j] * sizes[j];
        let kept: Vec<usize> = (0..sizes.len()).filter(|&j| held(j) > zero).collect();
        let grams = whitened.iter().zip(log_weights).map(|(gram, t)| gram.scaled(&kept, &sizes, (-t).exp()));
        let basis = Mat::from_fn(dims, kept.len(), |i, a| spectrum.vectors[(i, kept[a])]);
        let lost = self.lost + sizes.len() - kept.len();
        Self { grams: grams.collect(), basis, grading: Grading::Descending, lost, ..self }
    }

    /// The result, if these coordinates are accurate enough.
    fn whitened_by(self, tilt: Tilt, spectrum: Spectrum, vectors: &Mat<f64>) -> (TiltedSpectrum, usize) {
        let rank = spectrum.values.len();
        let whitener = linalg::scale_columns(vectors.subcols(0, rank), &spectrum.inverse_roots());
        let log_weights = tilt.log_weights.clone();
        let grams = self.grams;
        let (whitener, diagonals) = (Some(whitener), OnceLock::new());
        (TiltedSpectrum { tilt, spectrum, grams, log_weights, whitener, diagonals }, self.lost)
    }
}

/// The error of the eigenvalues of a graded Gram matrix from the rounding of its entries, εn√(G_aa G_bb).
///
/// It is large compared with eigenvalues that nearly cancel.
///
/// ```text
/// |u_jᵀ E u_j| ≤ εn (Σ_a |u_aj| √G_aa)²
/// ```
fn unknown(gram: &Mat<f64>, vectors: &Mat<f64>) -> Vec<f64> {
    let size = gram.nrows();
    let of = |j: usize| {
        let sum: f64 = (0..size).map(|a| vectors[(a, j)].abs() * gram[(a, a)].max(0.0).sqrt()).sum();
        size as f64 * f64::EPSILON * sum * sum
    };
    (0..vectors.ncols()).map(of).collect()
}

/// (n·ε)², the squared relative error of rows along a direction stored in f64.
fn rounding_square(rows: &Rows<'_>) -> f64 {
    (rows.features().dims() as f64 * f64::EPSILON).powi(2)
}

/// The Gram matrix of every group's whitened rows; they should sum to the identity.
fn measure(engine: &Engine, rows: &Rows<'_>, tilt: &Tilt, spectrum: &Spectrum) -> Result<Vec<Gram>> {
    let weights = tilt.root_weights();
    let whitener = spectrum.whitener();
    let map = RowMap { weights: &weights, factor: whitener.as_ref() };
    Gram::of_groups(engine, rows, Some(&map))
}

/// The error of the law if the whitened Gram matrices do not sum to the identity.
///
/// Entry (i, j) matters as often as eigenvectors i and j are used.
fn deviation(whitened: &[Gram], probability: &[f64]) -> f64 {
    let (mut worst, all) = (0.0, Gram::sum(whitened, &vec![1.0; whitened.len()]));
    for j in 0..probability.len() {
        for i in 0..=j {
            let gap = f64::abs(all[(i, j)] - if i == j { 1.0 } else { 0.0 });
            let weighted = gap * (probability[i] * probability[j]).sqrt();
            // NaN counts as infinitely far.
            worst = if weighted <= worst { worst } else { weighted };
        }
    }
    if worst.is_nan() { f64::INFINITY } else { worst }
}
