//! `--by`: one problem for every value of a column.

mod answer;
mod errors;
mod slates;

use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use partition_dpp::{Subset, Watch};
use rayon::prelude::*;

pub(crate) use self::{
    answer::{Answered, Seconds, listed},
    errors::Errors,
};
use crate::{
    compute::{ComputeArguments, EngineChoice},
    failure::Failure,
    input::{Conditions, Groups, Input, InputArguments},
    law::{LawRequest, Question},
    progress::Progress,
};

/// Many problems.
#[derive(Args, Debug)]
pub(crate) struct ByArguments {
    /// Solve one problem for every value of this column, with the same quota: of the .parquet files of features, or of the
    /// files of --labels. A part that a value lacks counts as empty.
    #[arg(
        long,
        value_name = "COLUMN",
        conflicts_with_all = ["multi_label", "plot", "dataset"],
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub(crate) by: Option<String>,
}

/// What became of every problem.
pub(crate) type Each<T> = Vec<Result<T, Failure>>;

/// A problem for every value: the items that have it, under the same law.
#[derive(Debug)]
pub(crate) struct Problems<'a> {
    pub(crate) groups: Groups,
    pub(crate) input: &'a Input,
    pub(crate) law: &'a LawRequest<'a>,
    conditions: &'a Conditions,
}

impl<'a> Problems<'a> {
    /// Reads the column.
    pub(crate) fn read(
        name: &str,
        arguments: &InputArguments,
        Question { input, law, conditions }: Question<'a>,
    ) -> Result<Self, Failure> {
        for listed in [&conditions.include, &conditions.exclude] {
            Subset::new(listed.clone(), input.items())?;
        }
        Ok(Self { groups: Groups::read(arguments, name, input)?, input, law, conditions })
    }

    /// The conditions on the items of a value, in the items of the whole input.
    fn conditions(&self, group: usize) -> Conditions {
        let own = self.groups.items(group);
        let is_own = |item: &usize| u32::try_from(*item).is_ok_and(|item| own.binary_search(&item).is_ok());
        let of_group = |items: &[usize]| items.iter().copied().filter(is_own).collect();
        Conditions {
            include: of_group(&self.conditions.include),
            exclude: of_group(&self.conditions.exclude),
        }
    }

    /// What `solve` makes of every problem, given its number, its question and its items, on all threads. Problems that the
    /// watch leaves undone are [`Failure::Abandoned`].
    pub(crate) fn each<T: Send>(
        &self,
        (progress, watch): (&Progress, &Watch<'_>),
        solve: impl Fn(usize, &Question<'_>, &[usize]) -> Result<T, Failure> + Sync,
    ) -> Each<T> {
        progress.counted("solving", self.groups.len() as u64);
        let done = AtomicU64::new(0);
        let solve = |group| {
            watch.check()?;
            let solved = self.one(group, &solve);
            progress.reached(done.fetch_add(1, Ordering::Relaxed) + 1);
            solved
        };
        (0..self.groups.len()).into_par_iter().map(solve).collect()
    }

    fn one<T>(
        &self,
        group: usize,
        solve: impl Fn(usize, &Question<'_>, &[usize]) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let items: Vec<usize> = self.groups.items(group).iter().map(|&item| item as usize).collect();
        let Conditions { include, exclude } = self.conditions(group);
        let place = |item: usize| items.partition_point(|&other| other < item);
        let conditions = Conditions {
            include: include.into_iter().map(place).collect(),
            exclude: exclude.into_iter().map(place).collect(),
        };
        let input = self.input.restricted_to(&items)?;
        let law = self.law.restricted_to(&input)?;
        solve(group, &Question { input: &input, law: &law, conditions: &conditions }, &items)
    }
}

/// Refuses a GPU: the problems are small, and solved side by side.
pub(crate) fn check_engine(arguments: &ComputeArguments) -> Result<(), Failure> {
    if arguments.engine == EngineChoice::Gpu {
        let sentence = "--engine gpu: --by solves its problems on the CPU, side by side";
        return Err(Failure::Arguments(sentence.into()));
    }
    Ok(())
}
