//! The arguments of `pdpp counts`.

use std::time::Duration;

use clap::Args;

use crate::{
    compute::ComputeArguments,
    estimates::EstimatesArguments,
    input::{ConditionArguments, InputArguments},
    law::LawArguments,
    output::OutputArguments,
    parse::seconds,
};

/// `pdpp counts`.
#[derive(Args, Debug)]
pub(crate) struct CountsArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    #[command(flatten)]
    pub(crate) law: LawArguments,
    #[command(flatten)]
    pub(crate) conditions: ConditionArguments,
    #[command(flatten)]
    pub(crate) estimates: EstimatesArguments,
    /// Stop after this many seconds
    ///
    /// With --method estimated the estimates from the draws so far are printed. Otherwise the command fails.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true, help_heading = "Computation")]
    pub(crate) time_limit: Option<Duration>,
    #[command(flatten)]
    pub(crate) compute: ComputeArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}
