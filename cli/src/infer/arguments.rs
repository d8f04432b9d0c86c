//! The arguments of `pdpp infer`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use partition_dpp::sample::EstimateOptions;

use crate::{
    compute::ComputeArguments,
    failure::Failure,
    input::{ConditionArguments, InputArguments},
    law::LawArguments,
    output::OutputArguments,
    parse::{positive, seconds},
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
    /// How to compute the probabilities under a quota.
    #[arg(long, value_enum, value_name = "METHOD", default_value_t)]
    pub(crate) method: MethodChoice,
    /// Draw until log Z has this standard error; 0.01 by default.
    #[arg(long, value_name = "SE", value_parser = positive, allow_hyphen_values = true, help_heading = "Estimates (--method estimated)")]
    pub(crate) standard_error: Option<f64>,
    /// Seed of the random numbers; 0 by default.
    #[arg(long, value_name = "S", help_heading = "Estimates (--method estimated)")]
    pub(crate) seed: Option<u64>,
    /// Give up after this many seconds, without an answer; estimates end with the draws made so far.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true, help_heading = "Computation")]
    pub(crate) time_limit: Option<Duration>,
    #[command(flatten)]
    pub(crate) compute: ComputeArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// How to compute probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodChoice {
    /// Exactly, up to rounding; the cost multiplies over parts.
    #[default]
    Exact,
    /// From weighted draws, for any number of parts, with standard errors and a proven upper bound of log Z.
    Estimated,
}

impl InferArguments {
    /// Refuses options of estimates by another method, and estimates without parts.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.method == MethodChoice::Estimated && self.law.quota.is_none() {
            let sentence = "--method estimated is for quotas: without --quota probabilities are exact";
            return Err(Failure::Arguments(sentence.into()));
        }
        let given = [("--standard-error", self.standard_error.is_some()), ("--seed", self.seed.is_some())];
        let given = given.iter().find(|(_, given)| *given && self.method == MethodChoice::Exact);
        given.map_or(Ok(()), |(name, _)| Err(Failure::Arguments(format!("{name} needs --method estimated"))))
    }

    /// The library's options of estimates.
    pub(super) fn estimates(&self) -> EstimateOptions {
        let options = EstimateOptions::default().with_seed(self.seed.unwrap_or(0));
        self.standard_error.map_or(options, |error| options.with_standard_error(error))
    }
}
