//! The arguments of `pdpp devices`.

use clap::Args;

/// The arguments of `pdpp devices`.
#[derive(Args, Debug)]
pub(crate) struct DevicesArguments {
    /// Print a JSON list on one line
    #[arg(long)]
    pub(crate) json: bool,
}
