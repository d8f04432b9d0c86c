//! Items that must be in or out.

use clap::Args;

/// Forced items: in every set, or in none.
#[derive(Args, Clone, Debug)]
pub(crate) struct ConditionArguments {
    /// Items that must be in: 3,17 by position in the input, the first being 0.
    #[arg(long, value_name = "I,J", value_delimiter = ',', value_parser = index, allow_hyphen_values = true, help_heading = "Law")]
    pub(crate) include: Vec<usize>,
    /// Items that must not be in.
    #[arg(long, value_name = "I,J", value_delimiter = ',', value_parser = index, allow_hyphen_values = true, help_heading = "Law")]
    pub(crate) exclude: Vec<usize>,
}

fn index(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| format!("'{text}' is not the index of an item"))
}
