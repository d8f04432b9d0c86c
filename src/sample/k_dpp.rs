//! The k-DPP.

use rand::Rng;

use super::{
    Law, Projection, Sampler,
    attempts::Attempts,
    projection::{ProjectionDpp, Scratch},
};
use crate::{
    Error, Features, Result,
    data::{FreeItems, GroundSet, accurately},
    engine::{Engine, Items, Rows},
    polynomial::{ConditionalBernoulli, feasibility, spectrum::TiltedSpectrum},
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
    pub(crate) ground: GroundSet<'a>,
    k: usize,
    pub(super) projection: Projection,
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
        let ground = GroundSet::new(features)?;
        let dpp = Self { ground, k, projection: Projection::default() };
        dpp.checked()
    }

    /// Conditions on these items being in the set, besides those required before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::DependentItems`] if their determinant is zero;
    /// - [`Error::SizeBelowIncluded`] if they are more than k.
    pub fn including(mut self, items: &[usize]) -> Result<Self> {
        if items.is_empty() {
            return Ok(self);
        }
        self.ground.include(items)?;
        self.checked()
    }

    /// Conditions on these items not being in the set, besides those excluded before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::SizeAboveItems`], [`Error::SizeAboveRank`] if too little is left.
    pub fn excluding(mut self, items: &[usize]) -> Result<Self> {
        if items.is_empty() {
            return Ok(self);
        }
        self.ground.exclude(items)?;
        self.checked()
    }

    /// Refuses what has probability zero.
    fn checked(self) -> Result<Self> {
        let (k, included) = (self.k, self.ground.included().len());
        if included > k {
            return Err(Error::SizeBelowIncluded { k, included });
        }
        let free = self.ground.free_items();
        let items = free.len() + included;
        if k > items {
            return Err(Error::SizeAboveItems { k, items });
        }
        let basis = feasibility::part_basis(&self.ground, Items::from(&free), k - included);
        let rank = basis.len() + included;
        if rank < k { Err(Error::SizeAboveRank { k, rank }) } else { Ok(self) }
    }

    /// k.
    pub(crate) fn size(&self) -> usize {
        self.k
    }

    /// Items to choose besides those included.
    pub(crate) fn free_size(&self) -> usize {
        self.k - self.ground.included().len()
    }

    /// Chooses how items are picked once the eigenvectors are chosen.
    #[must_use]
    pub fn with_projection(self, projection: Projection) -> Self {
        Self { projection, ..self }
    }

    /// The same law in coordinates that keep every digit.
    pub(crate) fn graded(&self) -> Result<Option<Self>> {
        let items = self.ground.free_items();
        let rows = Rows::scaled(self.ground.features(), vec![Items::from(&items)]);
        Ok(self.ground.graded(&rows)?.map(|ground| Self { ground, ..self.clone() }))
    }

    /// Set-up of the exact sampler.
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each) and O(n³); per draw see [`Projection`].
    ///
    /// # Errors
    /// [`Error::Eigen`], [`Error::SizeAboveRank`] where the rank shows only at f64's accuracy,
    /// and those of the engine.
    pub fn sampler(&self, engine: &'a dyn Engine) -> Result<Sampler<'a>> {
        let ground = &self.ground;
        if self.free_size() == 0 {
            return Ok(Sampler::settled(ground.included(), engine));
        }
        let law = KDppLaw::new(engine, ground, &ground.free_items(), self.free_size(), self.projection)?;
        let error = law.error;
        Ok(Sampler::new(Law::KDpp(law), ground.included(), engine, error))
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
    /// The k-DPP on some of the free items.
    pub(crate) fn new(
        engine: &dyn Engine,
        ground: &GroundSet<'a>,
        items: &FreeItems<'_>,
        k: usize,
        projection: Projection,
    ) -> Result<Self> {
        let graded = |ground: &GroundSet<'a>| {
            ground.graded(&Rows::scaled(ground.features(), vec![Items::from(items)]))
        };
        let compute = |ground: &GroundSet<'a>| Self::as_given(engine, ground, items, k, projection);
        accurately(ground, graded, compute, |law| law.error)
    }

    fn as_given(
        engine: &dyn Engine,
        ground: &GroundSet<'a>,
        items: &FreeItems<'_>,
        k: usize,
        projection: Projection,
    ) -> Result<Self> {
        let rows = Rows::scaled(ground.features(), vec![Items::from(items)]);
        let TiltedSpectrum { spectrum, .. } = TiltedSpectrum::for_size(engine, &rows, ground, k)?;
        let eigenvectors = ConditionalBernoulli::new(&spectrum.values, k)?;
        let projection =
            ProjectionDpp::new(engine, ground.features(), &rows, &[1.0], &spectrum, k as f64, projection)?;
        Ok(Self { eigenvectors, projection, error: spectrum.error })
    }

    pub(crate) fn sample<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<Vec<u32>> {
        let mut scratch = Scratch::default();
        loop {
            attempts.another()?;
            self.eigenvectors.sample_into(rng, &mut scratch.chosen);
            if let Some(picks) = self.projection.draw(rng, &mut scratch, |_| attempts.go_on()) {
                return Ok(picks.to_vec());
            }
        }
    }
}
