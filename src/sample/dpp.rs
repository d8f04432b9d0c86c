//! The plain DPP.

use rand::{Rng, RngExt};

use super::{
    Law, Projection, Sampler,
    attempts::Attempts,
    projection::{ProjectionDpp, Scratch},
};
use crate::{
    Features, Result,
    data::{FreeItems, GroundSet, accurately},
    engine::{Engine, Items, Rows},
    polynomial::{
        accurate,
        spectrum::{TiltedSpectrum, keep_probabilities},
    },
};

/// A determinantal point process: subsets of any size.
///
/// ```text
/// Pr(S) = det(K_S) / det(I + K),   K = A Aᵀ
/// ```
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Dpp, Features, engine};
/// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 0.9, 0.1, 0.0, 1.0])?;
/// let sampler = Dpp::new(&features)?.sampler(&engine::Cpu)?;
/// let samples = sampler.sample_many(100, 7);
/// assert_eq!(samples.subsets().len(), 100);
/// # Ok(()) }
/// ```
///
/// # Source
/// Hough, Krishnapur, Peres and Virág, *Determinantal processes and independence* (2006).
#[derive(Clone, Debug)]
pub struct Dpp<'a> {
    pub(crate) ground: GroundSet<'a>,
    pub(super) projection: Projection,
}

impl<'a> Dpp<'a> {
    /// The DPP with kernel A Aᵀ.
    ///
    /// # Errors
    /// None today; wide features (n > m) are compressed here, which may one day fail.
    pub fn new(features: &Features<'a>) -> Result<Self> {
        let ground = GroundSet::new(features)?;
        Ok(Self { ground, projection: Projection::default() })
    }

    /// Conditions on these items being in the set, besides those required before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`](crate::Error::ItemOutOfRange),
    ///   [`Error::RepeatedItem`](crate::Error::RepeatedItem);
    /// - [`Error::IncludedAndExcluded`](crate::Error::IncludedAndExcluded);
    /// - [`Error::DependentItems`](crate::Error::DependentItems) if their determinant is zero.
    pub fn including(mut self, items: &[usize]) -> Result<Self> {
        if items.is_empty() {
            return Ok(self);
        }
        self.ground.include(items)?;
        Ok(self)
    }

    /// Conditions on these items not being in the set, besides those excluded before.
    ///
    /// # Errors
    /// Those of [`including`](Dpp::including) but the last.
    pub fn excluding(mut self, items: &[usize]) -> Result<Self> {
        if items.is_empty() {
            return Ok(self);
        }
        self.ground.exclude(items)?;
        Ok(self)
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
    /// [`Error::Eigen`](crate::Error::Eigen), and those of the engine.
    pub fn sampler(&self, engine: &'a dyn Engine) -> Result<Sampler<'a>> {
        accurately(self, Self::graded, |law| law.sampler_as_given(engine), Sampler::law_error)
    }

    /// The same law in coordinates that keep every digit.
    pub(crate) fn graded(&self) -> Result<Option<Self>> {
        let items = self.ground.free_items();
        let rows = self.rows(&items);
        Ok(self.ground.graded(&rows)?.map(|ground| Self { ground, ..self.clone() }))
    }

    pub(crate) fn rows<'r>(&'r self, items: &'r FreeItems<'_>) -> Rows<'r> {
        Rows::scaled(self.ground.features(), vec![Items::from(items)])
    }

    fn sampler_as_given(&self, engine: &'a dyn Engine) -> Result<Sampler<'a>> {
        let ground = &self.ground;
        let items = ground.free_items();
        if items.len() == 0 || ground.dims_left() == 0 {
            let error = accurate(ground.beyond_rank(Items::from(&items).iter()))?;
            return Ok(Sampler::new(Law::Settled, ground.included(), engine, error));
        }
        let rows = self.rows(&items);
        let found = TiltedSpectrum::for_dpp(engine, &rows, ground)?;
        let Some((TiltedSpectrum { spectrum, .. }, log_scale)) = found else {
            return Ok(Sampler::settled(ground.included(), engine));
        };
        let keep = keep_probabilities(&spectrum.values, log_scale);
        let size = keep.iter().sum();
        let projection =
            ProjectionDpp::new(engine, ground.features(), &rows, &[1.0], &spectrum, size, self.projection)?;
        let law = Law::Dpp(DppLaw { keep, projection });
        Ok(Sampler::new(law, ground.included(), engine, spectrum.error))
    }
}

/// Independent coins for the eigenvectors, then the projection DPP.
#[derive(Debug)]
pub(crate) struct DppLaw<'a> {
    /// λ_j / (1 + λ_j).
    keep: Vec<f64>,
    projection: ProjectionDpp<'a>,
}

impl DppLaw<'_> {
    pub(crate) fn sample<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<Vec<u32>> {
        let mut scratch = Scratch::default();
        loop {
            attempts.another()?;
            scratch.chosen.clear();
            for (j, &probability) in self.keep.iter().enumerate() {
                if rng.random::<f64>() < probability {
                    scratch.chosen.push(j);
                }
            }
            if let Some(picks) = self.projection.draw(rng, &mut scratch, |_| attempts.go_on()) {
                return Ok(picks.to_vec());
            }
        }
    }
}
