//! The k-DPP.

use rand::Rng;

use super::{
    Law, Projection, Sampler,
    projection::{ProjectionDpp, Scratch},
    spectrum::Spectrum,
};
use crate::{
    Error, Features, Result,
    data::compress_if_wide,
    engine::{Engine, Items, Rows},
    polynomial::{ConditionalBernoulli, feasibility, tilt::Tilt},
};

/// A DPP conditioned on its size.
///
/// ```text
/// Pr(S) = det(K_S) / e_k(spec K),   |S| = k,  K = A Aᵀ
/// ```
///
/// # Numerics
/// Neither over- nor underflows at any k ≤ rank K and any scale of A.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, KDpp, engine};
/// use rand::{SeedableRng, distr::Distribution};
/// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 0.9, 0.1, 0.0, 1.0])?;
/// let k_dpp = KDpp::new(&features, 2)?;
/// let sampler = k_dpp.sampler(&engine::Cpu)?;
/// let subset = sampler.sample(&mut rand::rngs::StdRng::seed_from_u64(1));
/// assert_eq!(subset.len(), 2);
/// # Ok(()) }
/// ```
///
/// # Source
/// Deshpande and Rademacher, *Efficient volume sampling* (2010), whose law is algorithm 1 of
/// Kathuria and Deshpande (2016); as a mixture of projection DPPs: Kulesza and Taskar, *k-DPPs* (2011).
#[derive(Clone, Debug)]
pub struct KDpp<'a> {
    features: Features<'a>,
    k: usize,
    projection: Projection,
}

impl<'a> KDpp<'a> {
    /// Subsets of `k` items, with kernel A Aᵀ.
    ///
    /// # Errors
    /// - [`Error::Nothing`] for k = 0;
    /// - [`Error::SizeAboveItems`] for k > m;
    /// - [`Error::SizeAboveRank`] for k above the rank of A.
    pub fn new(features: &Features<'a>, k: usize) -> Result<Self> {
        if k == 0 {
            return Err(Error::Nothing { what: "k" });
        }
        let items = features.items();
        if k > items {
            return Err(Error::SizeAboveItems { k, items });
        }
        let features = compress_if_wide(features)?;
        let rank = feasibility::part_basis(&features, Items::All(items), k).len();
        if rank < k {
            return Err(Error::SizeAboveRank { k, rank });
        }
        Ok(Self { features, k, projection: Projection::default() })
    }

    /// Chooses how items are picked once the eigenvectors are chosen.
    #[must_use]
    pub fn with_projection(self, projection: Projection) -> Self {
        Self { projection, ..self }
    }

    /// Set-up of the exact sampler.
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each) and O(n³); per draw see [`Projection`].
    ///
    /// # Errors
    /// [`Error::Eigen`], [`Error::SizeAboveRank`] where the rank shows only at f64's accuracy,
    /// and those of the engine.
    pub fn sampler(&self, engine: &dyn Engine) -> Result<Sampler<'a>> {
        let items = Items::All(self.features.items());
        let law = KDppLaw::new(engine, &self.features, items, self.k, self.projection)?;
        let error = law.error;
        Ok(Sampler::new(Law::KDpp(law), engine.info(), error))
    }
}

/// k eigenvectors with probability ∝ Π λ_j, then the projection DPP.
#[derive(Debug)]
pub(crate) struct KDppLaw<'a> {
    eigenvectors: ConditionalBernoulli,
    projection: ProjectionDpp<'a>,
    pub(crate) error: f64,
}

impl<'a> KDppLaw<'a> {
    /// The k-DPP on some of the items.
    pub(crate) fn new(
        engine: &dyn Engine,
        features: &Features<'a>,
        items: Items<'_>,
        k: usize,
        projection: Projection,
    ) -> Result<Self> {
        let rows = Rows::scaled(features, vec![items]);
        let untilted = |grams: &[_], _| Ok(Tilt::neutral(grams.len()));
        let usage = |values: &[f64]| Ok(ConditionalBernoulli::new(values, k)?.inclusion_probabilities());
        let (_, spectrum) = Spectrum::resolve(engine, &rows, untilted, usage)?;
        let eigenvectors = ConditionalBernoulli::new(&spectrum.values, k)?;
        let projection =
            ProjectionDpp::new(engine, features, &rows, &[1.0], &spectrum, k as f64, projection)?;
        Ok(Self { eigenvectors, projection, error: spectrum.error })
    }

    pub(crate) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<u32> {
        let mut scratch = Scratch::default();
        self.eigenvectors.sample_into(rng, &mut scratch.chosen);
        match self.projection.draw(rng, &mut scratch, |_| true) {
            Some(picks) => picks.to_vec(),
            None => unreachable!("every pick is kept"),
        }
    }
}
