//! The k-DPP.

use super::{Conditions, Counts, GroundSet, Left, feasibility};
use crate::{
    Error, Features, Result,
    engine::{Engine, Items, Rows},
};

/// A DPP conditioned on its size.
///
/// ```text
/// Pr(S) = det(K_S) / e_k(spec K),   |S| = k,  K = A Aᵀ
/// ```
///
/// # Numerics
/// There is no overflow or underflow at any k ≤ rank K and any scale of A.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, KDpp, Method};
/// use rand::{SeedableRng, distr::Distribution};
/// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 0.9, 0.1, 0.0, 1.0])?;
/// let k_dpp = KDpp::new(&features, 2)?;
/// let sampler = k_dpp.sampler(Method::Auto, &Engine::cpu())?;
/// let subset = sampler.sample(&mut rand::rngs::StdRng::seed_from_u64(1));
/// assert_eq!(subset.len(), 2);
/// # Ok(()) }
/// ```
///
/// # Source
/// Deshpande and Rademacher, *Efficient volume sampling* (2010), whose distribution is algorithm 1 of Kathuria and
/// Deshpande (2016); as a mixture of projection DPPs: Kulesza and Taskar, *k-DPPs* (2011).
#[derive(Clone, Debug)]
pub struct KDpp {
    pub(crate) ground: GroundSet,
    k: usize,
}

impl KDpp {
    /// The distribution over subsets of `k` items, with kernel A Aᵀ.
    ///
    /// # Errors
    /// - [`Error::Nothing`] if k = 0;
    /// - [`Error::SizeAboveItems`] if k > m;
    /// - [`Error::SizeAboveRank`] if k exceeds the rank of A.
    pub fn new(features: &Features, k: usize) -> Result<Self> {
        if k == 0 {
            return Err(Error::Nothing { what: "k" });
        }
        Left::of_size(k, &Conditions::none(features.items()))?;
        Self { ground: GroundSet::new(features)?, k }.checked()
    }

    /// Conditions on the set containing these items, in addition to those required before.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::DependentItems`] if their determinant is zero;
    /// - [`Error::SizeBelowIncluded`] if there are more than k of them.
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
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`];
    /// - [`Error::SizeAboveItems`], [`Error::SizeAboveRank`] if too few items are left.
    pub fn excluding(mut self, items: &[usize]) -> Result<Self> {
        if items.is_empty() {
            return Ok(self);
        }
        self.ground.exclude(items)?;
        self.checked()
    }

    /// Returns an error if the conditions have probability zero.
    fn checked(self) -> Result<Self> {
        let (k, included) = (self.k, self.ground.included().len());
        let left = Left::of_size(k, self.ground.conditions())?;
        let free = &left.parts[0].items;
        let basis = feasibility::part_basis(&self.ground, Items::from(free), k - included);
        let rank = basis.len() + included;
        if rank < k {
            return Err(Error::SizeAboveRank { k, rank });
        }
        let ground =
            self.ground.for_choices(std::slice::from_ref(free), &Counts::exactly(&[k - included]))?;
        Ok(Self { ground, k })
    }

    /// The size k of the sets.
    pub(crate) fn size(&self) -> usize {
        self.k
    }

    /// The number of items to choose in addition to the included ones.
    pub(crate) fn free_size(&self) -> usize {
        self.k - self.ground.included().len()
    }

    /// The same law in graded coordinates, where rounding loses nothing.
    pub(crate) fn graded(&self, engine: &Engine) -> Result<Option<Self>> {
        let items = self.ground.free_items();
        let rows = Rows::scaled(self.ground.features(), vec![Items::from(&items)]);
        Ok(self.ground.graded(&rows, engine)?.map(|ground| Self { ground, k: self.k }))
    }
}
