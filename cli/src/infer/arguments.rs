//! The arguments of `pdpp infer`.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use partition_dpp::sample::IntervalOptions;

use crate::{
    compute::ComputeArguments,
    estimates::EstimatesArguments,
    failure::Failure,
    input::{ConditionArguments, InputArguments},
    law::LawArguments,
    output::OutputArguments,
    parse::{positive, probability, seconds},
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
    /// Also compute the probabilities of the sets in this JSON file
    ///
    /// A list of lists of indices, as in `[[0,5],[3,17]]`.
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(crate) sets: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) estimates: EstimatesArguments,
    /// Also compute a proven interval of log Z, at most W to either side
    ///
    /// For --method estimated. A width of 0.01 takes about 38 000 exact draws, and half the width four times as many.
    #[arg(long, value_name = "W", value_parser = positive, allow_hyphen_values = true, help_heading = "Method")]
    pub(crate) within: Option<f64>,
    /// Probability that the interval of --within covers log Z [default: 0.95]
    #[arg(long, value_name = "P", value_parser = probability, allow_hyphen_values = true, requires = "within", help_heading = "Method")]
    pub(crate) confidence: Option<f64>,
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

impl InferArguments {
    /// Refuses options that contradict each other.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.estimates.check(self.law.quota.is_some())?;
        if self.within.is_some() && !self.estimates.are_wanted() {
            return Err(Failure::Arguments("--within needs --method estimated".into()));
        }
        self.input.refuse_replacing(&[], self.sets.as_ref())
    }

    /// The interval of log Z to compute, if --within is given.
    pub(crate) fn interval(&self) -> Option<IntervalOptions> {
        let options = IntervalOptions::new(self.within?).with_seed(self.estimates.seed.unwrap_or(0));
        Some(self.confidence.map_or(options, |confidence| options.with_confidence(confidence)))
    }
}
