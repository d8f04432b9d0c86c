//! A law chosen at run time.

use crate::{
    Dpp, Engine, Error, Features, IndependentKDpps, Inference, KDpp, PartitionDpp, Result, RidgeDpp, Sampler,
    SamplerOptions, model::Sets, sample::MemoryPlan,
};

/// One of the models, chosen at run time.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Law, Method, Sets};
/// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
/// for (sets, ridge) in [(Sets::OfAnySize, None), (Sets::OfSize(2), None), (Sets::OfSize(3), Some(0.1))] {
///     let law = Law::new(&features, &sets, ridge)?.including(&[3])?;
///     let samples = law.sampler(Method::Auto, &Engine::cpu())?.sample_many(10, 0);
///     assert!(samples.subsets().iter().all(|subset| subset.contains(3) && subset.len() >= sets.least()));
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "few are held at a time")]
pub enum Law {
    /// Sets of any size.
    AnySize(Dpp),
    /// Sets of k items.
    Size(KDpp),
    /// Sets that meet a quota.
    Quota(PartitionDpp),
    /// Sets that meet a quota, with independent parts.
    Independent(IndependentKDpps),
    /// Any of these sets, for a kernel with a ridge.
    Ridge(RidgeDpp),
    /// Sets that meet a quota, with independent parts, for a kernel with a ridge.
    IndependentRidge(RidgeDpp),
}

impl Law {
    /// The distribution over these sets with kernel A Aᵀ, or A Aᵀ + δI with a ridge δ.
    ///
    /// # Errors
    /// The errors of the model.
    pub fn new(features: &Features, sets: &Sets, ridge: Option<f64>) -> Result<Self> {
        Ok(match (ridge, sets) {
            (Some(delta), _) => Self::Ridge(Self::with_ridge(features, sets, delta)?),
            (None, Sets::OfAnySize) => Self::AnySize(Dpp::new(features)?),
            (None, Sets::OfSize(k)) => Self::Size(KDpp::new(features, *k)?),
            (None, Sets::Quota(partition, quota)) => {
                Self::Quota(PartitionDpp::new(features, partition, quota)?)
            }
        })
    }

    /// The distribution with independent parts, which ignores similarity between parts.
    ///
    /// Sets without a quota are one part.
    ///
    /// # Errors
    /// The errors of the model.
    pub fn independent(features: &Features, sets: &Sets, ridge: Option<f64>) -> Result<Self> {
        Ok(match (ridge, sets) {
            (_, Sets::OfAnySize | Sets::OfSize(_)) => return Self::new(features, sets, ridge),
            (Some(delta), _) => Self::IndependentRidge(Self::with_ridge(features, sets, delta)?),
            (None, Sets::Quota(partition, quota)) => {
                Self::Independent(IndependentKDpps::new(features, partition, quota)?)
            }
        })
    }

    fn with_ridge(features: &Features, sets: &Sets, delta: f64) -> Result<RidgeDpp> {
        match sets {
            Sets::OfAnySize => RidgeDpp::of_any_size(features, delta),
            Sets::OfSize(k) => RidgeDpp::of_size(features, delta, *k),
            Sets::Quota(partition, quota) => RidgeDpp::new(features, delta, partition, quota),
        }
    }

    /// Conditions on the set containing these items, in addition to those required before.
    ///
    /// # Errors
    /// The errors of the model.
    pub fn including(self, items: &[usize]) -> Result<Self> {
        Ok(match self {
            Self::AnySize(dpp) => Self::AnySize(dpp.including(items)?),
            Self::Size(dpp) => Self::Size(dpp.including(items)?),
            Self::Quota(dpp) => Self::Quota(dpp.including(items)?),
            Self::Independent(dpps) => Self::Independent(dpps.including(items)?),
            Self::Ridge(dpp) => Self::Ridge(dpp.including(items)?),
            Self::IndependentRidge(dpp) => Self::IndependentRidge(dpp.including(items)?),
        })
    }

    /// Conditions on the set not containing these items, in addition to those excluded before.
    ///
    /// # Errors
    /// The errors of the model.
    pub fn excluding(self, items: &[usize]) -> Result<Self> {
        Ok(match self {
            Self::AnySize(dpp) => Self::AnySize(dpp.excluding(items)?),
            Self::Size(dpp) => Self::Size(dpp.excluding(items)?),
            Self::Quota(dpp) => Self::Quota(dpp.excluding(items)?),
            Self::Independent(dpps) => Self::Independent(dpps.excluding(items)?),
            Self::Ridge(dpp) => Self::Ridge(dpp.excluding(items)?),
            Self::IndependentRidge(dpp) => Self::IndependentRidge(dpp.excluding(items)?),
        })
    }

    /// Trades scores against diversity, as [`Features::with_scores`] does, in a law with a ridge.
    ///
    /// Without a ridge, give the scores to the features.
    ///
    /// # Errors
    /// [`Error::NotForLaw`] without a ridge; the errors of [`RidgeDpp::with_scores`].
    pub fn with_scores(self, scores: &[f64], diversity: f64) -> Result<Self> {
        match self {
            Self::Ridge(dpp) => Ok(Self::Ridge(dpp.with_scores(scores, diversity)?)),
            Self::IndependentRidge(dpp) => Ok(Self::IndependentRidge(dpp.with_scores(scores, diversity)?)),
            _ => {
                Err(Error::NotForLaw("without a ridge, the rows have the scores: give them to the features"))
            }
        }
    }

    /// Sets up an exact sampler.
    ///
    /// # Errors
    /// The errors of the model.
    pub fn sampler(&self, options: impl Into<SamplerOptions>, engine: &Engine) -> Result<Sampler> {
        match self {
            Self::AnySize(dpp) => dpp.sampler(options, engine),
            Self::Size(dpp) => dpp.sampler(options, engine),
            Self::Quota(dpp) => dpp.sampler(options, engine),
            Self::Independent(dpps) => dpps.sampler(options, engine),
            Self::Ridge(dpp) => dpp.sampler(options, engine),
            Self::IndependentRidge(dpp) => dpp.independent_sampler(options, engine),
        }
    }

    /// The largest amount of memory that a sampler holds.
    ///
    /// # Errors
    /// The errors of the model.
    pub fn memory_plan(&self, options: impl Into<SamplerOptions>) -> Result<MemoryPlan> {
        Ok(match self {
            Self::AnySize(dpp) => dpp.memory_plan(options),
            Self::Size(dpp) => dpp.memory_plan(options),
            Self::Quota(dpp) => dpp.memory_plan(options)?,
            Self::Independent(dpps) => dpps.memory_plan(options),
            Self::Ridge(dpp) => dpp.memory_plan(options)?,
            Self::IndependentRidge(dpp) => dpp.independent_memory_plan(options)?,
        })
    }

    /// Computes ln Z now, and inclusion probabilities on demand.
    ///
    /// # Errors
    /// [`Error::NotForLaw`] if parts are independent; the errors of the model.
    pub fn inference(&self, engine: &Engine) -> Result<Inference> {
        match self {
            Self::AnySize(dpp) => dpp.inference(engine),
            Self::Size(dpp) => dpp.inference(engine),
            Self::Quota(dpp) => dpp.inference(engine),
            Self::Ridge(dpp) => dpp.inference(engine),
            Self::Independent(_) | Self::IndependentRidge(_) => {
                Err(Error::NotForLaw("there is no inference for parts by themselves"))
            }
        }
    }
}
