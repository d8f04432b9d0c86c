//! Which law the arguments ask for.

mod arguments;
mod question;

use std::fmt;

use partition_dpp::{Dpp, Error, Features, IndependentKDpps, KDpp, Partition, PartitionDpp, Quota};

pub(crate) use self::{arguments::LawArguments, question::Question};
use crate::{
    failure::Failure,
    input::{ConditionArguments, Input},
    quota::Asked,
};

/// A law over subsets, as asked for.
#[derive(Clone, Debug)]
pub(crate) enum Law<'a> {
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

/// The library's model of a law, conditioned and found possible.
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

impl<'a> Law<'a> {
    /// A Partition-DPP, a k-DPP or a plain DPP.
    pub(crate) fn of(arguments: &LawArguments, input: &'a Input) -> Result<Self, Failure> {
        let Some(request) = &arguments.quota else {
            return Ok(arguments.k.map_or(Law::Dpp, |k| Law::KDpp { k }));
        };
        let Some(partition) = &input.partition else {
            let sentence = "--quota needs --labels, the part of each item";
            return Err(Failure::Arguments(sentence.into()));
        };
        let (quota, has_ranges) = (request.resolve(partition, arguments.k)?, request.has_ranges());
        Ok(Law::PartitionDpp { partition, quota, has_ranges })
    }

    /// The law that is blind to likeness across parts.
    pub(crate) fn independent(self) -> Self {
        match self {
            Law::PartitionDpp { partition, quota, .. } => Law::IndependentKDpps { partition, quota },
            other => other,
        }
    }

    /// How many items of each part.
    pub(crate) fn asked(&self) -> Asked<'_> {
        match self {
            Law::PartitionDpp { quota, has_ranges: true, .. } => Asked::Ranges(quota),
            Law::PartitionDpp { quota, .. } | Law::IndependentKDpps { quota, .. } => Asked::Counts(quota),
            Law::KDpp { .. } | Law::Dpp => Asked::Anything,
        }
    }

    /// The number of items, where it was asked for by itself.
    pub(crate) fn size(&self) -> Option<usize> {
        match self {
            Law::KDpp { k } => Some(*k),
            Law::PartitionDpp { quota, has_ranges: true, .. } => quota.total(),
            _ => None,
        }
    }

    /// The number of items of a set, at least.
    pub(crate) fn least_size(&self) -> usize {
        match self {
            Law::PartitionDpp { quota, .. } | Law::IndependentKDpps { quota, .. } => {
                quota.total().unwrap_or_else(|| quota.low().iter().sum())
            }
            Law::KDpp { k } => *k,
            Law::Dpp => 0,
        }
    }

    /// The model over these items, under the conditions.
    pub(crate) fn model(
        &'a self,
        input: &'a Input,
        conditions: &ConditionArguments,
    ) -> Result<Model<'a>, Failure> {
        let conditions = input.conditions(conditions)?;
        self.over_rows(&input.features, &conditions).map_err(|error| input.blame_items(error))
    }

    fn over_rows(
        &'a self,
        features: &Features<'a>,
        ConditionArguments { include, exclude }: &ConditionArguments,
    ) -> Result<Model<'a>, Error> {
        Ok(match self {
            Law::PartitionDpp { partition, quota, .. } => {
                let dpp = PartitionDpp::new(features, partition, quota)?;
                Model::PartitionDpp(dpp.including(include)?.excluding(exclude)?)
            }
            Law::IndependentKDpps { partition, quota } => {
                let dpps = IndependentKDpps::new(features, partition, quota)?;
                Model::IndependentKDpps(dpps.including(include)?.excluding(exclude)?)
            }
            Law::KDpp { k } => Model::KDpp(KDpp::new(features, *k)?.including(include)?.excluding(exclude)?),
            Law::Dpp => Model::Dpp(Dpp::new(features)?.including(include)?.excluding(exclude)?),
        })
    }
}

impl fmt::Display for Law<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Law::PartitionDpp { partition, quota, has_ranges: true } => {
                let size = quota.total().map_or("DPP".into(), |k| format!("k-DPP, k = {k},"));
                write!(f, "{size} with part counts in ranges over {} parts", partition.parts())
            }
            Law::PartitionDpp { partition, quota, .. } => {
                let (size, parts) = (quota.low().iter().sum::<usize>(), partition.parts());
                write!(f, "Partition-DPP of {size} items over {parts} parts")
            }
            Law::IndependentKDpps { partition, quota } => {
                let (size, parts) = (quota.low().iter().sum::<usize>(), partition.parts());
                write!(f, "independent k-DPPs of {size} items over {parts} parts")
            }
            Law::KDpp { k } => write!(f, "k-DPP, k = {k}"),
            Law::Dpp => f.write_str("DPP of any size"),
        }
    }
}
