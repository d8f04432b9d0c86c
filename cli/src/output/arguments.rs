//! The form of the answer.

use clap::Args;

/// The form of the answer.
#[derive(Args, Debug)]
pub(crate) struct OutputArguments {
    /// Print one JSON object on one line
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print only the answer, without progress and summary
    #[arg(long, help_heading = "Output")]
    pub(crate) quiet: bool,
}
