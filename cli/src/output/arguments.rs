//! What comes out.

use clap::Args;

/// What comes out.
#[derive(Args, Debug)]
pub(crate) struct OutputArguments {
    /// Print one JSON object on one line.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print the answer only: no progress, no summary.
    #[arg(long, help_heading = "Output")]
    pub(crate) quiet: bool,
}
