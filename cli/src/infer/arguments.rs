//! The arguments of `pdpp infer`.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::{
    compute::ComputeArguments,
    estimates::EstimatesArguments,
    input::{ConditionArguments, InputArguments},
    law::LawArguments,
    output::OutputArguments,
    parse::seconds,
};

/// `pdpp infer`.
#[derive(Args, Debug)]
pub(crate) struct InferArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    #[command(flatten)]
    pub(crate) law: LawArguments,
    #[command(flatten)]
    pub(crate) conditions: ConditionArguments,
    /// Also compute the probabilities of these sets: a JSON list of lists of indices, as in `[[0,5],[3,17]]`.
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(crate) sets: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) estimates: EstimatesArguments,
    /// Give up after this many seconds, without an answer; estimates end with the draws made so far.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true, help_heading = "Computation")]
    pub(crate) time_limit: Option<Duration>,
    #[command(flatten)]
    pub(crate) compute: ComputeArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}
