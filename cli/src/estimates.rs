//! `--method estimated` of commands that compute probabilities.

use clap::{Args, ValueEnum};
use partition_dpp::{
    sample::{EstimateOptions, TRUSTED_PARETO_K, WeightStatistics},
    watch::Ended,
};

use crate::{failure::Failure, output::numbers::error, parse::positive};

/// How to compute probabilities under a quota.
#[derive(Args, Clone, Debug)]
pub(crate) struct EstimatesArguments {
    /// How to compute under a quota: exact or estimated
    #[arg(long, value_enum, value_name = "METHOD", default_value_t, help_heading = "Method")]
    pub(crate) method: MethodChoice,
    /// Standard error of log Z to reach by --method estimated [default: 0.01]
    #[arg(long, value_name = "SE", value_parser = positive, allow_hyphen_values = true, help_heading = "Method")]
    pub(crate) standard_error: Option<f64>,
    /// Seed of the random numbers of --method estimated [default: 0]
    #[arg(long, value_name = "S", help_heading = "Method")]
    pub(crate) seed: Option<u64>,
}

/// How to compute probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodChoice {
    /// Exact up to rounding; the cost multiplies over parts.
    #[default]
    Exact,
    /// From weighted draws, with standard errors; for any number of parts.
    Estimated,
}

impl EstimatesArguments {
    pub(crate) fn are_wanted(&self) -> bool {
        self.method == MethodChoice::Estimated
    }

    /// Refuses options of estimates by another method, and estimates without a quota.
    pub(crate) fn check(&self, has_quota: bool) -> Result<(), Failure> {
        if self.are_wanted() && !has_quota {
            let sentence = "--method estimated needs --quota; without it, probabilities are exact";
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

/// The draws behind estimates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws {
    pub(crate) statistics: WeightStatistics,
    /// The reason why there are fewer than the standard error wanted needs.
    pub(crate) ended: Option<Ended>,
    /// The standard error of log Z wanted.
    pub(crate) wanted: f64,
}

impl Draws {
    /// In words: a line, and another if errors cannot be trusted.
    pub(crate) fn describe(&self) -> String {
        let Self { statistics: WeightStatistics { draws, .. }, ended, wanted } = self;
        let enough = self.statistics.log_z.standard_error <= *wanted;
        let short = match ended {
            Some(ended) => format!("; {ended}"),
            None if enough => String::new(),
            None => format!("; a standard error of {} needs more draws than the limit", error(*wanted)),
        };
        format!("draws     {draws}, {}{short}\n{}", spread(&self.statistics), caution(&self.statistics))
    }

    /// An interruption ends the command with its own status.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.ended == Some(Ended::Interrupted) { Err(Failure::InterruptedEstimate) } else { Ok(()) }
    }
}

/// How evenly weights are spread, in words.
pub(crate) fn spread(WeightStatistics { effective_share, pareto_k, .. }: &WeightStatistics) -> String {
    let tail = pareto_k.map_or(String::new(), |k| format!(", tail index {k:.2}"));
    format!("effective share {effective_share:.3}{tail}")
}

/// A warning if the weights vary too much, on a separate line.
pub(crate) fn caution(WeightStatistics { pareto_k, .. }: &WeightStatistics) -> &'static str {
    if pareto_k.is_some_and(|k| k > TRUSTED_PARETO_K) {
        "caution   heavy-tailed weights; the true errors may be larger than stated\n"
    } else {
        ""
    }
}
