//! The law that the arguments ask for.

mod arguments;
mod question;

use std::fmt;

use partition_dpp::{Dpp, Error, Features, IndependentKDpps, KDpp, Partition, PartitionDpp, Quota};

pub(crate) use self::{arguments::LawArguments, question::Question};
use crate::{
    failure::Failure,
    input::{Conditions, Input},
    quota::Asked,
};

/// A law over subsets, as asked for.
#[derive(Clone, Debug)]
pub(crate) enum LawRequest<'a> {
    /// A DPP conditioned on its part counts.
    PartitionDpp {
        /// The parts.
        partition: &'a Partition,
        /// How many items of each part.
        quota: Quota,
        /// Whether it is written with ranges.
        has_ranges: bool,
    },
    /// One k-DPP per part.
    IndependentKDpps {
        /// The parts.
        partition: &'a Partition,
        /// How many items of each part.
        quota: Quota,
    },
    /// A DPP conditioned on its size.
    KDpp {
        /// The size.
        k: usize,
    },
    /// A DPP.
    Dpp,
}

/// The library's model of a law, conditioned and checked.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a command has one")]
pub(crate) enum Model<'a> {
    /// A DPP conditioned on its part counts.
    PartitionDpp(PartitionDpp<'a>),
    /// One k-DPP per part.
    IndependentKDpps(IndependentKDpps<'a>),
    /// A DPP conditioned on its size.
    KDpp(KDpp<'a>),
    /// A DPP.
    Dpp(Dpp<'a>),
}

impl<'a> LawRequest<'a> {
    /// A Partition-DPP, a k-DPP or a plain DPP.
    pub(crate) fn of(arguments: &LawArguments, input: &'a Input) -> Result<Self, Failure> {
        let Some(request) = &arguments.quota else {
            return Ok(arguments.k.map_or(LawRequest::Dpp, |k| LawRequest::KDpp { k }));
        };
        let Some(partition) = &input.partition else {
            let sentence = "--quota needs --labels, the part of each item";
            return Err(Failure::Arguments(sentence.into()));
        };
        let (quota, has_ranges) = (request.resolve(partition, arguments.k)?, request.has_ranges());
        Ok(LawRequest::PartitionDpp { partition, quota, has_ranges })
    }

    /// One k-DPP per part instead, which are blind to similarity across parts.
    pub(crate) fn independent(self) -> Self {
        match self {
            LawRequest::PartitionDpp { partition, quota, .. } => {
                LawRequest::IndependentKDpps { partition, quota }
            }
            other => other,
        }
    }

    /// How many items of each part.
    pub(crate) fn asked(&self) -> Asked<'_> {
        match self {
            LawRequest::PartitionDpp { quota, has_ranges: true, .. } => Asked::Ranges(quota),
            LawRequest::PartitionDpp { quota, .. } | LawRequest::IndependentKDpps { quota, .. } => {
                Asked::Counts(quota)
            }
            LawRequest::KDpp { .. } | LawRequest::Dpp => Asked::Anything,
        }
    }

    /// The number of items, where `--k` fixes it.
    pub(crate) fn size(&self) -> Option<usize> {
        match self {
            LawRequest::KDpp { k } => Some(*k),
            LawRequest::PartitionDpp { quota, has_ranges: true, .. } => quota.total(),
            _ => None,
        }
    }

    /// The least number of items of a set.
    pub(crate) fn least_size(&self) -> usize {
        match self {
            LawRequest::PartitionDpp { quota, .. } | LawRequest::IndependentKDpps { quota, .. } => {
                quota.total().unwrap_or_else(|| quota.low().iter().sum())
            }
            LawRequest::KDpp { k } => *k,
            LawRequest::Dpp => 0,
        }
    }

    /// The model over these items, under the conditions.
    pub(crate) fn model(&'a self, input: &'a Input, conditions: &Conditions) -> Result<Model<'a>, Failure> {
        let conditions = input.conditions(conditions)?;
        self.over_rows(&input.features, &conditions).map_err(|error| input.blame_items(error))
    }

    fn over_rows(
        &'a self,
        features: &Features<'a>,
        Conditions { include, exclude }: &Conditions,
    ) -> Result<Model<'a>, Error> {
        Ok(match self {
            LawRequest::PartitionDpp { partition, quota, .. } => {
                let dpp = PartitionDpp::new(features, partition, quota)?;
                Model::PartitionDpp(dpp.including(include)?.excluding(exclude)?)
            }
            LawRequest::IndependentKDpps { partition, quota } => {
                let dpps = IndependentKDpps::new(features, partition, quota)?;
                Model::IndependentKDpps(dpps.including(include)?.excluding(exclude)?)
            }
            LawRequest::KDpp { k } => {
                Model::KDpp(KDpp::new(features, *k)?.including(include)?.excluding(exclude)?)
            }
            LawRequest::Dpp => Model::Dpp(Dpp::new(features)?.including(include)?.excluding(exclude)?),
        })
    }
}

impl fmt::Display for LawRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LawRequest::PartitionDpp { partition, quota, has_ranges: true } => {
                let size = quota.total().map_or("DPP".into(), |k| format!("k-DPP, k = {k},"));
                write!(f, "{size} with part counts in ranges over {} parts", partition.parts())
            }
            LawRequest::PartitionDpp { partition, quota, .. } => {
                let (size, parts) = (quota.low().iter().sum::<usize>(), partition.parts());
                write!(f, "Partition-DPP of {size} items over {parts} parts")
            }
            LawRequest::IndependentKDpps { partition, quota } => {
                let (size, parts) = (quota.low().iter().sum::<usize>(), partition.parts());
                write!(f, "independent k-DPPs of {size} items over {parts} parts")
            }
            LawRequest::KDpp { k } => write!(f, "k-DPP, k = {k}"),
            LawRequest::Dpp => f.write_str("DPP of any size"),
        }
    }
}
