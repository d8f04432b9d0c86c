//! The arguments that include and exclude items.

use clap::Args;

/// Items to include in every set, and to exclude from all.
#[derive(Args, Clone, Debug)]
pub(crate) struct ConditionArguments {
    /// Items that every set must contain, by position in the input, counted from 0: 3,17.
    #[arg(long, value_name = "I,J", value_delimiter = ',', value_parser = index, allow_hyphen_values = true, help_heading = "Law")]
    pub(crate) include: Vec<usize>,
    /// Items that no set may contain.
    #[arg(long, value_name = "I,J", value_delimiter = ',', value_parser = index, allow_hyphen_values = true, help_heading = "Law")]
    pub(crate) exclude: Vec<usize>,
}

fn index(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| format!("'{text}' is not the index of an item"))
}
