//! The law that the arguments ask for.

mod arguments;
mod beyond_rank;
mod kernel;
mod question;

use std::fmt;

use partition_dpp::{
    Engine, Error, Features, Law, Sets,
    engine::{Job, Task},
};

pub(crate) use self::{
    arguments::LawArguments,
    beyond_rank::{Wanted, number},
    question::Question,
};
use crate::{
    failure::Failure,
    input::{Conditions, Input},
    quota::Asked,
};

/// The way out if a budget of nodes is exceeded, with a ridge.
pub(crate) const RIDGE_WAYS: &[&str] =
    &["ask for fewer parts in --quota: the number of nodes is a product over parts"];

/// A law over subsets, as asked for.
#[derive(Clone, Debug)]
pub(crate) struct LawRequest {
    pub(crate) sets: Sets,
    /// Whether the quota is written with ranges, even if each allows only one count.
    pub(crate) has_ranges: bool,
    /// Whether every part has a separate k-DPP.
    pub(crate) is_independent: bool,
    /// Whether sets are designs.
    pub(crate) is_design: bool,
}

impl From<Sets> for LawRequest {
    fn from(sets: Sets) -> Self {
        Self { sets, has_ranges: false, is_independent: false, is_design: false }
    }
}

impl LawRequest {
    /// A Partition-DPP, a k-DPP or a plain DPP.
    pub(crate) fn of(arguments: &LawArguments, input: &Input) -> Result<Self, Failure> {
        let Some(request) = &arguments.quota else {
            return Ok(arguments.k.map_or(Sets::OfAnySize, Sets::OfSize).into());
        };
        let Some(partition) = &input.partition else {
            let sentence = "--quota needs --labels FILE, the part of each item";
            return Err(Failure::Arguments(sentence.into()));
        };
        let quota = request.resolve(partition, arguments.k)?;
        request.note_parts_without_items(partition, &quota);
        let sets = Sets::Quota(partition.clone(), quota);
        Ok(Self { has_ranges: request.has_ranges, ..sets.into() })
    }

    /// One k-DPP per part instead. Similarity across parts is ignored.
    pub(crate) fn independent(self) -> Result<Self, Failure> {
        if self.has_ranges {
            let sentence = "--independent needs one number per part: it takes no ranges in --quota";
            return Err(Failure::Arguments(sentence.into()));
        }
        Ok(Self { is_independent: self.sets.quota().is_some(), ..self })
    }

    /// The same law over some of the items.
    pub(crate) fn restricted_to(&self, input: &Input) -> Result<Self, Error> {
        let sets = match (&self.sets, &input.partition) {
            (Sets::Quota(_, quota), Some(partition)) => {
                Sets::Quota(partition.clone(), quota.fitted_to(partition)?)
            }
            (Sets::Quota(..), None) => unreachable!("a law of parts has parts"),
            (sets, _) => sets.clone(),
        };
        Ok(Self { sets, ..*self })
    }

    /// The part counts asked for.
    pub(crate) fn asked(&self) -> Asked<'_> {
        Asked { quota: self.sets.quota().map(|(_, quota)| quota), has_ranges: self.has_ranges }
    }

    /// The number of items, if `--k` fixes it.
    pub(crate) fn size(&self) -> Option<usize> {
        match &self.sets {
            Sets::OfSize(k) => Some(*k),
            Sets::Quota(_, quota) if self.has_ranges => quota.total(),
            Sets::Quota(..) | Sets::OfAnySize => None,
        }
    }

    /// A task on these features, for predictions of its time.
    pub(crate) fn job(&self, features: &Features, task: Task) -> Job {
        let parts = self.sets.quota().map_or(1, |(partition, _)| partition.parts());
        // A set of any size has at most one item per dimension.
        let picks = match self.sets {
            Sets::OfAnySize => features.dims().min(features.items()),
            _ => self.sets.least(),
        };
        Job::new(features, task).with_parts(parts).with_picks(picks)
    }

    /// The law over these items, under the conditions.
    pub(crate) fn model(
        &self,
        input: &Input,
        conditions: &Conditions,
        (engine, wanted): (&Engine, Wanted),
    ) -> Result<Law, Failure> {
        let conditions = input.conditions(conditions)?;
        let rows = input.rows_of_law(&conditions, engine)?;
        let Conditions { include, exclude } = conditions;
        let new = if self.is_independent { Law::independent } else { Law::new };
        let Some(delta) = input.ridge else {
            let made = new(&rows, &self.sets, None);
            let made = made.and_then(|law| law.including(&include)?.excluding(&exclude));
            return made.map_err(|error| self.beyond_rank(input, wanted, input.blame_items(error)));
        };
        let mut law = new(&rows, &self.sets, Some(delta))?;
        if let Some(scored) = &input.scored {
            law = law.with_scores(&scored.scores, scored.diversity)?;
        }
        Ok(law.including(&include)?.excluding(&exclude)?)
    }
}

impl fmt::Display for LawRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (partition, quota) = match &self.sets {
            Sets::OfAnySize => return f.write_str("DPP of any size"),
            Sets::OfSize(k) if self.is_design => return write!(f, "D-optimal design of {k} rows"),
            Sets::OfSize(k) => return write!(f, "k-DPP, k = {k}"),
            Sets::Quota(partition, quota) => (partition, quota),
        };
        let (size, parts) = (quota.low().iter().sum::<usize>(), partition.parts());
        if self.is_design {
            let size = quota.total().map_or(String::new(), |k| format!(" of {k} rows"));
            write!(f, "D-optimal design{size} over {parts} parts")
        } else if self.has_ranges {
            let size = quota.total().map_or("DPP".into(), |k| format!("k-DPP, k = {k},"));
            write!(f, "{size} with part counts in ranges over {parts} parts")
        } else if self.is_independent {
            write!(f, "independent k-DPPs of {size} items over {parts} parts")
        } else {
            write!(f, "Partition-DPP of {size} items over {parts} parts")
        }
    }
}
