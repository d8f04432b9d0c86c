//! The law that the arguments ask for.

mod arguments;
mod beyond_rank;
mod kernel;
mod question;

use std::fmt;

use partition_dpp::{
    Dpp, Error, Features, IndependentKDpps, KDpp, Partition, PartitionDpp, Quota, RidgeDpp,
    engine::{Job, Task},
};

pub(crate) use self::{arguments::LawArguments, beyond_rank::number, question::Question};
use crate::{
    failure::Failure,
    input::{Conditions, Input},
    quota::Asked,
};

/// The way out where a budget of nodes is exceeded, with a ridge.
pub(crate) const RIDGE_ADVICE: &str = "the nodes of all parts multiply: a quota over fewer parts needs fewer";

/// A law over subsets, as asked for.
#[derive(Clone, Debug)]
pub(crate) enum LawRequest<'a> {
    /// A DPP conditioned on its part counts.
    PartitionDpp {
        partition: &'a Partition,
        quota: Quota,
        /// Whether the quota is written with ranges.
        has_ranges: bool,
    },
    /// One k-DPP per part.
    IndependentKDpps { partition: &'a Partition, quota: Quota },
    /// A DPP conditioned on its size.
    KDpp { k: usize },
    /// A DPP of any size.
    Dpp,
}

/// The library's model of a law, conditioned and checked.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a command has one")]
pub(crate) enum Model {
    PartitionDpp(PartitionDpp),
    IndependentKDpps(IndependentKDpps),
    KDpp(KDpp),
    Dpp(Dpp),
    /// Of a ridge that the features lack.
    Ridge(RidgeDpp),
    /// The same, of every part by itself.
    IndependentRidge(RidgeDpp),
}

impl<'a> LawRequest<'a> {
    /// A Partition-DPP, a k-DPP or a plain DPP.
    pub(crate) fn of(arguments: &LawArguments, input: &'a Input) -> Result<Self, Failure> {
        let Some(request) = &arguments.quota else {
            return Ok(arguments.k.map_or(Self::Dpp, |k| Self::KDpp { k }));
        };
        let Some(partition) = &input.partition else {
            let sentence = "--quota needs --labels, the part of each item";
            return Err(Failure::Arguments(sentence.into()));
        };
        let (quota, has_ranges) = (request.resolve(partition, arguments.k)?, request.has_ranges());
        Ok(Self::PartitionDpp { partition, quota, has_ranges })
    }

    /// One k-DPP per part instead, which are blind to similarity across parts.
    pub(crate) fn independent(self) -> Result<Self, Failure> {
        match self {
            Self::PartitionDpp { has_ranges: true, .. } => {
                let sentence = "--independent needs one number per part: independent k-DPPs have no ranges";
                Err(Failure::Arguments(sentence.into()))
            }
            Self::PartitionDpp { partition, quota, .. } => Ok(Self::IndependentKDpps { partition, quota }),
            other => Ok(other),
        }
    }

