//! `--by`: one problem per distinct value in a column.

mod answer;
mod errors;
mod slates;

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering},
};

use clap::Args;
use partition_dpp::{Error, Subset, Watch};
use rayon::prelude::*;

pub(crate) use self::{
    answer::{Answered, Seconds, listed},
    errors::Errors,
    slates::GreedySets,
};
use crate::{
    compute::{ComputeArguments, EngineChoice},
    failure::Failure,
    input::{ConditionArguments, Conditions, Groups, Input, InputArguments},
    law::{LawRequest, Question},
    memory::Limit,
    progress::Progress,
};

/// One problem per value of a column.
#[derive(Args, Debug)]
pub(crate) struct ByArguments {
    /// Solve one problem per value of this column
    ///
    /// The column is read from the .parquet files of --features or from the files of --labels. All problems have the
    /// same quota. A part without items for a value counts as empty.
    #[arg(
        long,
        value_name = "COLUMN",
        conflicts_with_all = ["multi_label", "plot", "dataset"],
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    pub(crate) by: Option<String>,
}

impl ByArguments {
    /// The conditions by index. With --by an id that several values share means all its items.
    pub(crate) fn conditions(
        &self,
        given: &ConditionArguments,
        input: &Input,
    ) -> Result<Conditions, Failure> {
        if self.by.is_some() { given.of_all_called(input) } else { given.by_index(input) }
    }
}

/// A set of places among ascending items as a set of these items.
pub(crate) fn whole(places: &Subset, items: &[usize]) -> Result<Subset, Failure> {
    let after = items.last().map_or(0, |&item| item + 1);
    Ok(Subset::new(places.iter().map(|at| items[at]).collect(), after)?)
}

/// The answer to every problem, or its failure.
pub(crate) type Each<T> = Vec<Result<T, Failure>>;

/// A problem for every value: the items that have it, under the same law.
#[derive(Debug)]
pub(crate) struct Problems<'a> {
    pub(crate) groups: Groups,
    pub(crate) input: &'a Input,
    pub(crate) law: &'a LawRequest,
    given: &'a Conditions,
    /// By problem: the conditions on its items, in the items of the whole input.
    conditions: HashMap<usize, Conditions>,
}

impl<'a> Problems<'a> {
    /// Reads the column.
    pub(crate) fn read(
        name: &str,
        arguments: &InputArguments,
        Question { input, law, conditions: given }: Question<'a>,
    ) -> Result<Self, Failure> {
        for listed in [&given.include, &given.exclude] {
            Subset::new(listed.clone(), input.items())?;
        }
        if let Some(&item) = given.include.iter().find(|item| given.exclude.contains(item)) {
            return Err(Failure::Library(Error::IncludedAndExcluded { item }));
        }
        let groups = Groups::read(arguments, name, input)?;
        let mut conditions: HashMap<usize, Conditions> = HashMap::new();
        let mut of = |item: usize, list: fn(&mut Conditions) -> &mut Vec<usize>| {
            let none = || Conditions { include: Vec::new(), exclude: Vec::new() };
            list(conditions.entry(groups.of(item)).or_insert_with(none)).push(item);
        };
        given.include.iter().for_each(|&item| of(item, |conditions| &mut conditions.include));
        given.exclude.iter().for_each(|&item| of(item, |conditions| &mut conditions.exclude));
        Ok(Self { groups, input, law, given, conditions })
    }

    /// Refuses problems whose rows, copied by every thread, would not fit into memory.
    pub(crate) fn check_memory(&self, limit: Limit) -> Result<(), Failure> {
        let (largest, dims) = (self.groups.largest(), self.input.features.dims());
        let rank = largest.min(dims);
        let parts = self.input.parts();
        // The rows of a value, mapped, and the products that map them.
        let mapped = if self.input.comparison.stands_for.is_some() { largest + 5 * parts * rank } else { 0 };
        let each = 16 * largest as u64 * dims as u64 + 8 * mapped as u64 * rank as u64;
        let bytes = each.saturating_mul(rayon::current_num_threads() as u64);
        limit.check(bytes, || {
            format!("every thread copies the rows of one value of --by, at most {largest} rows")
        })
    }

    /// What `solve` makes of every problem, given its number, its question and its items, on all threads. Problems that the
    /// watch leaves undone are [`Failure::Abandoned`].
    pub(crate) fn each<T: Send>(
        &self,
        (progress, watch): (&Progress, &Watch),
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
        let places = |listed: &[usize]| -> Vec<usize> {
            listed.iter().map(|item| items.partition_point(|other| other < item)).collect()
        };
        let given = self.conditions.get(&group);
        let conditions = Conditions {
            include: given.map_or_else(Vec::new, |given| places(&given.include)),
            exclude: given.map_or_else(Vec::new, |given| places(&given.exclude)),
        };
        let input = self.input.restricted_to(&items)?;
        let law = self.law.restricted_to(&input)?;
        let solved = solve(group, &Question { input: &input, law: &law, conditions: &conditions }, &items);
        let in_whole = |error| match error {
            Error::DependentItems { item } => Error::DependentItems { item: items[item] },
            other => other,
        };
        solved.map_err(|failure| match failure {
            Failure::Library(error) => Failure::Library(in_whole(error)),
            Failure::Impossible { source, ways } => Failure::Impossible { source: in_whole(source), ways },
            other => other,
        })
    }
}

/// Refuses a GPU that has nothing to do; `only` names what it does.
pub(crate) fn check_engine(arguments: &ComputeArguments, only: &str) -> Result<(), Failure> {
    if arguments.engine != EngineChoice::Gpu {
        return Ok(());
    }
    let sentence = format!("--engine gpu: {only}; the CPU solves the problems of --by side by side");
    Err(Failure::Arguments(sentence))
}
