//! The arguments that include and exclude items.

use clap::Args;

use super::Input;
use crate::failure::Failure;

/// Items to include in every set, and to exclude from all.
#[derive(Args, Clone, Debug)]
pub(crate) struct ConditionArguments {
    /// Items that every set contains, by index, as in 3,17
    ///
    /// The index of an item is its position in the input, counted from 0.
    #[arg(long, value_name = "I,J", value_delimiter = ',', value_parser = index, allow_hyphen_values = true, help_heading = "Selection")]
    pub(crate) include: Vec<usize>,
    /// Items that no set contains, by index
    #[arg(long, value_name = "I,J", value_delimiter = ',', value_parser = index, allow_hyphen_values = true, help_heading = "Selection")]
    pub(crate) exclude: Vec<usize>,
    /// Items that every set contains, by id
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Selection"
    )]
    pub(crate) include_ids: Vec<String>,
    /// Items that no set contains, by id
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Selection"
    )]
    pub(crate) exclude_ids: Vec<String>,
}

fn index(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| format!("'{text}' is not the index of an item"))
}

/// Items to include and to exclude, or rows.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    pub(crate) include: Vec<usize>,
    pub(crate) exclude: Vec<usize>,
}

impl ConditionArguments {
    /// All items by index, those named by id after the others.
    pub(crate) fn by_index(&self, input: &Input) -> Result<Conditions, Failure> {
        self.with(|ids| input.items_called(ids))
    }

    /// The same, where several items may have an id.
    pub(crate) fn of_all_called(&self, input: &Input) -> Result<Conditions, Failure> {
        self.with(|ids| input.all_called(ids))
    }

    fn with(&self, called: impl Fn(&[String]) -> Result<Vec<usize>, Failure>) -> Result<Conditions, Failure> {
        let with = |items: &[usize], ids| -> Result<_, Failure> { Ok([items, &called(ids)?].concat()) };
        let Self { include, exclude, include_ids, exclude_ids } = self;
        Ok(Conditions { include: with(include, include_ids)?, exclude: with(exclude, exclude_ids)? })
    }
}