    /// The same law over some of the items.
    pub(crate) fn restricted_to<'b>(&self, input: &'b Input) -> Result<LawRequest<'b>, Error> {
        let fitted = |quota: &Quota| match &input.partition {
            Some(partition) => Ok::<_, Error>((partition, quota.fitted_to(partition)?)),
            None => unreachable!("a law of parts has parts"),
        };
        Ok(match self {
            Self::PartitionDpp { quota, has_ranges, .. } => {
                let (partition, quota) = fitted(quota)?;
                LawRequest::PartitionDpp { partition, quota, has_ranges: *has_ranges }
            }
            Self::IndependentKDpps { quota, .. } => {
                let (partition, quota) = fitted(quota)?;
                LawRequest::IndependentKDpps { partition, quota }
            }
            Self::KDpp { k } => LawRequest::KDpp { k: *k },
            Self::Dpp => LawRequest::Dpp,
        })
    }

    /// The part counts asked for.
    pub(crate) fn asked(&self) -> Asked<'_> {
        match self {
            Self::PartitionDpp { quota, has_ranges, .. } => {
                Asked { quota: Some(quota), has_ranges: *has_ranges }
            }
            Self::IndependentKDpps { quota, .. } => Asked { quota: Some(quota), has_ranges: false },
            Self::KDpp { .. } | Self::Dpp => Asked { quota: None, has_ranges: false },
        }
    }

    /// The number of items, where `--k` fixes it.
    pub(crate) fn size(&self) -> Option<usize> {
        match self {
            Self::KDpp { k } => Some(*k),
            Self::PartitionDpp { quota, has_ranges: true, .. } => quota.total(),
            _ => None,
        }
    }

    /// The least number of items of a set.
    pub(crate) fn least_size(&self) -> usize {
        match self {
            Self::PartitionDpp { quota, .. } | Self::IndependentKDpps { quota, .. } => {
                quota.total().unwrap_or_else(|| quota.low().iter().sum())
            }
            Self::KDpp { k } => *k,
            Self::Dpp => 0,
        }
    }

    /// A task on these features, for predictions of its time.
    pub(crate) fn job(&self, features: &Features, task: Task) -> Job {
        let parts = match self {
            Self::PartitionDpp { partition, .. } | Self::IndependentKDpps { partition, .. } => {
                partition.parts()
            }
            Self::KDpp { .. } | Self::Dpp => 1,
        };
        // A set of any size has at most as many items as there are dimensions.
        let picks = match self {
            Self::Dpp => features.dims().min(features.items()),
            _ => self.least_size(),
        };
        Job::new(features, task).with_parts(parts).with_picks(picks)
    }

    /// The model over these items, under the conditions.
    pub(crate) fn model(&'a self, input: &'a Input, conditions: &Conditions) -> Result<Model, Failure> {
        let conditions = input.conditions(conditions)?;
        if let Some(delta) = input.ridge {
            return self.with_ridge(input, delta, &conditions);
        }
        let refused = |error| self.beyond_rank(input, input.blame_items(error));
        self.over_rows(&input.features, &conditions).map_err(refused)
    }

    /// Adds the way out where a quota asks for more items than the rank allows, for commands that take `--independent`.
    pub(crate) fn advise(&self, failure: Failure) -> Failure {
        let fits_by_itself = |rank: usize| match self {
            Self::PartitionDpp { quota, has_ranges: false, .. } => {
                quota.low().iter().all(|&count| count <= rank)
            }
            _ => false,
        };
        match failure {
            Failure::Impossible { source: source @ Error::SizeAboveRank { rank, .. }, advice }
                if fits_by_itself(rank) =>
            {
                let advice = format!("{advice}, and --independent chooses from every part by itself");
                Failure::Impossible { source, advice }
            }
            other => other,
        }
    }

    /// The mixture for a ridge that the features lack.
    fn with_ridge(
        &'a self,
        input: &'a Input,
        delta: f64,
        Conditions { include, exclude }: &Conditions,
    ) -> Result<Model, Failure> {
        let features = &input.features;
        let dpp = match self {
            Self::PartitionDpp { partition, quota, .. } | Self::IndependentKDpps { partition, quota } => {
                RidgeDpp::new(features, delta, partition, quota)?
            }
            Self::KDpp { k } => RidgeDpp::of_size(features, delta, *k)?,
            Self::Dpp => RidgeDpp::of_any_size(features, delta)?,
        };
        let dpp = match &input.scored {
            Some(scored) => dpp.with_scores(&scored.scores, scored.diversity)?,
            None => dpp,
        };
        let dpp = dpp.including(include)?.excluding(exclude)?;
        Ok(match self {
            Self::IndependentKDpps { .. } => Model::IndependentRidge(dpp),
            _ => Model::Ridge(dpp),
        })
    }

    fn over_rows(
        &'a self,
        features: &Features,
        Conditions { include, exclude }: &Conditions,
    ) -> Result<Model, Error> {
        Ok(match self {
            Self::PartitionDpp { partition, quota, .. } => {
                let dpp = PartitionDpp::new(features, partition, quota)?;
                Model::PartitionDpp(dpp.including(include)?.excluding(exclude)?)
            }
            Self::IndependentKDpps { partition, quota } => {
                let dpps = IndependentKDpps::new(features, partition, quota)?;
                Model::IndependentKDpps(dpps.including(include)?.excluding(exclude)?)
            }
            Self::KDpp { k } => Model::KDpp(KDpp::new(features, *k)?.including(include)?.excluding(exclude)?),
            Self::Dpp => Model::Dpp(Dpp::new(features)?.including(include)?.excluding(exclude)?),
        })
    }
}

impl fmt::Display for LawRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PartitionDpp { partition, quota, has_ranges: true } => {
                let size = quota.total().map_or("DPP".into(), |k| format!("k-DPP, k = {k},"));
                write!(f, "{size} with part counts in ranges over {} parts", partition.parts())
            }
            Self::PartitionDpp { partition, quota, .. } => {
                let (size, parts) = (quota.low().iter().sum::<usize>(), partition.parts());
                write!(f, "Partition-DPP of {size} items over {parts} parts")
            }
            Self::IndependentKDpps { partition, quota } => {
                let (size, parts) = (quota.low().iter().sum::<usize>(), partition.parts());
                write!(f, "independent k-DPPs of {size} items over {parts} parts")
            }
            Self::KDpp { k } => write!(f, "k-DPP, k = {k}"),
            Self::Dpp => f.write_str("DPP of any size"),
        }
    }
}
