//! `--method estimated` of commands that compute probabilities.

use clap::{Args, ValueEnum};
use partition_dpp::sample::EstimateOptions;

use crate::{failure::Failure, parse::positive};

/// How to compute probabilities under a quota.
#[derive(Args, Clone, Debug)]
pub(crate) struct EstimatesArguments {
    /// How to compute probabilities under a quota.
    #[arg(long, value_enum, value_name = "METHOD", default_value_t)]
    pub(crate) method: MethodChoice,
    /// Draw until log Z has this standard error; 0.01 by default.
    #[arg(long, value_name = "SE", value_parser = positive, allow_hyphen_values = true, help_heading = "Estimates (--method estimated)")]
    pub(crate) standard_error: Option<f64>,
    /// Seed of the random numbers; 0 by default.
    #[arg(long, value_name = "S", help_heading = "Estimates (--method estimated)")]
    pub(crate) seed: Option<u64>,
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

impl EstimatesArguments {
    pub(crate) fn are_wanted(&self) -> bool {
        self.method == MethodChoice::Estimated
    }

    /// Refuses options of estimates by another method, and estimates without a quota.
    pub(crate) fn check(&self, has_quota: bool) -> Result<(), Failure> {
        if self.are_wanted() && !has_quota {
            let sentence = "--method estimated is for quotas: without --quota probabilities are exact";
            return Err(Failure::Arguments(sentence.into()));
        }
        let given = [("--standard-error", self.standard_error.is_some()), ("--seed", self.seed.is_some())];
        let given = given.iter().find(|(_, given)| *given && !self.are_wanted());
        given.map_or(Ok(()), |(name, _)| Err(Failure::Arguments(format!("{name} needs --method estimated"))))
    }

    /// The library's options.
    pub(crate) fn options(&self) -> EstimateOptions {
        let options = EstimateOptions::default().with_seed(self.seed.unwrap_or(0));
        self.standard_error.map_or(options, |error| options.with_standard_error(error))
    }
}
