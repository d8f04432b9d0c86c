//! The plain DPP.

use super::{Counts, FreeItems, GroundSet};
use crate::{
    Features, Result,
    engine::{Engine, Items, Rows},
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
/// use partition_dpp::{Dpp, Engine, Features, Method};
/// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 0.9, 0.1, 0.0, 1.0])?;
/// let sampler = Dpp::new(&features)?.sampler(Method::Auto, &Engine::cpu())?;
/// let samples = sampler.sample_many(100, 7);
/// assert_eq!(samples.subsets().len(), 100);
/// # Ok(()) }
/// ```
///
/// # Source
/// Hough, Krishnapur, Peres and Virág, *Determinantal processes and independence* (2006).
#[derive(Clone, Debug)]
pub struct Dpp {
    pub(crate) ground: GroundSet,
}

impl Dpp {
    /// The DPP with kernel A Aᵀ.
    ///
    /// # Errors
    /// [`WeightProblem::Spread`](crate::error::WeightProblem::Spread).
    pub fn new(features: &Features) -> Result<Self> {
        Self { ground: GroundSet::new(features)? }.checked()
    }

    /// Conditions on the set containing these items, in addition to those required before.
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
        self.checked()
    }

    /// Conditions on the set not containing these items, in addition to those excluded before.
    ///
    /// # Errors
    /// The errors of [`including`](Dpp::including), except the last.
    pub fn excluding(mut self, items: &[usize]) -> Result<Self> {
        if items.is_empty() {
            return Ok(self);
        }
        self.ground.exclude(items)?;
        self.checked()
    }

    /// Narrows weights if necessary.
    fn checked(self) -> Result<Self> {
        if !self.ground.given().is_weighted() {
            return Ok(self);
        }
        let free = self.ground.free_items();
        let most = free.len().min(self.ground.dims_left());
        Ok(Self { ground: self.ground.for_choices(&[free], &Counts::new(&[0], &[most], 0, most))? })
    }

    /// The same law in graded coordinates, where rounding loses nothing.
    pub(crate) fn graded(&self, engine: &Engine) -> Result<Option<Self>> {
        let items = self.ground.free_items();
        let rows = self.rows(&items);
        Ok(self.ground.graded(&rows, engine)?.map(|ground| Self { ground }))
    }

    pub(crate) fn rows<'r>(&'r self, items: &'r FreeItems) -> Rows<'r> {
        Rows::scaled(self.ground.features(), vec![Items::from(items)])
    }
}
